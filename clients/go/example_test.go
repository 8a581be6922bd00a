package ironstage_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"ironstage.test/ironstage"
)

// A test gets a lab, which ends with it; when it fails, the end of the lab's journal is logged.
func ExampleNew() {
	_ = func(t *testing.T) {
		lab := ironstage.New(t, "--nodes", "3", "--clock", "manual")
		// Here the client under test works with lab.URL.
		if _, err := lab.Advance(context.Background(), 31*time.Minute); err != nil {
			t.Fatal(err)
		}
	}
}

// Half an hour takes no time where a test moves the clock.
func ExampleStart() {
	ctx := context.Background()
	lab, err := ironstage.Start(ctx, ironstage.Options{Args: []string{"--nodes", "2", "--clock", "manual"}})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer lab.Close()
	clock, err := lab.Advance(ctx, 30*time.Minute)
	fmt.Println(time.Duration(clock.Elapsed)*time.Millisecond, err)
	// Output: 30m0s <nil>
}

// A BMC that does not answer any more, until the fault is lifted.
func ExampleLab_AddFault() {
	ctx := context.Background()
	lab, err := ironstage.Start(ctx, ironstage.Options{Args: []string{"--nodes", "2"}})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer lab.Close()
	fault, err := lab.AddFault(ctx, ironstage.Fault{
		Match:  ironstage.Match{Node: "node-1"},
		Effect: ironstage.Effect{Kind: "bmc-silent"},
	})
	fmt.Println(fault.Effect.Kind, err)
	fmt.Println(lab.LiftFault(ctx, fault.ID))
	// Output:
	// bmc-silent <nil>
	// <nil>
}

// The whole lab goes back to an earlier state.
func ExampleLab_TakeSnapshot() {
	ctx := context.Background()
	lab, err := ironstage.Start(ctx, ironstage.Options{Args: []string{"--nodes", "1"}})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer lab.Close()
	before, err := lab.TakeSnapshot(ctx)
	if err != nil {
		fmt.Println(err)
		return
	}
	if _, err := lab.Enroll(ctx, 2); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(lab.RestoreSnapshot(ctx, before.ID))
	nodes, err := lab.Nodes(ctx)
	fmt.Println(len(nodes), err)
	// Output:
	// <nil>
	// 1 <nil>
}

// Refusals have codes, those of docs/errors.md.
func ExampleIsCode() {
	ctx := context.Background()
	lab, err := ironstage.Start(ctx, ironstage.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer lab.Close()
	_, err = lab.Node(ctx, "nobody")
	fmt.Println(ironstage.IsCode(err, "no-such-node"))
	// Output: true
}
