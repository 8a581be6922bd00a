import { checkNesting, defined, readNested, UserError } from '../../base/runtime/index.js'
import type { BootTarget, MachineSpec } from '../../machine/index.js'
import { readSystem, shortenValue, type SushySystem } from './sushy-system.js'

/** A system with all that a list of them says. */
export interface ListedSystem extends SushySystem {
  /** Default: its id. */
  name: string
  isOn: boolean
  bootDevice: BootTarget
  firmware: MachineSpec['firmware'] | undefined
}

/** Most systems of a list, as machines of `ironstage fleet --count`. */
const MAX_LISTED_SYSTEMS = 10_000

/**
 * Reads a list of systems as sushy-tools has it in `SUSHY_EMULATOR_FAKE_SYSTEMS`: JSON, `[{uuid, name, power_state, boot_device,
 * boot_mode, nics: [{mac, ip}]}]`. Other keys have no effect.
 *
 * @throws UserError `systems-file` (usage) naming the file, the entry and its key as jq would, and what is wrong
 *
 * @example
 * readSystems('[{"uuid": "27946b59-9e44-4fa7-8e91-f3527a1ef094", "name": "test1"}]', 'nodes.json')
 */
export function readSystems(text: string, file: string): ListedSystem[] {
  const unusable = (what: string, remedy: string, cause?: unknown): UserError =>
    new UserError('systems-file', `the list of systems ${file} cannot be used: ${what}`, {
      kind: 'usage',
      remedy,
      ...defined({ cause }),
    })
  const list = parseSystemsFile(text, file, unusable)
  if (!Array.isArray(list)) throw unusable('it is no list', LIST_ONLY)
  if (list.length === 0) throw unusable('it is empty', 'list at least one system')
  if (list.length > MAX_LISTED_SYSTEMS)
    throw unusable(`it has ${list.length} systems`, `list ${MAX_LISTED_SYSTEMS} at most, and start more fleets`)
  const owners = new Map<string, number>()
  return list.map((entry: unknown, index) => {
    const wrong = (key: string, what: string, remedy: string): UserError =>
      unusable(`.[${index}]${key === '' ? '' : `.${key}`} ${what}`, remedy)
    const system = readListed(entry, wrong)
    const { id, name, nics } = system
    for (const identity of [`uuid ${id}`, `name ${name}`, ...nics.map(({ mac }) => `MAC address ${mac}`)]) {
      const owner = owners.get(identity)
      if (owner !== undefined)
        throw wrong(
          '',
          owner === index ? `has the ${identity} twice` : `has the ${identity} of .[${owner}]`,
          'give each system a uuid, a name and MAC addresses of its own',
        )
      owners.set(identity, index)
    }
    return system
  })
}

const LIST_ONLY =
  'write the list of SUSHY_EMULATOR_FAKE_SYSTEMS alone, as JSON: [{"uuid": ..., "name": ..., "nics": [...]}]'

function parseSystemsFile(
  text: string,
  file: string,
  unusable: (what: string, remedy: string, cause?: unknown) => UserError,
): unknown {
  const what = `the list of systems ${file}`
  try {
    const list = readNested(text.replace(/^\uFEFF/, ''), what, (each) => JSON.parse(each) as unknown)
    checkNesting(list, what)
    return list
  } catch (cause) {
    if (cause instanceof UserError) throw cause
    throw unusable('it is not JSON', LIST_ONLY, cause)
  }
}

function readListed(entry: unknown, wrong: Parameters<typeof readSystem>[1]): ListedSystem {
  const system = readSystem(entry, wrong)
  const fields = entry as Readonly<Record<string, unknown>>
  const { name = system.id, power_state: power = 'Off', boot_device: device = 'Hdd', boot_mode: mode } = fields
  if (typeof name !== 'string' || !isNodeName(name))
    throw wrong('name', `is ${shortenValue(name)}, which cannot name a node`, 'use letters, digits, -, ., _ and ~')
  if (power !== 'On' && power !== 'Off') throw wrong('power_state', `is ${shortenValue(power)}`, 'use "On" or "Off"')
  if (!DEVICES.includes(device as BootTarget))
    throw wrong('boot_device', `is ${shortenValue(device)}`, `use one of ${DEVICES.join(', ')}`)
  if (mode !== undefined && mode !== 'UEFI' && mode !== 'Legacy')
    throw wrong('boot_mode', `is ${shortenValue(mode)}`, 'use "UEFI" or "Legacy"')
  return {
    ...system,
    name,
    isOn: power === 'On',
    bootDevice: device as BootTarget,
    firmware: mode === undefined ? undefined : mode === 'UEFI' ? 'uefi' : 'bios',
  }
}

/** Names of nodes (ironic 39.0.0 common/utils.py is_valid_logical_name). */
const isNodeName = (name: string): boolean => /^[A-Za-z0-9\-._~]{1,255}$/.test(name)

const DEVICES: readonly BootTarget[] = ['None', 'Pxe', 'Floppy', 'Cd', 'Usb', 'Hdd', 'BiosSetup', 'Diags', 'UefiHttp']
