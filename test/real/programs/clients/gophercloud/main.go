// Works an Ironic by gophercloud as BareMetal Operator does; prints a JSON object a line of what it is told.
//
// Usage: gophercloud SCENARIO, with IRONIC_ENDPOINT, IRONIC_CACERT_FILE, IRONIC_USER and IRONIC_PASSWORD in the environment.
package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"time"

	"github.com/gophercloud/gophercloud/v2"
	"github.com/gophercloud/gophercloud/v2/openstack/baremetal/httpbasic"
	"github.com/gophercloud/gophercloud/v2/openstack/baremetal/noauth"
	"github.com/gophercloud/gophercloud/v2/openstack/baremetal/v1/drivers"
	"github.com/gophercloud/gophercloud/v2/openstack/baremetal/v1/nodes"
	"github.com/gophercloud/gophercloud/v2/openstack/utils"
)

// What BareMetal Operator asks for, newest first.
var ladder = []string{"1.110", "1.109", "1.95", "1.93", "1.89"}

type fields map[string]any

func emit(what fields) {
	line, err := json.Marshal(what)
	must(err)
	fmt.Println(string(line))
}

func must(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func got[T any](value T, err error) T {
	must(err)
	return value
}

// refusal is what Ironic says where a call must fail.
func refusal(err error) fields {
	var unexpected gophercloud.ErrUnexpectedResponseCode
	if !errors.As(err, &unexpected) {
		must(fmt.Errorf("this should have been refused by an answer, and is: %w", err))
	}
	return fields{"status": unexpected.Actual, "body": json.RawMessage(unexpected.Body)}
}

func connect() *gophercloud.ServiceClient {
	endpoint, user := os.Getenv("IRONIC_ENDPOINT"), os.Getenv("IRONIC_USER")
	var client *gophercloud.ServiceClient
	if user == "" {
		client = got(noauth.NewBareMetalNoAuth(noauth.EndpointOpts{IronicEndpoint: endpoint}))
	} else {
		client = got(httpbasic.NewBareMetalHTTPBasic(httpbasic.EndpointOpts{
			IronicEndpoint:     endpoint,
			IronicUser:         user,
			IronicUserPassword: os.Getenv("IRONIC_PASSWORD"),
		}))
	}
	if file := os.Getenv("IRONIC_CACERT_FILE"); file != "" {
		pool := x509.NewCertPool()
		pool.AppendCertsFromPEM(got(os.ReadFile(file)))
		client.HTTPClient = http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool}}}
	}
	return client
}

// ready finds out what Ironic can do, as BareMetal Operator does before all else.
func ready(ctx context.Context, client *gophercloud.ServiceClient) fields {
	versions := got(utils.GetServiceVersions(ctx, client.ProviderClient, client.Endpoint, true))
	if len(versions) != 1 {
		must(fmt.Errorf("there are %d versions of the API", len(versions)))
	}
	for _, version := range ladder {
		if got(versions[0].IsSupported(version)) {
			client.Microversion = version
			break
		}
	}
	return fields{"chosen": client.Microversion, "newest": versions[0].MaxMinor, "oldest": versions[0].MinMinor}
}

func driverNames(ctx context.Context, client *gophercloud.ServiceClient) []string {
	page := got(drivers.ListDrivers(client, drivers.ListDriversOpts{}).AllPages(ctx))
	var names []string
	for _, driver := range got(drivers.ExtractDrivers(page)) {
		names = append(names, driver.Name)
	}
	return names
}

// until waits for a state in which nothing goes on; the node as it is then.
func until(ctx context.Context, client *gophercloud.ServiceClient, uuid string, states ...nodes.ProvisionState) *nodes.Node {
	for end := time.Now().Add(time.Minute); ; time.Sleep(20 * time.Millisecond) {
		node := got(nodes.Get(ctx, client, uuid).Extract())
		for _, state := range states {
			if node.ProvisionState == string(state) && node.Reservation == "" {
				return node
			}
		}
		if time.Now().After(end) {
			must(fmt.Errorf("%s does not get to %v: it is %s, %s", node.Name, states, node.ProvisionState, node.LastError))
		}
	}
}

func main() {
	ctx, client := context.Background(), connect()
	emit(ready(ctx, client))
	scenarios := map[string]func(context.Context, *gophercloud.ServiceClient){
		"ready": func(ctx context.Context, client *gophercloud.ServiceClient) {
			emit(fields{"drivers": driverNames(ctx, client)})
		},
		"container": container,
		"lifecycle": lifecycle,
		"instance":  instance,
		"hardware":  hardware,
		"records":   records,
		"refused":   refused,
	}
	scenario, known := scenarios[os.Args[1]]
	if !known {
		must(fmt.Errorf("there is no scenario %s", os.Args[1]))
	}
	scenario(ctx, client)
}
