// Works one machine through gofish and prints what it has seen as JSON.
package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/stmcginnis/gofish"
	"github.com/stmcginnis/gofish/common"
	"github.com/stmcginnis/gofish/redfish"
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

func main() {
	url, username, password, machine := os.Args[1], os.Args[2], os.Args[3], os.Args[4]
	seen := map[string]any{}
	_, err := gofish.Connect(gofish.ClientConfig{Endpoint: url, Username: username, Password: "no"})
	var refused *common.Error
	if !errors.As(err, &refused) {
		done(fmt.Errorf("a wrong password was taken: %w", err))
	}
	seen["wrong password"] = refused.HTTPReturnedStatusCode
	client := must(gofish.Connect(gofish.ClientConfig{Endpoint: url, Username: username, Password: password}))
	defer client.Logout()
	root := client.GetService()

	var system *redfish.ComputerSystem
	for _, each := range must(root.Systems()) {
		if each.ID == machine {
			system = each
		}
	}
	again := func() *redfish.ComputerSystem { return must(redfish.GetComputerSystem(client, system.ODataID)) }
	power := func(reset redfish.ResetType, state redfish.PowerState) {
		done(again().Reset(reset))
		for attempt := 0; attempt < 50; attempt++ {
			if again().PowerState == state {
				return
			}
			time.Sleep(100 * time.Millisecond)
		}
		done(fmt.Errorf("%s did not lead to %s", reset, state))
	}
	power(redfish.OnResetType, redfish.OnPowerState)
	power(redfish.ForceOffResetType, redfish.OffPowerState)

	done(again().SetBoot(redfish.Boot{
		BootSourceOverrideTarget:  redfish.PxeBootSourceOverrideTarget,
		BootSourceOverrideEnabled: redfish.OnceBootSourceOverrideEnabled,
	}))
	boot := again().Boot
	seen["boot"] = []any{boot.BootSourceOverrideTarget, boot.BootSourceOverrideEnabled, len(boot.BootOrder)}
	seen["boot options"] = len(must(system.BootOptions()))

	bios := must(system.Bios())
	done(bios.UpdateBiosAttributes(redfish.SettingsAttributes{"QuietBoot": "Disabled"}))
	power(redfish.OnResetType, redfish.OnPowerState)
	seen["applied"] = must(again().Bios()).Attributes["QuietBoot"]
	secure := must(system.SecureBoot())
	secure.SecureBootEnable = true
	done(secure.Update())
	seen["secure boot"] = must(again().SecureBoot()).SecureBootEnable

	manager := must(system.ManagedBy())[0]
	// Members come in any order: gofish reads them side by side.
	cd := func() *redfish.VirtualMedia {
		for _, medium := range must(manager.VirtualMedia()) {
			if medium.ID == "Cd" {
				return medium
			}
		}
		return nil
	}
	done(cd().InsertMedia("http://127.0.0.1/agent.iso", true, true))
	seen["medium"] = []any{cd().Image, cd().Inserted}
	done(cd().EjectMedia())
	seen["ejected"] = !cd().Inserted

	drives, volumes := []string{}, 0
	for _, storage := range must(system.Storage()) {
		for _, drive := range must(storage.Drives()) {
			drives = append(drives, drive.Name)
		}
		volumes += len(must(storage.Volumes()))
		must(storage.Controllers())
	}
	seen["drives"], seen["volumes"] = drives, volumes
	seen["nics"] = len(must(system.EthernetInterfaces()))
	seen["hardware"] = []int{len(must(system.Processors())), len(must(system.Memory())), len(must(system.SimpleStorages()))}
	chassis := must(root.Chassis())[0]
	seen["chassis"] = []int{len(must(chassis.Thermal()).Fans), len(must(chassis.Power()).PowerSupplies),
		len(must(chassis.NetworkAdapters())), len(must(chassis.Sensors()))}
	entries := map[string]int{}
	for _, entry := range must(must(system.LogServices())[0].Entries()) {
		entries[entry.MessageID]++
	}
	seen["log"] = entries

	update := must(root.UpdateService())
	seen["firmware"] = len(must(update.FirmwareInventories()))
	events := must(root.EventService())
	destination := must(events.CreateEventSubscriptionInstance("http://127.0.0.1:9/events", nil, nil, nil,
		redfish.RedfishEventDestinationProtocol, "mine", redfish.TerminateAfterRetriesDeliveryRetryPolicy, nil))
	seen["subscriptions"] = len(must(events.GetEventSubscriptions()))
	done(events.DeleteEventSubscription(destination))
	accounts := must(must(root.AccountService()).Accounts())
	seen["account"] = accounts[0].UserName
	seen["roles"] = len(must(must(root.AccountService()).Roles()))
	seen["tasks"] = len(must(root.Tasks()))
	seen["registries"] = len(must(root.Registries()))
	done(json.NewEncoder(os.Stdout).Encode(seen))
}
