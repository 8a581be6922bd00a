// Package ironstage runs an Ironic with simulated machines for a test, and works its faults, clock, journal and machines.
//
// The package needs nothing but the standard library. It starts the program that the variable IRONSTAGE names, else
// ironstage on PATH, else a container of docker or podman, else npx; the last two only in the version of this package, and
// only as its owner publishes them.
package ironstage

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Options say what is started, and how.
type Options struct {
	// Args are options of `ironstage up`. Default port: a free one.
	Args []string
	// Command starts ironstage. Default: what is found, in this order: the program that the variable IRONSTAGE names (by
	// node if it ends in .js), ironstage on PATH, a container of docker or podman, npx.
	Command []string
	// Env is the environment of the program. Default: that of this process.
	Env []string
	// Stderr gets what the program reports. Default: nothing does; the end of it is in the error of a failed start.
	Stderr io.Writer
	// StartWithin is the longest time until the program is ready. Default: one minute.
	StartWithin time.Duration
	// Username and Password are sent where --htpasswd asks for them.
	Username, Password string
}

// Lab is an Ironic that runs, with its machines.
type Lab struct {
	// URL of Ironic, without /v1.
	URL string
	// Environment has the variables that clients read: IRONIC_ENDPOINT, OS_ENDPOINT and others.
	Environment map[string]string
	// KubeURL is the URL of the Kubernetes API, with --kube-api.
	KubeURL string

	client             *http.Client
	username, password string
	command            *exec.Cmd
	stdin              io.Closer
	ended              chan struct{}
	close              sync.Once
	closed             error
}

// TB is the part of testing.TB that New needs.
type TB interface {
	Helper()
	Cleanup(func())
	Failed() bool
	Logf(format string, args ...any)
	Fatalf(format string, args ...any)
}

// New starts a lab for a test. The lab ends with the test, also when that panics; when the test fails, the end of the lab's
// journal is logged.
func New(t TB, args ...string) *Lab {
	t.Helper()
	lab, err := Start(context.Background(), Options{Args: args})
	if err != nil {
		t.Fatalf("%v", err)
	}
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("%s", lab.story(30))
		}
		if err := lab.Close(); err != nil {
			t.Logf("%v", err)
		}
	})
	return lab
}

// Start starts a lab, and waits until it is ready. The program ends when Close is called, when the context ends before it is
// ready, and when this process ends, however it does.
func Start(ctx context.Context, options Options) (*Lab, error) {
	within := options.StartWithin
	if within == 0 {
		within = time.Minute
	}
	ctx, cancel := context.WithTimeoutCause(ctx, within, fmt.Errorf("it was not ready within %s", within))
	defer cancel()

	found, err := programOf(ctx, options)
	if err != nil {
		return nil, err
	}
	argv := append(append([]string{}, found.argv...), "up", "--json", "--stop-with-stdin")
	if !names(options.Args, "--port") {
		argv = append(argv, "--port", "0")
	}
	argv = append(argv, options.Args...)

	command := exec.Command(argv[0], argv[1:]...)
	command.Env = options.Env
	reports := &tail{also: options.Stderr}
	command.Stderr = reports
	// A program of npx may hold the pipe open after npx has ended.
	command.WaitDelay = stopWithin
	stdin, err := command.StdinPipe()
	if err != nil {
		return nil, fmt.Errorf("starting ironstage: %w", err)
	}
	stdout, writer := io.Pipe()
	command.Stdout = writer
	if err := command.Start(); err != nil {
		return nil, fmt.Errorf("starting ironstage as %s: %w; set IRONSTAGE to the path of the program, or install it with npm%s", argv[0], err, found.how())
	}
	lab := &Lab{
		command: command, stdin: stdin, ended: make(chan struct{}),
		username: options.Username, password: options.Password,
	}
	go func() {
		lab.closed = command.Wait()
		writer.Close()
		close(lab.ended)
	}()

	first := make(chan ready, 1)
	go readEvents(stdout, first)
	select {
	case event, ok := <-first:
		if ok {
			if err := lab.reach(event); err != nil {
				lab.Close()
				return nil, err
			}
			return lab, nil
		}
		<-lab.ended
		return nil, fmt.Errorf("ironstage up ended before it was ready (%v):\n%s%s", lab.closed, reports, found.how())
	case <-ctx.Done():
		lab.Close()
		return nil, fmt.Errorf("starting ironstage: %w\n%s%s", context.Cause(ctx), reports, found.how())
	}
}

