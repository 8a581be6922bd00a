package main

import (
	"fmt"

	"github.com/stmcginnis/gofish"
	"github.com/stmcginnis/gofish/schemas"
)

// Call is what a row does at an address; what it returns and its error are compared.
type Call func(url string) (any, error)

// Quirk is a call by gofish as it is, and one without its workaround.
type Quirk struct{ with, without Call }

// Ended is what a call ended with.
type Ended struct {
	Value any    `json:"value,omitempty"`
	Error string `json:"error,omitempty"`
}

func systemOf(url string) (*schemas.ComputerSystem, error) {
	client, err := connect(url)
	if err != nil {
		return nil, err
	}
	systems, err := client.GetService().Systems()
	if err != nil {
		return nil, err
	}
	return systems[0], nil
}

var once = &schemas.Boot{
	BootSourceOverrideTarget:  schemas.PxeBootSource,
	BootSourceOverrideEnabled: schemas.OnceBootSourceOverrideEnabled,
}

func target(system *schemas.ComputerSystem) (any, error) {
	again, err := schemas.GetComputerSystem(system.GetClient(), system.ODataID)
	if err != nil {
		return nil, err
	}
	return again.Boot.BootSourceOverrideTarget, nil
}

func atSystemAndSettings(url string) (any, error) {
	system, err := systemOf(url)
	if err != nil {
		return nil, err
	}
	if err := system.SetBoot(once); err != nil {
		return nil, err
	}
	return target(system)
}

// As releases before 0.21.5 did, which knew no settings object.
func atSystemOnly(url string) (any, error) {
	system, err := systemOf(url)
	if err != nil {
		return nil, err
	}
	return nil, system.Patch(system.ODataID, map[string]any{"Boot": once})
}

func lit(withTag bool) Call {
	return func(url string) (any, error) {
		system, err := systemOf(url)
		if err != nil {
			return nil, err
		}
		system.DisableEtagMatch(!withTag)
		system.IndicatorLED = schemas.LitIndicatorLED
		if err := system.Update(); err != nil {
			return nil, err
		}
		again, err := schemas.GetComputerSystem(system.GetClient(), system.ODataID)
		if err != nil {
			return nil, err
		}
		return again.IndicatorLED, nil
	}
}

func resetAgain(url string) (any, error) {
	system, err := systemOf(url)
	if err != nil {
		return nil, err
	}
	_, err = system.Reset(schemas.OnResetType)
	return "accepted", err
}

func resetWithTag(url string) (any, error) {
	system, err := systemOf(url)
	if err != nil {
		return nil, err
	}
	path := system.ODataID + "/Actions/ComputerSystem.Reset"
	_, err = system.GetClient().PostWithHeaders(path, map[string]any{"ResetType": "On"}, system.Headers())
	return nil, err
}

func sessions(closes bool) Call {
	return func(url string) (any, error) {
		for number := 1; number <= 10; number++ {
			client, err := gofish.Connect(configOf(url, false))
			if err != nil {
				return nil, fmt.Errorf("session %d: %w", number, err)
			}
			if closes {
				client.Logout()
			}
		}
		return 10, nil
	}
}

var quirks = map[string]Quirk{
	"26 gofish": {atSystemAndSettings, atSystemOnly},
	"68 gofish": {lit(true), lit(false)},
	"71 gofish": {resetAgain, resetWithTag},
	"77 gofish": {sessions(true), sessions(false)},
}

func ended(call Call, url string) Ended {
	value, err := call(url)
	if err != nil {
		return Ended{Error: err.Error()}
	}
	return Ended{Value: value}
}

func runQuirks(bmcs map[string][2]string) map[string]map[string]Ended {
	seen := map[string]map[string]Ended{}
	for name, urls := range bmcs {
		quirk := quirks[name]
		seen[name] = map[string]Ended{
			"with":    ended(quirk.with, urls[0]),
			"without": ended(quirk.without, urls[1]),
		}
	}
	return seen
}
