import { AGENT_COMMANDS } from '../../agent/index.js'
import { IPMI_CALLS } from '../../bmc/ipmi/index.js'
import { INSTALLED_PROGRAMS } from '../../machine/index.js'
import { REDFISH_CALLS, redfishCallsAt } from '../../bmc/redfish/index.js'
import { nearestWord } from '../../base/runtime/index.js'
import { PROVISION_STATES, type ProvisionState } from '../../base/wire/index.js'
import { phaseOf, MACHINE_PHASES } from './phase.js'
import { isRedfishRoute, routeOf, type FaultMatch } from '../../control/index.js'

/** Calls of BMCs that Ironic makes, besides those of Redfish and IPMI. */
export const DRIVER_CALLS = [
  'read power',
  'set power',
  'set boot',
  'read firmware',
  'read hardware',
  'change firmware',
  'read media',
  'change media',
  'read indicators',
  'read indicator',
  'change indicators',
  'reset bmc',
  'raw',
  'subscribe',
  'unsubscribe',
  'read subscriptions',
] as const

const KNOWN_BMC_CALLS = [...new Set([...DRIVER_CALLS, ...REDFISH_CALLS, ...IPMI_CALLS])].sort()

/**
 * The reason why a condition names nothing that there can be, with what to do; undefined where it may be something.
 *
 * @param steps names of the steps that agents of the lab have; undefined where they are not known
 */
export function unknownName(match: FaultMatch, steps: readonly string[] | undefined): NameProblem | undefined {
  const { bmc, step, program, phase, state, route } = match
  if (bmc !== undefined && !KNOWN_BMC_CALLS.includes(bmc))
    return makeNameProblem(`no BMC has a call ${quoteName(bmc)}`, bmc, KNOWN_BMC_CALLS)
  if (route !== undefined && isRedfishRoute(route)) {
    const { method, parts } = routeOf(route)
    if (redfishCallsAt(method, parts).length === 0)
      return {
        message: `no BMC has ${route}`,
        remedy:
          redfishCallsAt(undefined, parts).length === 0
            ? 'match a whole path, with :id for what differs: GET /redfish/v1/Systems/:id/SecureBoot'
            : 'that resource has other methods; leave the method out to match them all',
      }
  }
  if (phase !== undefined && !MACHINE_PHASES.includes(phase))
    return makeNameProblem(`there is no phase ${quoteName(phase)}`, phase, MACHINE_PHASES)
  if (state !== undefined && !PROVISION_STATES.includes(state))
    return makeNameProblem(`there is no state ${quoteName(state)}`, state, PROVISION_STATES)
  if (state !== undefined && phase !== undefined && !phaseStates(phase).includes(state))
    return {
      message: `a node in state ${state} is never in phase ${phase}`,
      remedy: `match the state ${phaseStates(phase).join(' or ')}, or leave one of the two out`,
    }
  const known = steps && [...new Set([...steps, ...AGENT_COMMANDS])].sort()
  if (step !== undefined && known && !known.includes(step))
    return makeNameProblem(`no agent of this lab has a step ${quoteName(step)}`, step, known)
  // A step may run any program, also one that no ramdisk has. One that is nearly another is a mistake.
  if (
    program !== undefined &&
    !INSTALLED_PROGRAMS.includes(program) &&
    nearestWord(program, INSTALLED_PROGRAMS, LETTERS) !== undefined
  )
    return makeNameProblem(`no ramdisk has a program ${quoteName(program)}`, program, INSTALLED_PROGRAMS)
  return undefined
}

export interface NameProblem {
  readonly message: string
  readonly remedy: string
}

const phaseStates = (phase: NonNullable<FaultMatch['phase']>): readonly ProvisionState[] =>
  PROVISION_STATES.filter((state) => [phaseOf(state, true), phaseOf(state, false)].includes(phase))

/** Letters of a name for each of which an edit may be a mistake: programs that no ramdisk has are near others too. */
const LETTERS = 4

const quoteName = (word: string): string => JSON.stringify(word)

function makeNameProblem(message: string, word: string, known: readonly string[]): NameProblem {
  const near = nearestWord(word, known, LETTERS)
  return { message, remedy: near === undefined ? `there are ${known.join(', ')}` : `did you mean ${near}?` }
}