// stopWithin is the time that the program has to end by itself.
const stopWithin = 10 * time.Second

// Close ends the lab, and waits until it has ended. A second call does nothing.
func (lab *Lab) Close() error {
	var err error
	lab.close.Do(func() {
		lab.stdin.Close()
		select {
		case <-lab.ended:
			if lab.closed != nil {
				err = fmt.Errorf("ironstage ended with %w", lab.closed)
			}
		case <-time.After(stopWithin):
			_ = lab.command.Process.Kill()
			<-lab.ended
			err = fmt.Errorf("ironstage did not end within %s, and was killed", stopWithin)
		}
		if lab.client != nil {
			lab.client.CloseIdleConnections()
		}
	})
	return err
}

// Match says where a fault strikes: all conditions must hold. docs/control.md tells them.
type Match struct {
	Node    string `json:"node,omitempty"`
	Machine string `json:"machine,omitempty"`
	State   string `json:"state,omitempty"`
	Step    string `json:"step,omitempty"`
	Phase   string `json:"phase,omitempty"`
	Label   string `json:"label,omitempty"`
	Route   string `json:"route,omitempty"`
	To      string `json:"to,omitempty"`
	Program string `json:"program,omitempty"`
	Disk    string `json:"disk,omitempty"`
	Image   string `json:"image,omitempty"`
	BMC     string `json:"bmc,omitempty"`
}

// Effect says how a fault strikes. Members that its kind does not have are refused.
type Effect struct {
	Kind string
	// With has the other members, by their names: {"status": 503}.
	With map[string]any
}

// MarshalJSON writes the kind beside the other members.
func (effect Effect) MarshalJSON() ([]byte, error) {
	document := map[string]any{}
	for name, value := range effect.With {
		if length, ok := value.(time.Duration); ok {
			value = milliseconds(length)
		}
		document[name] = value
	}
	document["kind"] = effect.Kind
	return json.Marshal(document)
}

// UnmarshalJSON reads the kind, and the other members into With.
func (effect *Effect) UnmarshalJSON(text []byte) error {
	if err := json.Unmarshal(text, &effect.With); err != nil {
		return err
	}
	effect.Kind, _ = effect.With["kind"].(string)
	delete(effect.With, "kind")
	return nil
}

// Fault is something that goes wrong.
type Fault struct {
	Match       Match   `json:"match"`
	Effect      Effect  `json:"effect"`
	Times       int     `json:"times,omitempty"`
	After       int     `json:"after,omitempty"`
	Probability float64 `json:"probability,omitempty"`
	Label       string  `json:"label,omitempty"`
	// Between has two lengths of lab time since the lab began: {"10m", "1h"}.
	Between []any `json:"between,omitempty"`

	// ID and Struck are set in answers.
	ID     string `json:"id,omitempty"`
	Struck int    `json:"struck,omitempty"`
}

// Clock is lab time.
type Clock struct {
	// Mode is manual, auto, real, or a speed as in x60.
	Mode    string    `json:"mode"`
	LabTime time.Time `json:"labTime"`
	// Elapsed is in milliseconds since the lab began.
	Elapsed int64 `json:"elapsed"`
}

// Node is a node of Ironic.
type Node struct {
	Name           string `json:"name"`
	UUID           string `json:"uuid"`
	Machine        string `json:"machine"`
	ProvisionState string `json:"provision_state"`
	PowerState     string `json:"power_state"`
	LastError      string `json:"last_error"`
}

