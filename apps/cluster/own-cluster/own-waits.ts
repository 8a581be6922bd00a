import { hours, seconds } from '../../../base/runtime/index.js'
import { MACHINE_API_NAMESPACE, type RehearsedCluster } from '../rehearsal/rehearsed-cluster.js'
import type { OwnCluster } from './own-cluster.js'
import { hasWrongPassword, isWaiting } from './own-hosts.js'

const HOST_POLL_INTERVAL = seconds(5)
const STEADY_HOST_CHECKS = 4
const HOST_TIMEOUT = hours(24)

/**
 * Waits until the hosts that are no nodes are as they were gathered: those that waited wait again, those whose BMCs refuse
 * logins have said so.
 *
 * @returns a sentence where they are not, after a day
 */
export function waitForHosts({ spares }: OwnCluster, rehearsed: RehearsedCluster): Promise<string | null> {
  const { clock, kube } = rehearsed
  const missing = async (): Promise<string | null> => {
    for (const host of spares) {
      const { name } = host.metadata
      const found = await kube.find('BareMetalHost', { name, namespace: MACHINE_API_NAMESPACE })
      const state = found?.status?.provisioning.state ?? ''
      const machine = found && rehearsed.machineOf(found)
      if (hasWrongPassword(host) && (found?.status?.errorMessage ?? '') === '') return `${name} shows no error yet`
      if (!isWaiting(host)) continue
      if (state !== 'available') return `${name} is ${state === '' ? 'not registered' : state}`
      if (machine?.power() === 'on' && !machine.boot()) return `${name} is booting`
    }
    return null
  }
  const waiting = async (): Promise<string | null> => {
    const end = clock.now() + HOST_TIMEOUT
    let steady = 0
    for (;;) {
      const found = await missing()
      steady = found === null ? steady + 1 : 0
      if (steady === STEADY_HOST_CHECKS) return null
      if (clock.now() >= end) return `after a day ${found ?? 'all is there'}`
      await clock.sleep(HOST_POLL_INTERVAL)
    }
  }
  return rehearsed.until(waiting())
}
