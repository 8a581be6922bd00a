import { IronicError, type ArgsInfo, type JsonObject } from '../../base/wire/index.js'
import { deployInterfacesOf } from './deploy/deploy-interfaces.js'
import { AGENT_PROPERTIES, GENERIC_BOOT } from './generic.js'
import { vendorMethod, type HardwareType } from './hardware-type.js'

const settingsOf = (what: string): ArgsInfo => ({
  settings: {
    description: `List of ${what}, each item needs to contain a dictionary with name/value pairs`,
    required: true,
  },
})

const needsBar =
  (method: string) =>
  ({ bar }: JsonObject): void => {
    if (!bar) throw new IronicError(400, `Parameter 'bar' not passed to method '${method}'.`)
  }

/** Fake hardware: its interfaces succeed without doing anything. */
export const FAKE_HARDWARE: HardwareType = {
  name: 'fake-hardware',
  className: 'FakeHardware',
  takesAllInterfaces: true,
  interfaces: {
    bios: ['fake', 'no-bios'],
    boot: ['fake', 'ipxe'],
    console: ['fake', 'no-console'],
    deploy: deployInterfacesOf('every type', 'the type for tests', 'types without a BMC'),
    firmware: ['fake', 'no-firmware'],
    inspect: ['agent', 'fake', 'no-inspect'],
    management: ['fake'],
    network: ['noop', 'flat', 'neutron'],
    power: ['fake'],
    raid: ['fake', 'agent', 'no-raid'],
    rescue: ['fake', 'agent', 'no-rescue'],
    storage: ['noop', 'fake'],
    vendor: ['fake', 'no-vendor'],
  },
  properties: {
    ...AGENT_PROPERTIES,
    B1: 'Read by the fake vendor interface. Required by its methods.',
    B2: 'Read by the fake vendor interface. Required by its methods.',
  },
  implementations: {
    bios: {
      fake: {
        reads: false,
        steps: [
          {
            interface: 'bios',
            step: 'apply_configuration',
            argsinfo: settingsOf('BIOS settings'),
            in: { clean: {} },
          },
          { interface: 'bios', step: 'factory_reset', in: { clean: {} } },
          { interface: 'bios', step: 'cache_bios_settings', in: { clean: {} } },
        ],
      },
    },
    boot: GENERIC_BOOT,
    firmware: {
      fake: {
        reads: false,
        steps: [
          { interface: 'firmware', step: 'update', argsinfo: settingsOf('Firmware components'), in: { clean: {} } },
        ],
      },
    },
    management: {
      fake: {
        calls: ['get_supported_indicators', 'get_indicator_state'],
        bootDevices: ['pxe'],
        readsModes: false,
        // Recorded; the indicators are those of ironic drivers/modules/fake.py FakeManagement.
        fixed: {
          bootDevice: { boot_device: 'pxe', persistent: false },
          indicators: {
            chassis: { 'led-0': { readonly: true, states: ['off', 'on'] } },
            system: { led: { readonly: false, states: ['blinking', 'off', 'on'] } },
          },
        },
      },
    },
    // There is no machine, unless the configuration gives it one.
    power: { fake: { remembersPower: ({ fakeHardwareMachines }) => !fakeHardwareMachines } },
    vendor: {
      fake: {
        methods: {
          fourth_method_shared_lock: vendorMethod('POST', 'Looks whether bar is woof.', {
            shared: true,
            check: needsBar('fourth_method_shared_lock'),
          }),
          log_passthrough: vendorMethod('POST', 'Writes to the log.'),
          second_method: vendorMethod('POST', 'Looks whether bar is kazoo.', { check: needsBar('second_method') }),
          third_method_sync: vendorMethod('POST', 'Looks whether bar is meow, and says so.', {
            sync: true,
            check: needsBar('third_method_sync'),
          }),
        },
        steps: [
          { interface: 'vendor', step: 'log_passthrough', in: { clean: {}, service: { ramdisk: false } } },
          // The step waits for a call that never comes, as recorded.
          { interface: 'vendor', step: 'trigger_servicewait', in: { service: {} } },
        ],
      },
    },
  },
}