// Entry is something that happened in a lab. Which members are set depends on its kind.
type Entry struct {
	ID      int       `json:"id"`
	Kind    string    `json:"kind"`
	Node    string    `json:"node"`
	Name    string    `json:"name"`
	Machine string    `json:"machine"`
	Fault   string    `json:"fault"`
	LabTime time.Time `json:"labTime"`
	// Process has noted the entry. Empty where one process has its database to itself; else ID is counted by that process.
	Process string `json:"process"`
	// Of exchanges.
	From   string `json:"from"`
	To     string `json:"to"`
	Method string `json:"method"`
	Target string `json:"target"`
	Status int    `json:"status"`
	// Of states.
	State     string `json:"state"`
	LastError string `json:"lastError"`
	// Of others.
	What  string   `json:"what"`
	Argv  []string `json:"argv"`
	Call  string   `json:"call"`
	Error string   `json:"error"`
	// Document has all members.
	Document json.RawMessage `json:"-"`
}

// Query selects entries of the journal. Zero values select nothing.
type Query struct {
	Node, Machine, Route, Fault string
	Kinds                       []string
	Status, After, Limit        int
}

// Refused is the lab's answer to a call that it does not carry out.
type Refused struct {
	Status int
	// Code is one of docs/errors.md.
	Code, Message, Remedy string
}

func (refused *Refused) Error() string {
	if refused.Remedy == "" {
		return refused.Message
	}
	return fmt.Sprintf("%s (%s)", refused.Message, refused.Remedy)
}

// AddFault adds a fault.
func (lab *Lab) AddFault(ctx context.Context, fault Fault) (Fault, error) {
	var added Fault
	err := lab.Call(ctx, http.MethodPost, "/faults", fault, &added)
	return added, err
}

// AddFaults adds all of the faults, or none of them.
func (lab *Lab) AddFaults(ctx context.Context, faults []Fault) ([]Fault, error) {
	var list struct{ Faults []Fault }
	if faults == nil {
		faults = []Fault{}
	}
	err := lab.Call(ctx, http.MethodPost, "/faults", faults, &list)
	return list.Faults, err
}

// Faults lists the faults that were added and not lifted, with how often each has struck.
func (lab *Lab) Faults(ctx context.Context) ([]Fault, error) {
	var list struct{ Faults []Fault }
	err := lab.Call(ctx, http.MethodGet, "/faults", nil, &list)
	return list.Faults, err
}

// LiftFault lifts a fault.
func (lab *Lab) LiftFault(ctx context.Context, id string) error {
	return lab.Call(ctx, http.MethodDelete, "/faults/"+url.PathEscape(id), nil, nil)
}

// LiftFaults lifts the faults with a label; all of them without one.
func (lab *Lab) LiftFaults(ctx context.Context, label string) error {
	return lab.Call(ctx, http.MethodDelete, "/faults"+search(url.Values{"label": {label}}), nil, nil)
}

// Clock gives lab time.
func (lab *Lab) Clock(ctx context.Context) (Clock, error) {
	var clock Clock
	err := lab.Call(ctx, http.MethodGet, "/clock", nil, &clock)
	return clock, err
}

// SetClock sets how time passes: manual, auto, real, or a speed as in x60.
func (lab *Lab) SetClock(ctx context.Context, mode string) (Clock, error) {
	var clock Clock
	err := lab.Call(ctx, http.MethodPut, "/clock", map[string]string{"mode": mode}, &clock)
	return clock, err
}

// Advance moves time forward. Whatever comes due on the way happens.
func (lab *Lab) Advance(ctx context.Context, by time.Duration) (Clock, error) {
	var clock Clock
	err := lab.Call(ctx, http.MethodPost, "/clock/advance", map[string]any{"by": milliseconds(by)}, &clock)
	return clock, err
}

// AdvanceUntil moves time forward until a node, by name or UUID, is in a provision state.
func (lab *Lab) AdvanceUntil(ctx context.Context, node, state string) (Clock, error) {
	var clock Clock
	until := map[string]any{"until": map[string]string{"node": node, "state": state}}
	err := lab.Call(ctx, http.MethodPost, "/clock/advance", until, &clock)
	return clock, err
}

