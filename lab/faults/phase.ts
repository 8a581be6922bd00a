import type { ProvisionState } from '../../base/wire/index.js'
import type { FaultMatch } from '../../control/index.js'

/**
 * Phase of a machine, for matching faults. `install` is the part of a deployment from the start of install_coreos to the
 * next boot; the part before it is `deploy`.
 */
export type MachinePhase = NonNullable<FaultMatch['phase']>

export const MACHINE_PHASES: readonly MachinePhase[] = ['inspect', 'clean', 'deploy', 'install', 'active']

/** @returns undefined outside of all phases */
export function phaseOf(state: ProvisionState, installing: boolean): MachinePhase | undefined {
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
