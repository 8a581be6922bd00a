import { IronicError } from '../../../../wire/index.js'
import { powerProblem } from '../../../drivers/requirements.js'
import { switchDeployInterface } from '../verify/autodetect.js'
import { automatedCleaning } from '../clean/cleaning.js'
import { wantedCleaning } from '../clean/cleaning-runbook.js'
import { usesAgent } from '../../steps/driver-steps.js'
import type { EffectBody, Outcome } from '../../core/effects.js'
import type { Turn } from '../../core/turn.js'
import { wipeDeployment } from './wipe.js'

/**
 * `deleted`: the instance goes, then the node is cleaned.
 *
 * @throws IronicError 400 when the node's power cannot be controlled
 */
export function startTeardown(turn: Turn): void {
  const { node } = turn
  const problem = powerProblem(node)
  if (problem !== undefined)
    throw new IronicError(400, `Failed to validate power driver interface. Can not delete instance. Error: ${problem}`)
  turn.begin('delete')
  turn.dropInfo('agent_url')
  switchDeployInterface(turn)
  // Nothing of the instance is to be booted any more.
  const forget: EffectBody = { kind: 'boot', source: { kind: 'disk' } }
  const off: EffectBody = { kind: 'power', target: node.disable_power_off ? 'rebooting' : 'power off' }
  const live = node.deploy_interface === 'ramdisk'
  turn.run(!usesAgent(node) ? [{ kind: 'proceed' }] : live ? [forget, off] : [off], 'teardown.off')
}

export function teardownOff(turn: Turn, outcome: Outcome): void {
  // Whatever came of it, the instance is gone.
  forgetInstance(turn)
  if (!outcome.ok) {
    turn.fail(`Failed to tear down: ${outcome.error}`, 'deleting')
    turn.process('fail')
    return turn.rest()
  }
  const wanted = wantedCleaning(turn)
  if (wanted.problem !== undefined) {
    // Upstream's worker dies of it and leaves the node in deleting for ever.
    turn.fail(wanted.problem, 'cleaning')
    turn.process('fail')
    return turn.rest()
  }
  turn.process('clean')
  automatedCleaning(turn, wanted)
}

function forgetInstance(turn: Turn): void {
  const { node } = turn
  node.instance_info = {}
  node.instance_uuid = null
  node.instance_name = null
  // Of a node that was waiting for its agent the step stays: a deploy step until the next deployment (recorded), a
  // service step until the next servicing (ironic 39.0.0 conductor/manager.py _do_node_tear_down).
  const { deploy_step } = node
  wipeDeployment(turn)
  node.deploy_step = deploy_step
  turn.dropInfo('instance', 'root_uuid_or_disk_id', 'is_whole_disk_image', 'is_source_a_path', 'deploy_boot_mode')
}