// Nodes lists all nodes.
func (lab *Lab) Nodes(ctx context.Context) ([]Node, error) {
	var list struct{ Nodes []Node }
	err := lab.Call(ctx, http.MethodGet, "/nodes", nil, &list)
	return list.Nodes, err
}

// Node gives a node by its name or UUID.
func (lab *Lab) Node(ctx context.Context, ident string) (Node, error) {
	var node Node
	err := lab.Call(ctx, http.MethodGet, "/nodes/"+url.PathEscape(ident), nil, &node)
	return node, err
}

// Enroll adds machines, each enrolled as a node.
func (lab *Lab) Enroll(ctx context.Context, count int) ([]Node, error) {
	var list struct{ Nodes []Node }
	err := lab.Call(ctx, http.MethodPost, "/nodes", map[string]int{"count": count}, &list)
	return list.Nodes, err
}

// Power presses the power button of a node's machine: on, off or reboot.
func (lab *Lab) Power(ctx context.Context, node, power string) error {
	return lab.Call(ctx, http.MethodPut, "/nodes/"+url.PathEscape(node)+"/power", map[string]string{"power": power}, nil)
}

// SetCarrier plugs the cable of a machine's NIC in, or pulls it. Node has the id of a node's machine.
func (lab *Lab) SetCarrier(ctx context.Context, machine, nic string, carrier bool) error {
	path := "/machines/" + url.PathEscape(machine) + "/nics/" + url.PathEscape(nic)
	return lab.Call(ctx, http.MethodPut, path, map[string]bool{"carrier": carrier}, nil)
}

// NewDisk is a disk to put in the place of another. What is left out is as of the old one; a disk that was there before
// comes back by its serial number, with its contents.
type NewDisk struct {
	Serial string `json:"serial,omitempty"`
	WWN    string `json:"wwn,omitempty"`
	// Bytes.
	Size       int64  `json:"size,omitempty"`
	Model      string `json:"model,omitempty"`
	Vendor     string `json:"vendor,omitempty"`
	Rotational *bool  `json:"rotational,omitempty"`
}

// SwapDisk puts another disk in the place of one, while the machine is off.
func (lab *Lab) SwapDisk(ctx context.Context, machine, disk string, wanted NewDisk) error {
	path := "/machines/" + url.PathEscape(machine) + "/disks/" + url.PathEscape(disk)
	return lab.Call(ctx, http.MethodPut, path, wanted, nil)
}

// Journal gives what happened in the lab, oldest first: all pages, or Query.Limit entries.
func (lab *Lab) Journal(ctx context.Context, query Query) ([]Entry, error) {
	var entries []Entry
	for after := strconv.Itoa(query.After); ; {
		most := 1000
		if query.Limit > 0 {
			most = min(most, query.Limit-len(entries))
		}
		var page struct {
			Entries []json.RawMessage
			Next    *string
		}
		if err := lab.Call(ctx, http.MethodGet, "/journal"+search(query.values(after, most)), nil, &page); err != nil {
			return nil, err
		}
		for _, document := range page.Entries {
			entry := Entry{Document: document}
			if err := json.Unmarshal(document, &entry); err != nil {
				return nil, fmt.Errorf("reading an entry of the journal: %w", err)
			}
			entries = append(entries, entry)
		}
		if page.Next == nil || query.Limit > 0 && len(entries) >= query.Limit {
			return entries, nil
		}
		next, err := url.Parse(*page.Next)
		if err != nil {
			return nil, fmt.Errorf("reading where the journal goes on: %w", err)
		}
		after = next.Query().Get("after")
	}
}

// Snapshot is the state of a whole lab at a moment.
type Snapshot struct {
	ID      string    `json:"id"`
	LabTime time.Time `json:"labTime"`
	// Repeats are calls that are made again when it is restored.
	Repeats int `json:"repeats"`
}

