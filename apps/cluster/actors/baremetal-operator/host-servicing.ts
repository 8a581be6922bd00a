import { minutes } from '../../../../base/runtime/index.js'
import { firmwareChange } from './firmware.js'
import { continueAfter, type HostPass, type Result } from './host-pass.js'
import { clearError } from './host-status.js'

/**
 * Changes the firmware of a host that runs, before it is turned on again, where its HostUpdatePolicy says so
 * (doServiceIfNeeded of the controller). Undefined where the power may be seen to.
 */
export async function serviceHost(pass: HostPass): Promise<Result | undefined> {
  const { parts, managed, status, phases, requests } = pass
  const { name, namespace = '' } = managed.metadata
  const policy = (await parts.kube.find('HostUpdatePolicy', { name, namespace }))?.spec
  const change = await firmwareChange(pass, {
    settings: policy?.firmwareSettings === 'onReboot',
    updates: policy?.firmwareUpdates === 'onReboot',
  })
  const hasFailed = pass.hasError('servicing error')
  if (!change.isDue && status.operationalStatus !== 'servicing' && !hasFailed) return undefined
  if (status.operationalStatus !== 'servicing') {
    // The next pass registers the host with the image that servicing boots.
    status.operationalStatus = 'servicing'
    return continueAfter(0, true)
  }
  pass.working.isRetry = hasFailed
  const outcome = await phases.service({ ...change, isAsked: change.isAsked }, await pass.node(), pass.working)
  const isStarted = requests.asked.some((verb) => verb === 'service' || verb === 'abort') || outcome === 'done'
  if (requests.asked.includes('service')) parts.event(`services ${name}`, 'its firmware is to be another one')
  for (const verb of requests.asked.splice(0)) parts.onAsk(verb)
  if (typeof outcome === 'object' && 'error' in outcome) {
    await change.forget()
    return pass.fail('servicing error', outcome.error)
  }
  const wasCleared = clearError(status, 'servicing')
  if (isStarted) await change.applied()
  const again = outcome === 'done' ? 0 : outcome.again
  if (wasCleared) return continueAfter(again, true)
  if (outcome !== 'done') return continueAfter(again)
  clearError(status)
  // The controller of the settings may not have read them yet.
  return continueAfter(minutes(1), true)
}
