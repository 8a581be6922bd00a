// Package labclients tests a program of gophercloud against a lab, as its author would.
package labclients

import (
	"bufio"
	"context"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/gophercloud/gophercloud/v2"
	"github.com/gophercloud/gophercloud/v2/openstack/baremetal/noauth"
	"github.com/gophercloud/gophercloud/v2/openstack/baremetal/v1/nodes"

	"ironstage.test/ironstage"
)

func connect(t *testing.T, lab *ironstage.Lab) *gophercloud.ServiceClient {
	t.Helper()
	client, err := noauth.NewBareMetalNoAuth(noauth.EndpointOpts{IronicEndpoint: lab.URL + "/v1/"})
	must(t, err)
	client.Microversion = "1.95"
	return client
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func ask(ctx context.Context, t *testing.T, client *gophercloud.ServiceClient, node string, target nodes.TargetProvisionState) {
	t.Helper()
	options := nodes.ProvisionStateOpts{Target: target}
	if target == nodes.TargetActive {
		options.DeploySteps = []nodes.DeployStep{{Interface: "deploy", Step: "install_coreos", Priority: 80, Args: map[string]any{}}}
	}
	must(t, nodes.ChangeProvisionState(ctx, client, node, options).ExtractErr())
}

func stateOf(ctx context.Context, t *testing.T, client *gophercloud.ServiceClient, node string) nodes.ProvisionState {
	t.Helper()
	found, err := nodes.Get(ctx, client, node).Extract()
	must(t, err)
	return nodes.ProvisionState(found.ProvisionState)
}

func TestDeploymentFailsWhereTheAgentIsSilent(t *testing.T) {
	ctx := t.Context()
	lab := ironstage.New(t, "--nodes", "3", "--clock", "manual", "--set", "conductor.deploy_callback_timeout=1800")
	client := connect(t, lab)
	all := []string{"node-0", "node-1", "node-2"}
	for _, node := range all {
		for _, next := range []struct {
			target nodes.TargetProvisionState
			state  string
		}{{nodes.TargetManage, "manageable"}, {nodes.TargetProvide, "available"}} {
			ask(ctx, t, client, node, next.target)
			_, err := lab.AdvanceUntil(ctx, node, next.state)
			must(t, err)
		}
	}
	fault, err := lab.AddFault(ctx, ironstage.Fault{
		Match:  ironstage.Match{Node: "node-1", Phase: "install"},
		Effect: ironstage.Effect{Kind: "agent-silent"},
	})
	must(t, err)
	for _, node := range all {
		ask(ctx, t, client, node, nodes.TargetActive)
	}
	for _, node := range []string{"node-0", "node-2"} {
		_, err = lab.AdvanceUntil(ctx, node, "active")
		must(t, err)
	}
	clock, err := lab.Advance(ctx, 31*time.Minute)
	must(t, err)
	if clock.Mode != "manual" || clock.Elapsed < (31*time.Minute).Milliseconds() {
		t.Errorf("the clock is %+v", clock)
	}
	for node, wanted := range map[string]nodes.ProvisionState{"node-0": "active", "node-1": "deploy failed", "node-2": "active"} {
		if state := stateOf(ctx, t, client, node); state != wanted {
			t.Errorf("%s is %s and not %s", node, state, wanted)
		}
	}

	faults, err := lab.Faults(ctx)
	must(t, err)
	if len(faults) != 1 || faults[0].ID != fault.ID || faults[0].Struck == 0 || faults[0].Effect.Kind != "agent-silent" {
		t.Errorf("the faults are %+v", faults)
	}
	must(t, lab.LiftFault(ctx, fault.ID))
	ask(ctx, t, client, "node-1", nodes.TargetActive)
	_, err = lab.AdvanceUntil(ctx, "node-1", "active")
	must(t, err)
	if state := stateOf(ctx, t, client, "node-1"); state != nodes.Active {
		t.Errorf("node-1 is %s", state)
	}

	states, err := lab.Journal(ctx, ironstage.Query{Node: "node-1", Kinds: []string{"state"}})
	must(t, err)
	var seen []string
	for _, entry := range states {
		if len(seen) == 0 || seen[len(seen)-1] != entry.State {
			seen = append(seen, entry.State)
		}
	}
	story := strings.Join(seen, ", ")
	if !strings.HasPrefix(story, "enroll, ") || !strings.Contains(story, "wait call-back, deploy failed, deploying") || !strings.HasSuffix(story, "active") {
		t.Errorf("node-1 was %s", story)
	}
	whole, err := lab.Journal(ctx, ironstage.Query{})
	must(t, err)
	some, err := lab.Journal(ctx, ironstage.Query{Limit: 7})
	must(t, err)
	if len(some) != 7 || len(whole) < 100 || whole[6].ID != some[6].ID {
		t.Errorf("the journal has %d entries, and %d of 7", len(whole), len(some))
	}
}

func TestSnapshots(t *testing.T) {
	ctx := t.Context()
	lab := ironstage.New(t, "--nodes", "1", "--clock", "manual")
	client := connect(t, lab)
	ask(ctx, t, client, "node-0", nodes.TargetManage)
	_, err := lab.AdvanceUntil(ctx, "node-0", "manageable")
	must(t, err)
	taken, err := lab.TakeSnapshot(ctx)
	must(t, err)
	ask(ctx, t, client, "node-0", nodes.TargetProvide)
	_, err = lab.AdvanceUntil(ctx, "node-0", "available")
	must(t, err)
	must(t, lab.RestoreSnapshot(ctx, taken.ID))
	if state := stateOf(ctx, t, client, "node-0"); state != nodes.Manageable {
		t.Errorf("node-0 is %s", state)
	}
	must(t, lab.Reset(ctx))
	if state := stateOf(ctx, t, client, "node-0"); state != nodes.Enroll {
		t.Errorf("node-0 is %s", state)
	}
	list, err := lab.Snapshots(ctx)
	must(t, err)
	if len(list) != 2 || list[0].ID != "start" || list[1].ID != taken.ID || list[1].LabTime.IsZero() {
		t.Errorf("the snapshots are %+v", list)
	}
	must(t, lab.RemoveSnapshot(ctx, taken.ID))
	if err := lab.RestoreSnapshot(ctx, taken.ID); err == nil || !strings.Contains(err.Error(), taken.ID) {
		t.Errorf("what was removed is restored: %v", err)
	}
}

func TestRefusals(t *testing.T) {
	ctx := t.Context()
	lab := ironstage.New(t)
	_, err := lab.Node(ctx, "no/body")
	if !ironstage.IsCode(err, "no-such-node") || !strings.Contains(err.Error(), "there is no node no/body") {
		t.Errorf("it is refused with %v", err)
	}
	_, err = lab.SetClock(ctx, "backwards")
	if !ironstage.IsCode(err, "bad-request") {
		t.Errorf("it is refused with %v", err)
	}
	added, err := lab.Enroll(ctx, 2)
	must(t, err)
	must(t, lab.SetCarrier(ctx, added[1].Machine, "eno1", false))
	must(t, lab.SwapDisk(ctx, added[1].Machine, "sda", ironstage.NewDisk{Serial: "SPARE1", Size: 64 << 30}))
	must(t, lab.Power(ctx, added[1].Name, "on"))
	if err := lab.SwapDisk(ctx, added[1].Machine, "sda", ironstage.NewDisk{}); !ironstage.IsCode(err, "machine-on") {
		t.Errorf("a disk of a machine that is on: %v", err)
	}
	fault, err := lab.AddFault(ctx, ironstage.Fault{
		Match:  ironstage.Match{Route: "GET /v1/drivers"},
		Effect: ironstage.Effect{Kind: "status", With: map[string]any{"status": 503}},
		Label:  "busy",
	})
	must(t, err)
	if fault.Effect.With["status"] != 503.0 {
		t.Errorf("the fault is %+v", fault)
	}
	response, err := http.Get(lab.URL + "/v1/drivers")
	must(t, err)
	response.Body.Close()
	if response.StatusCode != 503 {
		t.Errorf("it was answered with %d", response.StatusCode)
	}
	must(t, lab.LiftFaults(ctx, "busy"))
	silent := func(node string) ironstage.Fault {
		return ironstage.Fault{Match: ironstage.Match{Node: node}, Effect: ironstage.Effect{Kind: "bmc-silent"}}
	}
	if _, err := lab.AddFaults(ctx, []ironstage.Fault{silent(added[0].Name), silent("nowhere")}); !ironstage.IsCode(err, "fault") {
		t.Errorf("a fault of a node that there is not: %v", err)
	}
	both, err := lab.AddFaults(ctx, []ironstage.Fault{silent(added[0].Name), silent(added[1].Name)})
	must(t, err)
	listed, err := lab.Faults(ctx)
	must(t, err)
	if len(both) != 2 || len(listed) != 2 || listed[1].ID != both[1].ID {
		t.Errorf("two faults were added as %+v, and are %+v", both, listed)
	}
	must(t, lab.Close())
	must(t, lab.Close())
	if _, err := lab.Clock(ctx); err == nil {
		t.Error("a closed lab answers")
	}
}

func TestStartThatFails(t *testing.T) {
	for _, wrong := range []struct {
		options ironstage.Options
		message string
	}{
		{ironstage.Options{Args: []string{"--nodes", "many"}}, "--nodes"},
		{ironstage.Options{Command: []string{"/nowhere/ironstage"}}, "set IRONSTAGE to the path of the program"},
		{ironstage.Options{StartWithin: time.Millisecond}, "it was not ready within 1ms"},
	} {
		lab, err := ironstage.Start(t.Context(), wrong.options)
		if lab != nil || err == nil || !strings.Contains(err.Error(), wrong.message) {
			t.Errorf("%+v: %v", wrong.options, err)
		}
	}
}

// TestHelperPanics is a test of its own process: it ends with a panic that no Cleanup follows.
func TestHelperPanics(t *testing.T) {
	if os.Getenv("PANICS") == "" {
		t.Skip("only for TestLabEndsWithItsProcess")
	}
	lab := ironstage.New(t)
	fmt.Println("lab at " + lab.URL)
	go panic("nobody catches this")
	time.Sleep(time.Minute)
}

func TestLabEndsWithItsProcess(t *testing.T) {
	command := exec.Command(os.Args[0], "-test.run", "^TestHelperPanics$", "-test.v")
	command.Env = append(os.Environ(), "PANICS=1")
	stdout, err := command.StdoutPipe()
	must(t, err)
	must(t, command.Start())
	var url string
	for lines := bufio.NewScanner(stdout); lines.Scan(); {
		if at, found := strings.CutPrefix(lines.Text(), "lab at "); found {
			url = at
		}
	}
	if err := command.Wait(); err == nil || url == "" {
		t.Fatalf("it should have panicked with a lab: %v, %q", err, url)
	}
	for tries := 0; ; tries++ {
		response, err := http.Get(url + "/v1")
		if err != nil {
			return
		}
		response.Body.Close()
		if tries > 100 {
			t.Fatal("the lab goes on without its test")
		}
		time.Sleep(100 * time.Millisecond)
	}
}