// TakeSnapshot takes a snapshot. The lab has to be at rest: no node between two stable states, no agent running.
func (lab *Lab) TakeSnapshot(ctx context.Context) (Snapshot, error) {
	var taken Snapshot
	err := lab.Call(ctx, http.MethodPost, "/snapshots", nil, &taken)
	return taken, err
}

// Snapshots lists all snapshots, the oldest first: the lab's own "start" is one.
func (lab *Lab) Snapshots(ctx context.Context) ([]Snapshot, error) {
	var list struct{ Snapshots []Snapshot }
	err := lab.Call(ctx, http.MethodGet, "/snapshots", nil, &list)
	return list.Snapshots, err
}

// RestoreSnapshot brings the lab back to a snapshot.
func (lab *Lab) RestoreSnapshot(ctx context.Context, id string) error {
	return lab.Call(ctx, http.MethodPost, "/snapshots/"+url.PathEscape(id)+"/restore", nil, nil)
}

// RemoveSnapshot forgets a snapshot.
func (lab *Lab) RemoveSnapshot(ctx context.Context, id string) error {
	return lab.Call(ctx, http.MethodDelete, "/snapshots/"+url.PathEscape(id), nil, nil)
}

// Reset brings the lab back to its start.
func (lab *Lab) Reset(ctx context.Context) error {
	return lab.Call(ctx, http.MethodPost, "/reset", nil, nil)
}

// Call calls the control API: GET /_lab lists all paths. A nil body sends none, a nil answer is discarded.
func (lab *Lab) Call(ctx context.Context, method, path string, body, answer any) error {
	var reader io.Reader
	if body != nil {
		text, err := json.Marshal(body)
		if err != nil {
			return fmt.Errorf("writing the body of %s /_lab%s: %w", method, path, err)
		}
		reader = bytes.NewReader(text)
	}
	request, err := http.NewRequestWithContext(ctx, method, lab.URL+"/_lab"+path, reader)
	if err != nil {
		return err
	}
	request.Header.Set("Accept", "application/json")
	if body != nil {
		request.Header.Set("Content-Type", "application/json")
	}
	if lab.username != "" {
		request.SetBasicAuth(lab.username, lab.password)
	}
	response, err := lab.client.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		return fmt.Errorf("reading the answer to %s /_lab%s: %w", method, path, err)
	}
	if response.StatusCode >= 300 {
		return refusal(response.StatusCode, method+" /_lab"+path, text)
	}
	if answer == nil || len(text) == 0 {
		return nil
	}
	if err := json.Unmarshal(text, answer); err != nil {
		return fmt.Errorf("reading the answer to %s /_lab%s: %w", method, path, err)
	}
	return nil
}

func refusal(status int, call string, text []byte) error {
	var document struct {
		Error *struct{ Code, Message, Remedy string }
	}
	if json.Unmarshal(text, &document) != nil || document.Error == nil {
		return &Refused{Status: status, Code: "no-lab", Message: fmt.Sprintf("%s was answered with %d, not as a lab does", call, status)}
	}
	return &Refused{status, document.Error.Code, document.Error.Message, document.Error.Remedy}
}

// ready is what ironstage prints once it can be used.
type ready struct {
	Event       string
	IronicURL   string            `json:"ironic_url"`
	KubeURL     string            `json:"kube_api_url"`
	Environment map[string]string `json:"environment"`
}

// readEvents reads all that the program prints, so that it is never held up; only the event ready is of interest.
func readEvents(stdout io.Reader, first chan<- ready) {
	defer close(first)
	lines := bufio.NewReader(stdout)
	for found := false; ; {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			return
		}
		var event ready
		if !found && json.Unmarshal(line, &event) == nil && event.Event == "ready" {
			found = true
			first <- event
		}
	}
}

func (lab *Lab) reach(event ready) error {
	lab.URL, lab.KubeURL, lab.Environment = strings.TrimRight(event.IronicURL, "/"), event.KubeURL, event.Environment
	transport := &http.Transport{}
	if file := event.Environment["OS_CACERT"]; file != "" {
		text, err := os.ReadFile(file)
		if err != nil {
			return fmt.Errorf("reading the certificate of ironstage: %w", err)
		}
		pool := x509.NewCertPool()
		if !pool.AppendCertsFromPEM(text) {
			return fmt.Errorf("%s, the certificate of ironstage, is not PEM", file)
		}
		transport.TLSClientConfig = &tls.Config{RootCAs: pool}
	}
	lab.client = &http.Client{Transport: transport}
	return nil
}

