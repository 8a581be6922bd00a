import { openStore } from '../../../ironic-mock/index.js'
import { NO_PACE, openMachines, type Machine, type MachineHardware, type Machines } from '../../../machine/index.js'
import {
  openInScope,
  Probe,
  UserError,
  randomUuid,
  withFields,
  type Clock,
  type Logger,
  type Random,
  type Scope,
} from '../../../base/runtime/index.js'
import type { JsonObject } from '../../../base/wire/index.js'
import { findNodeMachine } from '../../../lab/index.js'
import { simulatedStaging, type ImageCacheRequest } from '../../../lab/index.js'
import { machineOfFolder, newMachine } from '../one-machine.js'
import type { StateFolder } from '../../../lab/index.js'

export interface StepMachineOptions {
  /** Machine of a state folder; by default a new one that exists only until disposal. */
  from?: { folder: StateFolder; id: string }
  /** Hardware of a new machine. */
  hardware?: MachineHardware
  /** Image cache, and options for downloads. */
  images?: ImageCacheRequest
  clock: Clock
  random: Random
  logger: Logger
}

/** A simulated machine in its ramdisk, without an agent and without an Ironic. */
export interface StepMachine extends AsyncDisposable {
  readonly machine: Machine
  /** The machine's node and ports as Ironic sends them to an agent. */
  readonly node: JsonObject
  readonly ports: readonly JsonObject[]
}

/**
 * Boots a machine's ramdisk. A machine of a state folder that was off is switched off again at the end; one that already
 * runs its ramdisk is not rebooted.
 *
 * @throws UserError when the folder has no such machine, or when the machine runs another system
 */
export async function openStepMachine(options: StepMachineOptions): Promise<StepMachine> {
  return openInScope((scope) => composeStepMachine(options, scope))
}

async function composeStepMachine(options: StepMachineOptions, scope: Scope): Promise<StepMachine> {
  const { from, clock, random, logger } = options
  const id = from?.id ?? 'machine-1'
  let up = (): void => {}
  const ramdisk = new Promise<void>((resolve) => (up = resolve))
  const machines = scope.use(
    await openMachines({
      stateDir: from?.folder.path ?? null,
      clock,
      random,
      probe: new Probe(),
      pace: NO_PACE,
      logger: withFields(logger, { room: 'machine' }),
      stage: simulatedStaging(options.images, { clock, random, logger }),
      events: { ramdiskUp: (booted) => (booted.spec.id === id ? up() : undefined), down: () => {} },
    }),
  )
  const machine = from
    ? machineOfFolder(machines, from)
    : await newMachine(machines, null, options.hardware ? { hardware: options.hardware } : {})
  if (machine.power() === 'off') {
    await machine.setBoot({ kind: 'ramdisk', parameters: {} })
    await machine.setPower('on')
    scope.use({
      [Symbol.asyncDispose]: async () => {
        await machine.setPower('off')
        await machine.setBoot({ kind: 'disk' })
      },
    })
  } else if (machine.boot()?.outcome !== 'ramdisk')
    throw new UserError('machine-busy', `${id} is on and runs the system on its disk, so no step can run on it`, {
      remedy: 'switch it off first (baremetal node power off), or try the step on a new machine',
    })
  await ramdisk
  const record = from ? await nodeOfFolder(from, machines, clock) : null
  return {
    machine,
    ...(record ?? makeStepNode(machine, randomUuid(random))),
    [Symbol.asyncDispose]: () => scope[Symbol.asyncDispose](),
  }
}

type NodeAndPorts = Pick<StepMachine, 'node' | 'ports'>

/** Node and ports of the machine in the folder's Ironic; null when it has no node for the machine. */
async function nodeOfFolder(
  { folder, id }: { folder: StateFolder; id: string },
  machines: Machines,
  clock: Clock,
): Promise<NodeAndPorts | null> {
  await using store = openStore({ path: folder.ironicDb, clock })
  const { nodes, ports } = store.records
  const node = [...nodes.values()].find(({ record }) => findNodeMachine(record, machines)?.spec.id === id)?.record
  if (!node) return null
  const own = [...ports.values()].filter((port) => port.node_uuid === node.uuid)
  return structuredClone({ node, ports: own }) as unknown as NodeAndPorts
}

/** Node and ports as `ironstage up` registers them. */
function makeStepNode({ spec }: Machine, uuid: string): NodeAndPorts {
  return {
    node: {
      uuid,
      name: spec.id,
      properties: { capabilities: `boot_mode:${spec.firmware}`, cpu_arch: spec.architecture },
      instance_info: {},
      driver_info: {},
      driver_internal_info: {},
    },
    ports: spec.nics.map(({ mac, pxe }) => ({ address: mac, pxe_enabled: pxe, node_uuid: uuid })),
  }
}
