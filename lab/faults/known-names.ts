import { AGENT_COMMANDS } from '../../agent/index.js'
import { IPMI_CALLS } from '../../ipmi/index.js'
import { PROGRAMS } from '../../machine/index.js'
import { REDFISH_CALLS } from '../../redfish/index.js'
import { nearest } from '../../runtime/index.js'
import { PROVISION_STATES, type ProvisionState } from '../../wire/index.js'
import { phaseOf, PHASES } from './phase.js'
import type { FaultMatch } from './fault.js'

/** Calls of BMCs that Ironic makes, besides those of Redfish and IPMI. */
export const DRIVER_CALLS = [
  'read power',
  'set power',
  'set boot',
  'read firmware',
  'read hardware',
  'change firmware',
  'read media',
  'read indicators',
  'read indicator',
  'subscribe',
  'unsubscribe',
  'read subscriptions',
] as const

const BMC_CALLS = [...new Set([...DRIVER_CALLS, ...REDFISH_CALLS, ...IPMI_CALLS])].sort()

/**
 * The reason why a condition names nothing that there can be, with what to do; undefined where it may be something.
 *
 * @param steps names of the steps that agents of the lab have; undefined where they are not known
 */
export function unknownName(match: FaultMatch, steps: readonly string[] | undefined): Problem | undefined {
  const { bmc, step, program, phase, state } = match
  if (bmc !== undefined && !BMC_CALLS.includes(bmc)) return problem(`no BMC has a call ${quoted(bmc)}`, bmc, BMC_CALLS)
  if (phase !== undefined && !PHASES.includes(phase))
    return problem(`there is no phase ${quoted(phase)}`, phase, PHASES)
  if (state !== undefined && !PROVISION_STATES.includes(state))
    return problem(`there is no state ${quoted(state)}`, state, PROVISION_STATES)
  if (state !== undefined && phase !== undefined && !statesOf(phase).includes(state))
    return {
      message: `a node in state ${state} is never in phase ${phase}`,
      remedy: `match the state ${statesOf(phase).join(' or ')}, or leave one of the two out`,
    }
  const known = steps && [...new Set([...steps, ...AGENT_COMMANDS])].sort()
  if (step !== undefined && known && !known.includes(step))
    return problem(`no agent of this lab has a step ${quoted(step)}`, step, known)
  // A step may run any program, also one that no ramdisk has. One that is nearly another is a mistake.
  if (program !== undefined && !PROGRAMS.includes(program) && nearest(program, PROGRAMS, LETTERS) !== undefined)
    return problem(`no ramdisk has a program ${quoted(program)}`, program, PROGRAMS)
  return undefined
}

interface Problem {
  readonly message: string
  readonly remedy: string
}

const statesOf = (phase: NonNullable<FaultMatch['phase']>): readonly ProvisionState[] =>
  PROVISION_STATES.filter((state) => [phaseOf(state, true), phaseOf(state, false)].includes(phase))

/** Letters of a name for each of which an edit may be a mistake: programs that no ramdisk has are near others too. */
const LETTERS = 4

const quoted = (word: string): string => JSON.stringify(word)

function problem(message: string, word: string, known: readonly string[]): Problem {
  const near = nearest(word, known, LETTERS)
  return { message, remedy: near === undefined ? `there are ${known.join(', ')}` : `did you mean ${near}?` }
}
