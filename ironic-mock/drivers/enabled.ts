import { UserError } from '../../base/runtime/index.js'
import { DRIVER_INTERFACES, type DriverInterface } from '../../base/wire/index.js'
import { DEPLOY_PREFERENCE } from './deploy/deploy-interfaces.js'
import type { HardwareType } from './hardware-types.js'

/**
 * Hardware types and interfaces that an operator enables; everything simulated is enabled where a setting is absent.
 */
export interface DriverSettings {
  /** `[DEFAULT]enabled_hardware_types` */
  readonly types?: readonly string[]
  /** `[DEFAULT]enabled_X_interfaces` */
  readonly enabled: Partial<Readonly<Record<DriverInterface, readonly string[]>>>
  /** `[DEFAULT]default_X_interface` */
  readonly defaults: Partial<Readonly<Record<DriverInterface, string>>>
}

/**
 * Default interfaces: a hardware type uses the first here that it supports, as upstream. An interface that is not listed
 * comes before these, so that a new driver's interfaces need no entry.
 */
const PREFERRED: Readonly<Record<DriverInterface, readonly string[]>> = {
  bios: ['fake', 'idrac-redfish', 'redfish', 'no-bios'],
  boot: [
    'fake',
    'ipxe',
    'pxe',
    'http-ipxe',
    'http',
    'redfish-virtual-media',
    'redfish-https',
    'idrac-redfish-virtual-media',
  ],
  console: ['fake', 'redfish-graphical', 'ipmitool-socat', 'no-console'],
  deploy: DEPLOY_PREFERENCE,
  firmware: ['fake', 'redfish', 'no-firmware'],
  inspect: ['fake', 'redfish', 'idrac-redfish', 'agent', 'no-inspect'],
  management: ['ipmitool', 'redfish', 'idrac-redfish', 'noop', 'fake'],
  network: ['flat', 'neutron', 'noop'],
  power: ['ipmitool', 'idrac-redfish', 'redfish', 'agent', 'fake'],
  raid: ['fake', 'idrac-redfish', 'redfish', 'no-raid', 'agent'],
  rescue: ['fake', 'no-rescue', 'agent'],
  storage: ['fake', 'noop', 'cinder', 'external'],
  vendor: ['fake', 'idrac-redfish', 'ipmitool', 'redfish', 'no-vendor'],
}

/**
 * Enabled hardware types, each with its enabled interfaces, the default first. A type ignores a default that it does
 * not support; upstream refuses the nodes of that type.
 *
 * @throws UserError `ironic-config` when a type is left without an implementation of an interface
 */
export function enabledTypes(
  types: readonly HardwareType[],
  { types: wanted, enabled, defaults }: DriverSettings,
): readonly HardwareType[] {
  return types
    .filter(({ name }) => wanted === undefined || wanted.includes(name))
    .map((type) => {
      const interfaces: Record<DriverInterface, readonly string[]> = { ...type.interfaces }
      for (const kind of DRIVER_INTERFACES) {
        const usable = type.interfaces[kind].filter((name) => enabled[kind]?.includes(name) ?? true)
        if (usable.length === 0) throw noneLeft(type, kind)
        const first =
          usable.find((name) => name === defaults[kind]) ??
          usable.find((name) => !PREFERRED[kind].includes(name)) ??
          PREFERRED[kind].find((name) => usable.includes(name))!
        interfaces[kind] = [first, ...usable.filter((name) => name !== first)]
      }
      return { ...type, interfaces }
    })
}

function noneLeft(type: HardwareType, kind: DriverInterface): UserError {
  return new UserError(
    'ironic-config',
    `[DEFAULT]enabled_${kind}_interfaces enables no ${kind} interface of the hardware type ${type.name}`,
    {
      remedy: `enable one of ${type.interfaces[kind].join(', ')}, or take ${type.name} out of enabled_hardware_types`,
      kind: 'usage',
    },
  )
}