func names(args []string, option string) bool {
	for _, arg := range args {
		if arg == option || strings.HasPrefix(arg, option+"=") {
			return true
		}
	}
	return false
}

func milliseconds(length time.Duration) float64 {
	return float64(length) / float64(time.Millisecond)
}

func (query Query) values(after string, most int) url.Values {
	values := url.Values{
		"node": {query.Node}, "machine": {query.Machine}, "route": {query.Route}, "fault": {query.Fault},
		"kind": {strings.Join(query.Kinds, ",")}, "after": {after},
	}
	for name, number := range map[string]int{"status": query.Status, "limit": most} {
		if number > 0 {
			values.Set(name, strconv.Itoa(number))
		}
	}
	return values
}

// search is the query of a URL with the values that are not empty.
func search(values url.Values) string {
	for name, value := range values {
		if value[0] == "" {
			values.Del(name)
		}
	}
	if len(values) == 0 {
		return ""
	}
	return "?" + values.Encode()
}

// story is the end of the journal for people, in lines of at most 100 characters.
func (lab *Lab) story(most int) string {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	entries, err := lab.Journal(ctx, Query{})
	if err != nil {
		return fmt.Sprintf("the journal of the lab could not be read: %v", err)
	}
	if len(entries) == 0 {
		return "the journal of the lab is empty"
	}
	lines := []string{fmt.Sprintf("journal of the lab, the last of %d entries, in lab time:", len(entries))}
	for _, entry := range entries[max(0, len(entries)-most):] {
		text := entry.LabTime.Format("15:04:05.000") + "  " + entry.line()
		if len(text) > 100 {
			text = strings.ToValidUTF8(text[:99], "") + "…"
		}
		lines = append(lines, text)
	}
	return strings.Join(lines, "\n  ")
}

func (entry Entry) line() string {
	name := entry.Name
	if name == "" {
		name = "-"
	}
	switch entry.Kind {
	case "exchange":
		// What became of it comes first: a line is cut at its end, and paths with UUIDs are long.
		outcome := entry.Error
		if outcome == "" {
			outcome = strconv.Itoa(entry.Status)
		}
		return fmt.Sprintf("%s  %s > %s  %s  %s %s", name, entry.From, entry.To, outcome, entry.Method, entry.Target)
	case "command":
		return fmt.Sprintf("%s  $ %s  %s", name, strings.Join(entry.Argv, " "), entry.Error)
	case "state":
		return fmt.Sprintf("%s  %s  %s", name, entry.State, entry.LastError)
	case "bmc":
		return fmt.Sprintf("%s  bmc  %s  %s", name, entry.Call, entry.Error)
	default:
		return fmt.Sprintf("%s  %s  %s %s  %s", name, entry.Kind, entry.Fault, entry.What, entry.Error)
	}
}

// IsCode says whether an error is a refusal of a lab with a code of docs/errors.md.
func IsCode(err error, code string) bool {
	var refused *Refused
	return errors.As(err, &refused) && refused.Code == code
}

// tail keeps the end of what is written to it.
type tail struct {
	also io.Writer
	lock sync.Mutex
	text []byte
}

func (tail *tail) Write(text []byte) (int, error) {
	tail.lock.Lock()
	defer tail.lock.Unlock()
	tail.text = append(tail.text, text...)
	if extra := len(tail.text) - 4096; extra > 0 {
		tail.text = tail.text[extra:]
	}
	if tail.also != nil {
		_, _ = tail.also.Write(text)
	}
	return len(text), nil
}

func (tail *tail) String() string {
	tail.lock.Lock()
	defer tail.lock.Unlock()
	return strings.TrimSpace(string(tail.text))
}
