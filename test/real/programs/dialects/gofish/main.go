// Works the BMCs of a table through gofish: `walk` reads all that its API reaches, `quirks` runs calls by name.
package main

import (
	"encoding/json"
	"fmt"
	"os"

	"github.com/stmcginnis/gofish"
)

func must[T any](value T, err error) T {
	done(err)
	return value
}

func done(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func username() string { return os.Args[3] }

func password() string { return os.Args[4] }

func configOf(url string, basic bool) gofish.ClientConfig {
	return gofish.ClientConfig{Endpoint: url, Username: username(), Password: password(), BasicAuth: basic, Insecure: true}
}

func connect(url string) (*gofish.APIClient, error) {
	return gofish.Connect(configOf(url, true))
}

func main() {
	var seen any
	switch os.Args[1] {
	case "walk":
		var bmcs map[string]string
		done(json.Unmarshal([]byte(os.Args[2]), &bmcs))
		seen = walkAll(bmcs)
	case "quirks":
		var bmcs map[string][2]string
		done(json.Unmarshal([]byte(os.Args[2]), &bmcs))
		seen = runQuirks(bmcs)
	}
	done(json.NewEncoder(os.Stdout).Encode(seen))
}
