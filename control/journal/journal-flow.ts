import type { CommandEntry, ExchangeEntry, StateEntry } from './entry.js'
import type { NewEntry, NewExchange } from './entry.js'

const STABLE: ReadonlySet<string> = new Set([
  'enroll',
  'manageable',
  'available',
  'active',
  'error',
  'rescue',
  'clean failed',
  'deploy failed',
  'inspect failed',
  'rescue failed',
  'unrescue failed',
  'service failed',
])

/** True if a state is the first of a flow: the node has left one in which it rests. */
export const beginsFlow = ({ state, was }: Pick<StateEntry, 'state' | 'was'>): boolean =>
  state !== was && STABLE.has(was ?? '')

export const isHeartbeatEntry = ({ to, target }: Pick<ExchangeEntry, 'to' | 'target'>): boolean =>
  to === 'ironic' && target.startsWith('/v1/heartbeat/')

/** Error of an exchange whose caller was ended before the answer came. */
export const CALLER_ENDED = 'its caller was ended before the answer came'

/** Exit codes with which a program answers a question: nothing has failed. */
const ANSWERING_EXITS: Readonly<Record<string, number>> = {
  // The agent makes sure that nothing is mounted in a folder before it mounts there.
  umount: 32,
  // The ramdisk has no df, and the agent leaves it out of its logs.
  df: 127,
}

function isFailedCommand({ argv, exitCode, fault }: Pick<CommandEntry, 'argv' | 'exitCode' | 'fault'>): boolean {
  if (exitCode === 0) return false
  return fault !== null || exitCode === null || ANSWERING_EXITS[argv[0] ?? ''] !== exitCode
}

const FAILED_BOOTS: ReadonlySet<string> = new Set(['no bootable device', 'kernel panic', 'emergency shell'])

/** True if an entry shows that something failed. */
export function isFailure(entry: NewEntry | NewExchange): boolean {
  switch (entry.kind) {
    case 'exchange':
      return entry.status === null ? entry.error !== CALLER_ENDED : entry.status >= 400
    case 'command':
      return isFailedCommand(entry)
    case 'bmc':
      return entry.error !== null || (entry.status !== null && entry.status >= 400)
    case 'power':
    case 'boot':
    case 'pull':
      return entry.error !== null || (entry.kind === 'boot' && FAILED_BOOTS.has(entry.what))
    case 'fault':
      return entry.what === 'struck'
    case 'state':
    case 'step':
    case 'lab':
      return false
  }
}
