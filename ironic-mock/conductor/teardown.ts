import { automatedCleaning } from './cleaning.js'
import { usesAgent } from './driver-steps.js'
import type { Outcome } from './effects.js'
import type { Turn } from './turn.js'
import { wipeDeployment } from './wipe.js'

/** `deleted`: the instance goes, then the node is cleaned. */
export function startTeardown(turn: Turn): void {
  turn.begin('delete')
  turn.run([usesAgent(turn.node) ? { kind: 'power', target: 'power off' } : { kind: 'proceed' }], 'teardown.off')
}

export function teardownOff(turn: Turn, outcome: Outcome): void {
  wipeDeployment(turn)
  if (!outcome.ok) {
    turn.fail(`Failed to tear down: ${outcome.error}`, 'deleting')
    turn.process('fail')
    return turn.rest()
  }
  const { node } = turn
  node.instance_info = {}
  node.instance_uuid = null
  node.instance_name = null
  node.service_step = {}
  turn.dropInfo('is_whole_disk_image')
  turn.process('clean')
  automatedCleaning(turn)
}
