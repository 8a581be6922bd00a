package labclients

import (
	"testing"
	"time"

	"ironstage.test/ironstage"
)

func TestHalfAnHourTakesNoTime(t *testing.T) {
	ctx := t.Context()
	lab := ironstage.New(t, "--nodes", "3", "--clock", "manual")
	fault, err := lab.AddFault(ctx, ironstage.Fault{
		Match:  ironstage.Match{Node: "node-1"},
		Effect: ironstage.Effect{Kind: "bmc-silent"},
	})
	if err != nil {
		t.Fatal(err)
	}

	// Here the client under test works with lab.URL.

	clock, err := lab.Advance(ctx, 31*time.Minute)
	if err != nil || clock.Elapsed != (31*time.Minute).Milliseconds() {
		t.Fatalf("the clock is %+v: %v", clock, err)
	}
	if err := lab.LiftFault(ctx, fault.ID); err != nil {
		t.Fatal(err)
	}
	entries, err := lab.Journal(ctx, ironstage.Query{Kinds: []string{"fault"}})
	if err != nil || len(entries) < 2 {
		t.Fatalf("%+v: %v", entries, err)
	}
}
