import { IPA_PACE } from '../agent/index.js'
import {
  LabClock,
  UserError,
  defined,
  seededRandom,
  VirtualClock,
  type Clock,
  type MovableClock,
} from '../base/runtime/index.js'
import type { InstallCoreosArgs } from '../steps/index.js'
import { ironicErrors, type RequestedStep } from '../base/wire/index.js'
import { checkedFaults, checkEnrollOptions, checkLabOptions } from './lab-checks.js'
import { labFetch } from './lab-fetch.js'
import type { EnrollOptions, Lab, LabOptions } from './lab.js'
import { StagedNode } from './lab-node.js'
import type { ForkedLab } from './snapshots/forks.js'
import type { LabSnapshots } from './snapshots/snapshot.js'
import { withFork, type StoredSnapshot } from './snapshots/snapshots.js'
import { REALISTIC_MACHINES } from './realistic-pace.js'
import { sharedWait } from './shared-wait.js'
import type { StageOptions } from './stage/stage-options.js'
import { composeStage, type Stage } from './stage/stage.js'

/** Options of {@link createStagedLab}: those of a lab, and of the parts that it is composed of. */
export interface StagedLabOptions
  extends Omit<LabOptions, 'listen' | 'realistic'>, Omit<StageOptions, 'clock' | 'random' | 'network' | 'folder'> {}

/** A lab that also exposes its store, conductor and machines, for ironstage's own tests. */
export interface StagedLab<C extends Clock = Clock> extends Omit<Stage, 'clock' | 'enroll' | 'snapshots'> {
  readonly clock: C
  /** Registers a machine; {@link StagedNode.deploy} takes it from there. */
  enroll(options?: EnrollOptions): Promise<StagedNode>
  /** A node by its uuid or name. */
  node(ident: string): Promise<StagedNode>
  readonly snapshots: LabSnapshots<StagedLab<C>>
  wait: Lab['wait']
  fetchAt: Lab['fetchAt']
}

/** Creates a lab without sockets that exposes its parts to ironstage's own tests. */
export function createStagedLab(
  options?: StagedLabOptions & { clock?: 'auto' | 'manual' },
): Promise<StagedLab<VirtualClock>>
export function createStagedLab(options: StagedLabOptions): Promise<StagedLab>
export function createStagedLab(options: StagedLabOptions = {}): Promise<StagedLab> {
  const fork = (from?: StoredSnapshot): Promise<StagedLab> => composeLab(options, { fork, from })
  return fork()
}

/** The beginning of virtual time. */
const START_TIME = Date.UTC(2026, 0, 1)

type Composed<Fork> = Omit<StagedLab, 'snapshots'> & { readonly snapshots: LabSnapshots<Fork> }

async function composeLab<Fork extends ForkedLab>(
  options: StagedLabOptions,
  parts: {
    network?: StageOptions['network']
    /** Makes another lab of these options, at a snapshot. */
    fork: (from: StoredSnapshot) => Promise<Fork>
    from: StoredSnapshot | undefined
  },
): Promise<Composed<Fork>> {
  const { clock: mode = 'auto', seed = 1, ...rest } = options
  const clock = labClock(mode, parts.network !== undefined)
  const staged = await composeStage({
    disks: 'described',
    ...rest,
    network: parts.network ?? null,
    clock,
    seed,
    random: seededRandom(seed),
    identity: () => identityOf(options),
    ...defined({ fork: parts.network ? parts.fork : undefined }),
  })
  const jump = mode === 'auto' ? sharedWait(clock) : undefined
  const wait: Lab['wait'] = jump ?? ((awaited) => awaited)
  const { dispatch, events, nodes } = staged
  const { conductor: _, store: __, ...unchanging } = staged
  const lab: Composed<Fork> = {
    ...unchanging,
    get conductor() {
      return staged.conductor
    },
    get store() {
      return staged.store
    },
    [Symbol.asyncDispose]: () => staged[Symbol.asyncDispose](),
    wait,
    fetchAt: labFetch({ dispatch, clock, events, nodes, jump }),
    snapshots: withFork(staged.snapshots, parts.fork),
    enroll: async ({ machine, fields, ...deployment } = {}) =>
      new StagedNode(staged, await wait(staged.enroll(machine, fields, deployment)), wait),
    node: async (ident) => {
      const found = await staged.store.node(ident)
      if (!found) throw ironicErrors.nodeNotFound(ident)
      return new StagedNode(staged, found.node.uuid, wait)
    },
  }
  if (!parts.from) return lab
  try {
    await staged.snapshots.beginAt(parts.from)
  } catch (error) {
    await staged[Symbol.asyncDispose]()
    throw error
  }
  return lab
}

