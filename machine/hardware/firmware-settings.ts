import { dialectOf, type DialectAttribute } from '../../bmc/dialects/index.js'
import { MAKER_SETTINGS } from './maker-settings.js'
import { attribute, enumAttribute, toggle, type FirmwareAttribute, type FirmwareValue } from './firmware-attribute.js'
import { firmwareMaker, isDell, type MadeMachine } from './vendors.js'

/** The parts of a machine that its factory settings depend on. */
interface FirmwareOwner extends MadeMachine {
  serial: string
  product: string
  nics: readonly { name: string; pxe: boolean }[]
}

/** Network boot of a PowerEdge: four entries, each with its NIC. Ironic's `idrac-redfish` inspection reads all of them. */
function networkBootSettings({ nics }: FirmwareOwner): FirmwareAttribute[] {
  const names = nics.map(({ name }) => name)
  const booting = nics.filter(({ pxe }) => pxe).map(({ name }) => name)
  return [1, 2, 3, 4].flatMap((entry) => {
    const nic = booting[entry - 1]
    const first = nic ?? names[0] ?? ''
    return [
      toggle(`PxeDev${entry}EnDis`, nic === undefined ? 'Disabled' : 'Enabled'),
      enumAttribute(`PxeDev${entry}Interface`, first, ...names.filter((name) => name !== first)),
    ]
  })
}

/** A setting as the record of a BMC has it. */
function describedSetting(name: string, described: DialectAttribute): FirmwareAttribute {
  const { value, allowed, least, most, readOnly = false } = described
  if (typeof value === 'boolean') return attribute(name, 'Boolean', value, { readOnly })
  if (typeof value === 'number')
    return attribute(name, 'Integer', value, {
      readOnly,
      lower: least ?? Math.min(0, value),
      upper: most ?? Math.max(MAX_INTEGER_SETTING, value),
    })
  if (allowed !== undefined) return attribute(name, 'Enumeration', value, { readOnly, allowed: [...allowed] })
  return attribute(name, 'String', value, { readOnly, shortest: least ?? 0, longest: most ?? MAX_TEXT_SETTING })
}

/** Bounds of settings for which nothing says others. */
const MAX_INTEGER_SETTING = 65_535
const MAX_TEXT_SETTING = 255

/**
 * The firmware's settings at their factory values: one of every type of an attribute registry, with names from Metal3's
 * and vendors' documents.
 */
export function factorySettings(spec: FirmwareOwner): FirmwareAttribute[] {
  const { attributes } = dialectOf(spec).bios
  if (attributes !== null) return Object.entries(attributes).map(([name, each]) => describedSetting(name, each))
  const ofMaker = MAKER_SETTINGS[firmwareMaker(spec)]
  if (ofMaker) return ofMaker(spec)
  return [
    attribute('AssetTag', 'String', '', { shortest: 0, longest: 63, resetRequired: false }),
    enumAttribute('BootSeqRetry', 'Enabled', 'Disabled'),
    attribute('EmbNic1', 'Boolean', true),
    toggle('LogicalProc', 'Enabled'),
    attribute('MemTest', 'Boolean', false),
    enumAttribute('NodeInterleaving', 'Disabled', 'Enabled'),
    enumAttribute('NumaGroupSize', 'Clustered', 'Flat'),
    ...(isDell(spec) ? networkBootSettings(spec) : []),
    attribute('PowerOnDelay', 'Integer', 0, { lower: 0, upper: 240 }),
    attribute('ProcCores', 'Integer', 0, { lower: 0, upper: 64 }),
    toggle('ProcTurboMode', 'Enabled'),
    toggle('ProcVirtualization', 'Enabled'),
    toggle('QuietBoot', 'Enabled'),
    attribute('SerialNumber', 'String', spec.serial, { readOnly: true, unique: true, longest: 32, shortest: 1 }),
    toggle('SriovEnable', 'Disabled'),
    enumAttribute('SysProfile', 'PerfPerWattOptimizedOs', 'PerfOptimized', 'PerfPerWattOptimizedDapc', 'Custom'),
    attribute('SystemModelName', 'String', spec.product, { readOnly: true, longest: 64, shortest: 1 }),
  ]
}

/**
 * The reason why a setting cannot have a value; undefined when it can.
 *
 * @param known undefined for a name that the firmware does not have
 */
export function settingProblem(
  name: string,
  value: FirmwareValue,
  known: FirmwareAttribute | undefined,
): string | undefined {
  if (!known) return `the firmware has no attribute ${name}`
  if (known.readOnly) return `${name} is read-only`
  switch (known.type) {
    case 'Enumeration':
      return known.allowed.includes(String(value)) ? undefined : `${name} is one of ${known.allowed.join(', ')}`
    case 'Boolean':
      return typeof value === 'boolean' ? undefined : `${name} is true or false`
    case 'Integer': {
      const inside = Number.isInteger(value) && Number(value) >= known.lower! && Number(value) <= known.upper!
      return inside ? undefined : `${name} is a whole number from ${known.lower} to ${known.upper}`
    }
    case 'String': {
      const length = typeof value === 'string' ? value.length : -1
      const inside = length >= known.shortest! && length <= known.longest!
      return inside ? undefined : `${name} has ${known.shortest} to ${known.longest} characters`
    }
  }
}
