import type { ProvisionState } from '../../wire/index.js'
import type { FaultMatch } from './faults.js'

/**
 * What a machine is in the middle of, as far as faults are concerned. `install` is the part of a deployment from the
 * moment install_coreos begins until the machine boots anew; all that comes before it is `deploy`.
 */
export type Phase = NonNullable<FaultMatch['phase']>

/** @returns undefined between them */
export function phaseOf(state: ProvisionState, installing: boolean): Phase | undefined {
  switch (state) {
    case 'inspecting':
    case 'inspect wait':
      return 'inspect'
    case 'cleaning':
    case 'clean wait':
    case 'clean hold':
      return 'clean'
    case 'deploying':
    case 'wait call-back':
    case 'deploy hold':
      return installing ? 'install' : 'deploy'
    case 'active':
      return 'active'
    default:
      return undefined
  }
}