function labClock(mode: NonNullable<LabOptions['clock']>, hasSockets: boolean): VirtualClock {
  if (typeof mode === 'number') return new LabClock({ mode })
  // Programs on sockets can set its mode, and move it.
  return hasSockets ? new LabClock({ mode: 'manual', start: START_TIME }) : new VirtualClock()
}

/** The options as data. */
const identityOf = ({ managers, ...options }: StagedLabOptions): Record<string, unknown> => ({
  seed: 1,
  ...options,
  managers: managers?.map(({ name, version }) => `${name} ${version}`) ?? null,
})

/**
 * Makes a lab for a test: an Ironic, machines and their agents in this process. Nothing of it outlives the test.
 *
 * @throws UserError `lab-argument` for a wrong option; for an invalid `ironic` configuration, or an address that cannot be
 *   listened on
 *
 * @example
 * import { createLab, installCoreos } from 'ironstage'
 *
 * await using lab = await createLab({ seed: 7 })
 * const node = await lab.enroll({ deploySteps: [installCoreos({ append_karg: ['quiet'] })] })
 * await node.deploy()
 * const { provision_state, last_error } = await node.settled()
 */
export function createLab(options?: LabOptions & { clock?: 'auto' | 'manual' }): Promise<Lab<MovableClock>>
export function createLab(options: LabOptions): Promise<Lab>
export async function createLab(options: LabOptions = {}): Promise<Lab> {
  checkLabOptions(options)
  return createLabAt(options)
}

/** @param from snapshot of another lab at which this one begins */
async function createLabAt(all: LabOptions, from?: StoredSnapshot): Promise<Lab> {
  const { listen, realistic, ...options } = all
  const paces = realistic ? { machinePace: REALISTIC_MACHINES, agentPace: IPA_PACE } : {}
  const fork = (snapshot: StoredSnapshot): Promise<Lab> => createLabAt(all, snapshot)
  // The port of the lab is taken.
  const network = from && listen ? { ...listen, port: 0 } : listen
  const lab = await composeLab({ ...options, ...paces }, { network, fork, from })
  const { url, client, clock, events, journal, registry, snapshots, spec, wait } = lab
  let isDisposed = false
  const living = (): typeof lab => {
    if (isDisposed) throw new UserError('disposed', 'the lab has been disposed of')
    return lab
  }
  const faults = checkedFaults(lab.faults)
  return {
    url,
    client,
    clock,
    events,
    faults: { ...faults, add: (fault) => living() && faults.add(fault) },
    journal,
    registry,
    snapshots,
    spec,
    enroll: async (request = {}) => {
      checkEnrollOptions(request)
      const name = request.fields?.['name'] ?? request.machine?.id
      // Ironic refuses the name itself: a node of this name would be taken for that of the machine.
      if (typeof name === 'string' && (await living().store.node(name)))
        await client.createNode({ driver: 'redfish', name })
      return living().enroll(request)
    },
    node: async (ident) => living().node(ident),
    wait,
    // Its answers say by themselves that nothing serves any more.
    fetchAt: lab.fetchAt,
    [Symbol.asyncDispose]: () => {
      isDisposed = true
      return lab[Symbol.asyncDispose]()
    },
  }
}

/**
 * The `install_coreos` deploy step as BareMetal Operator asks for it: priority 80.
 *
 * @example
 * import { createLab, installCoreos } from 'ironstage'
 *
 * await using lab = await createLab()
 * const ignition = { ignition: { version: '3.4.0' } }
 * const node = await lab.enroll({ deploySteps: [installCoreos({ ignition, copy_network: true })] })
 */
export function installCoreos(args: InstallCoreosArgs = {}): RequestedStep {
  return { interface: 'deploy', step: 'install_coreos', priority: 80, args: { ...args } }
}
