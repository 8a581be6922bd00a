import { machineSpecs } from '../../lab/index.js'
import {
  commandPower,
  defaultMachineSpec,
  type HardwareFleet,
  type Machine,
  type Machines,
  type MachineSpec,
} from '../../machine/index.js'
import { countText, defined, systemClock, UserError, type Logger } from '../../base/runtime/index.js'
import type { ListedSystem } from './systems-file.js'

/** Machines created at once. */
const MAX_PARALLEL_MACHINES = 500

/** Makes machines that are missing. */
export async function makeMachines(
  missing: readonly MachineSpec[],
  machines: Machines,
  ready: (machine: Machine) => void,
): Promise<void> {
  for (let from = 0; from < missing.length; from += MAX_PARALLEL_MACHINES)
    await Promise.all(
      missing
        .slice(from, from + MAX_PARALLEL_MACHINES)
        .map(async (spec) => ready(await machines.create(spec, { kind: 'boot order' }))),
    )
}

/** The wanted machines that are missing. The log says when the folder has machines, and none of these names. */
export function missingSpecs(
  wanted: readonly MachineSpec[],
  machines: Machines,
  logger: Logger,
): readonly MachineSpec[] {
  const missing = wanted.filter(({ id }) => !machines.get(id))
  const known = machines.list()
  if (missing.length > 0 && missing.length === wanted.length && known.length > 0)
    logger(
      'warn',
      `the state folder has ${countText(known.length, 'machine')} of other names, as ${known[0]!.spec.id}; they stay beside ${missing[0]!.id} and those after it`,
    )
  return missing
}

interface SystemParts {
  machines: Machines
  hardware: HardwareFleet | undefined
  disks: 'file' | 'described'
  ready: (machine: Machine) => void
  logger: Logger
}

/** Serial numbers and WWNs of systems follow from numbers above those of counted machines. */
const FIRST_NUMBER = 0x10_0000
/** Milliseconds that the start waits for the power of a system that is on. */
const POWER_ANSWER_TIMEOUT = 100

/**
 * Makes the machines of systems that are missing, with the power and the boot device that the list names. Those of a
 * state folder stay as they are.
 *
 * @throws UserError `systems-file` (usage) for a MAC address of another machine
 */
export async function makeSystems(systems: readonly ListedSystem[], parts: SystemParts): Promise<void> {
  const { machines, ready, logger } = parts
  warnOfDifferences(systems, machines, logger)
  const specs = specsOf(systems, parts)
  refuseForeignAddresses(specs, machines)
  await makeMachines(specs, machines, ready)
  const isNew = new Set(specs.map(({ id }) => id))
  const changed = systems.filter(({ id, isOn, bootDevice }) => isNew.has(id) && (isOn || bootDevice !== 'Hdd'))
  await Promise.all(
    changed.map(async ({ id, isOn, bootDevice }) => {
      const machine = machines.get(id)!
      if (bootDevice !== 'Hdd') await machine.firmware.boot.setOverride({ target: bootDevice, enabled: 'Continuous' })
      if (isOn)
        await commandPower(machine, 'on', { soft: false, timeout: POWER_ANSWER_TIMEOUT, clock: systemClock(), logger })
    }),
  )
}

/** The specifications of the systems that are missing. The hardware is that of their place in the list. */
function specsOf(
  systems: readonly ListedSystem[],
  { machines, ...hardware }: Pick<SystemParts, 'machines' | 'hardware' | 'disks'>,
): MachineSpec[] {
  const serials = new Set(machines.list().map(({ spec }) => spec.serial))
  let number = FIRST_NUMBER
  const nextFree = (): MachineSpec => {
    for (;;) {
      const plain = defaultMachineSpec(number++)
      if (!serials.has(plain.serial)) return plain
    }
  }
  return systems.flatMap((system, index) => {
    const { id, name, nics, firmware } = system
    if (machines.get(id)) return []
    const plain = nextFree()
    const identity = {
      id,
      bmc: { ...plain.bmc!, systemId: id },
      ...defined({ name: name === id ? undefined : name, uuid: UUID_PATTERN.test(id) ? id : undefined }),
    }
    const { hardware: fleet, disks } = hardware
    const applied = () => ({ ...plain, ...identity })
    const spec = machineSpecs({ disks, ...defined({ hardware: fleet }) }, { uuid: id, applied })(index + 1)
    return [{ ...spec, ...defined({ firmware, nics: nics.length > 0 ? nics : undefined }) }]
  })
}

const UUID_PATTERN = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

function refuseForeignAddresses(specs: readonly MachineSpec[], machines: Machines): void {
  const owners = new Map(machines.list().flatMap(({ spec }) => spec.nics.map(({ mac }) => [mac, spec.id])))
  for (const { id, nics } of specs)
    for (const { mac } of nics) {
      const owner = owners.get(mac)
      if (owner !== undefined)
        throw new UserError(
          'systems-file',
          `system ${id} has the MAC address ${mac} of machine ${owner} in the state folder`,
          {
            kind: 'usage',
            remedy: 'give it another MAC address, or name another state folder',
          },
        )
    }
}

/** Warns about machines of the state folder that a regenerated list no longer has, or has changed. */
function warnOfDifferences(systems: readonly ListedSystem[], machines: Machines, logger: Logger): void {
  const known = machines.list()
  if (known.length === 0) return
  const listed = new Map(systems.map((system) => [system.id, system]))
  const isOther = ({ spec: { id, name = id, nics } }: Machine): boolean => {
    const system = listed.get(id)
    if (!system) return false
    return system.name !== name || (system.nics.length > 0 && joinMacs(system) !== joinMacs({ nics }))
  }
  const gone = known.filter(({ spec }) => !listed.has(spec.id))
  const other = known.filter(isOther)
  const warn = (count: number, what: string) =>
    count > 0 && logger('warn', `the state folder has ${count} ${count === 1 ? 'machine' : 'machines'} ${what}`)
  warn(gone.length, 'that the list of systems lacks; they stay')
  warn(other.length, 'with another name or other MAC addresses than the list of systems says; they stay as they are')
}

const joinMacs = ({ nics }: Pick<MachineSpec, 'nics'>): string => nics.map(({ mac }) => mac).join(' ')

/**
 * The machines as a Redfish service finds them: by id in letters of any case, and by name, as sushy-tools' emulator
 * finds systems.
 */
export function byIdOrName(machines: Machines): Pick<Machines, 'get' | 'list'> {
  const names = new Map(
    machines.list().flatMap(({ spec: { id, name } }) => (name === undefined ? [] : [[name, id] as const])),
  )
  return {
    get: (id) => machines.get(id) ?? machines.get(id.toLowerCase()) ?? machines.get(names.get(id) ?? ''),
    list: () => machines.list(),
  }
}
