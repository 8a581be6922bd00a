// Asks Ignition about many configs in one process: a line of JSON in, a line of JSON out.
//
// In: a list of configs in base64. Out: what ignition-validate says of the first one, and, when all of them are valid,
// the config that Ignition makes of them by merging each onto those before it.
package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"io"
	"log"
	"os"

	"github.com/coreos/ignition/v2/config"
	latest "github.com/coreos/ignition/v2/config/v3_7_experimental"
	"github.com/coreos/ignition/v2/config/v3_7_experimental/types"
)

type answer struct {
	Report string        `json:"report"`
	Error  *string       `json:"error"`
	Config *types.Config `json:"config"`
}

func ask(texts [][]byte) (a answer) {
	var merged types.Config
	for i, text := range texts {
		parsed, report, err := config.Parse(text)
		if i == 0 {
			a.Report = report.String()
			if err != nil {
				message := err.Error()
				a.Error = &message
			}
			merged = parsed
		} else {
			merged = latest.Merge(merged, parsed)
		}
		if err != nil {
			return
		}
	}
	a.Config = &merged
	return
}

func main() {
	in := json.NewDecoder(bufio.NewReader(os.Stdin))
	buffered := bufio.NewWriter(os.Stdout)
	out := json.NewEncoder(buffered)
	out.SetEscapeHTML(false)
	for {
		var texts [][]byte
		if err := in.Decode(&texts); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			log.Fatal(err)
		}
		if err := out.Encode(ask(texts)); err != nil {
			log.Fatal(err)
		}
	}
	if err := buffered.Flush(); err != nil {
		log.Fatal(err)
	}
}
