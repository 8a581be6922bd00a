import type { MachineSpec } from '../machine/index.js'
import { seededRandom, systemClock, VirtualClock, type Clock } from '../runtime/index.js'
import type { InstallCoreosArgs } from '../steps/index.js'
import type { RequestedStep } from '../wire/index.js'
import { LabNode, type Deployment, type Wait } from './lab-node.js'
import { sharedWait } from './shared-wait.js'
import { stage, type Stage, type StageOptions } from './stage/stage.js'

export interface LabOptions extends Omit<StageOptions, 'clock' | 'random' | 'network' | 'folder'> {
  /**
   * `auto` jumps over every wait while somebody waits on the lab; `manual` moves by `clock.advance()` only; a number is
   * a speed, 1 for wall time. Default `auto`.
   */
  clock?: 'auto' | 'manual' | number
  /** The same seed gives the same ids, tokens and jitter. Default 1. */
  seed?: number
}

export interface EnrollOptions extends Deployment {
  /** The machine; without, the next of the default profile. */
  machine?: MachineSpec
  /** More fields of the node. */
  fields?: Record<string, unknown>
}

/** A whole lab in this process: no sockets, nothing on disk that outlives it. */
export interface Lab<C extends Clock = Clock> extends Omit<Stage, 'clock' | 'enroll'> {
  readonly clock: C
  /** Registers a machine; {@link LabNode.deploy} takes it from there. */
  enroll(options?: EnrollOptions): Promise<LabNode>
  /** Waits for anything in lab time: an automatic clock jumps meanwhile. */
  wait: Wait
}

/**
 * Makes a lab for a test.
 *
 * @example
 * await using lab = await createLab({ seed: 7 })
 * const node = await lab.enroll({ deploySteps: [installCoreos({ ignition })] })
 * await node.deploy()
 * expect(await node.settled()).toMatchObject({ provision_state: 'active' })
 */
export function createLab(options?: LabOptions & { clock?: 'auto' | 'manual' }): Promise<Lab<VirtualClock>>
export function createLab(options: LabOptions): Promise<Lab>
export async function createLab(options: LabOptions = {}): Promise<Lab> {
  const { clock: mode = 'auto', seed = 1, ...rest } = options
  const virtual = typeof mode === 'number' ? undefined : new VirtualClock()
  const clock: Clock = virtual ?? systemClock(mode as number)
  const staged = await stage({ disks: 'described', ...rest, clock, random: seededRandom(seed) })
  const wait: Wait = mode === 'auto' ? sharedWait(virtual!) : (awaited) => awaited
  let machines = 0
  return {
    ...staged,
    [Symbol.asyncDispose]: () => staged[Symbol.asyncDispose](),
    wait,
    enroll: async ({ machine, fields, ...deployment } = {}) => {
      const uuid = await wait(staged.enroll(machine ?? staged.spec(++machines), fields))
      return new LabNode(staged, uuid, wait, deployment)
    },
  }
}

/** The deploy step as BareMetal Operator asks for it: priority 80. */
export function installCoreos(args: InstallCoreosArgs = {}): RequestedStep {
  return { interface: 'deploy', step: 'install_coreos', priority: 80, args: { ...args } }
}
