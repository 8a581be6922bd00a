import { openStore } from '../../ironic-mock/index.js'
import { NO_PACE, openMachines, type Machine, type MachineHardware, type Machines } from '../../machine/index.js'
import {
  opening,
  Probe,
  UserError,
  uuid,
  withFields,
  type Clock,
  type Logger,
  type Random,
  type Scope,
} from '../../runtime/index.js'
import type { JsonObject } from '../../wire/index.js'
import { machineOf } from '../../lab/index.js'
import { simulatedStage, type ImageCacheRequest } from '../../lab/index.js'
import { machineOfFolder, newMachine } from '../one-machine.js'
import type { StateFolder } from '../../lab/index.js'

export interface StepMachineOptions {
  /** One of a state folder; a new one, gone with this, without. */
  from?: { folder: StateFolder; id: string }
  /** What a new machine is made of. */
  hardware?: MachineHardware
  /** Where images from URLs are kept, and how they are fetched for it. */
  images?: ImageCacheRequest
  clock: Clock
  random: Random
  logger: Logger
}

/** A simulated machine in its ramdisk, with no agent in it and no Ironic around it. */
export interface StepMachine extends AsyncDisposable {
  readonly machine: Machine
  /** Its node and ports as Ironic would send them to an agent. */
  readonly node: JsonObject
  readonly ports: readonly JsonObject[]
}

/**
 * Boots a machine's ramdisk. One of a state folder that was off is switched off again at the end; one that is in its
 * ramdisk already is taken as it is.
 *
 * @throws UserError when the folder has no such machine, or it is on and runs something else
 */
export async function openStepMachine(options: StepMachineOptions): Promise<StepMachine> {
  return opening((scope) => open(options, scope))
}

async function open(options: StepMachineOptions, scope: Scope): Promise<StepMachine> {
  const { from, clock, random, logger } = options
  const id = from?.id ?? 'machine-1'
  let up = (): void => {}
  const ramdisk = new Promise<void>((resolve) => (up = resolve))
  const machines = scope.use(
    await openMachines({
      stateDir: from?.folder.path ?? null,
      ...{ clock, random, probe: new Probe(), pace: NO_PACE, logger: withFields(logger, { room: 'machine' }) },
      stage: simulatedStage(options.images, { clock, random, logger }),
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
    throw new UserError('machine-busy', `${id} is on and runs what is on its disk, so no step can run on it`, {
      remedy: 'switch it off first (baremetal node power off), or try the step on a new machine',
    })
  await ramdisk
  const record = from ? await kept(from, machines, clock) : null
  return {
    machine,
    ...(record ?? made(machine, uuid(random))),
    [Symbol.asyncDispose]: () => scope[Symbol.asyncDispose](),
  }
}

type NodeAndPorts = Pick<StepMachine, 'node' | 'ports'>

/** What the folder's Ironic has about the machine; null when it has no node for it. */
async function kept(
  { folder, id }: { folder: StateFolder; id: string },
  machines: Machines,
  clock: Clock,
): Promise<NodeAndPorts | null> {
  await using store = openStore({ path: folder.ironicDb, clock })
  const { nodes, ports } = store.records
  const node = [...nodes.values()].find(({ record }) => machineOf(record, machines)?.spec.id === id)?.record
  if (!node) return null
  const own = [...ports.values()].filter((port) => port.node_uuid === node.uuid)
  return structuredClone({ node, ports: own }) as unknown as NodeAndPorts
}

/** As `ironstage up` would have registered it. */
function made({ spec }: Machine, uuid: string): NodeAndPorts {
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
