import { ownMember } from '../../../base/runtime/index.js'
import { IronicError, type ProvisionState } from '../../../base/wire/index.js'
import type { Records } from '../../store/record-store.js'
import type { ConductorConf } from './conductor-conf.js'
import { PROVISION_VERBS } from './transitions.js'

const DEPLOYING: readonly ProvisionState[] = ['deploying', 'wait call-back']
const CLEANING_STATES: readonly ProvisionState[] = ['deleting', 'cleaning', 'clean wait']

/**
 * Refuses deployments, teardowns and manual cleaning beyond the operator's limits. `provide` is never refused, as in
 * Ironic.
 *
 * @throws IronicError 503
 */
export function checkConcurrency(records: Records, target: string, conf: ConductorConf): void {
  switch (ownMember(PROVISION_VERBS, target)?.event) {
    case 'deploy':
    case 'rebuild':
      return limit(conf.maxConcurrentDeploy, DEPLOYING, 'provisioning')
    case 'delete':
      return limit(conf.maxConcurrentClean, CLEANING_STATES, 'unprovisioning')
    case 'clean':
      return limit(conf.maxConcurrentClean, CLEANING_STATES, 'cleaning')
    default:
  }

  function limit(most: number, states: readonly ProvisionState[], action: string): void {
    const nodes = states.flatMap((state) => [...records.nodesIn(state)])
    const isCounted = (uuid: string): boolean =>
      !conf.maxConcurrentPerConductorGroup || records.nodes.get(uuid)!.record.conductor_group === conf.conductorGroup
    if (nodes.filter(isCounted).length >= most)
      throw new IronicError(
        503,
        `Unable to process request at this time. The concurrent action limit for ${action} has been reached. Please contact your administrator and try again later.`,
      )
  }
}
