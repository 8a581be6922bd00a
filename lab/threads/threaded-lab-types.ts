import type { LabFaults } from '../../control/index.js'
import type { EnrollOptions, Lab, LabNode, LabOptions } from '../lab.js'

/**
 * Options of a lab in several threads: those of any lab that are data. The others belong to one thread: functions, a socket,
 * a clock that a caller moves.
 */
export interface ThreadedLabOptions extends Pick<
  LabOptions,
  'seed' | 'ironic' | 'hardware' | 'metalImage' | 'disks' | 'realistic'
> {
  /** Number of worker threads; use the number of idle processors. It does not change what happens in the lab. */
  threads: number
}

/** The part of a lab that works across threads. */
export interface ThreadedLab extends Pick<Lab, 'events' | 'wait'>, AsyncDisposable {
  readonly faults: Pick<LabFaults, 'add' | 'clear'>
  enroll(options?: EnrollOptions): Promise<ThreadedNode>
}

/** The part of a node that works across threads. */
export type ThreadedNode = Pick<LabNode, 'uuid' | 'get' | 'provision' | 'makeAvailable' | 'deploy' | 'settled'>
