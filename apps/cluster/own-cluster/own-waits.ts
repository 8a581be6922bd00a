import { conditionOf } from '../../../base/kubernetes/index.js'
import { hours, minutes, seconds } from '../../../base/runtime/index.js'
import { isUpdated } from '../actors/machine-config-operator/pool-nodes.js'
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

/** Time without any change after which an upgrade counts as at rest: an operator that is degraded is named after 40 minutes. */
const REST_TIME = minutes(50)
const LONGEST_UPGRADE = hours(72)

/**
 * Waits until an upgrade is complete and all pools are updated, or until nothing changes any more.
 *
 * @returns a sentence on what is missing
 */
export function waitForUpgrade(rehearsed: RehearsedCluster): Promise<string | null> {
  const { clock } = rehearsed
  const waiting = async (): Promise<string | null> => {
    const end = clock.now() + LONGEST_UPGRADE
    let before = ''
    let since = clock.now()
    for (;;) {
      const { missing, state } = await upgradeState(rehearsed)
      if (state !== before) since = clock.now()
      before = state
      const rests = clock.now() - since
      if (missing === null ? rests >= minutes(1) : rests >= REST_TIME || clock.now() >= end) return missing
      await clock.sleep(HOST_POLL_INTERVAL)
    }
  }
  return rehearsed.until(waiting())
}

/** The first thing that is missing, and all that changes in an upgrade, as one text. */
async function upgradeState({ kube }: RehearsedCluster): Promise<{ missing: string | null; state: string }> {
  const { status } = await kube.get('ClusterVersion', { name: 'version' })
  const { items: pools } = await kube.list('MachineConfigPool')
  const { items: nodes } = await kube.list('Node')
  const { items: hosts } = await kube.list('BareMetalHost', { namespace: MACHINE_API_NAMESPACE })
  const [entry] = status?.history ?? []
  const isDone = entry?.state === 'Completed' && status?.desired.version === entry.version
  const waiting = pools.find((pool) => pool.spec.paused !== true && !isUpdated(pool))
  const progress = conditionOf(status?.conditions, 'Progressing')?.message
  const behind = waiting === undefined ? null : `the pool ${waiting.metadata.name} is not updated`
  return {
    missing: isDone ? behind : `the upgrade is not complete${progress === undefined ? '' : `: ${progress}`}`,
    state: JSON.stringify([
      status,
      pools.map((pool) => [pool.spec.configuration, pool.status]),
      nodes.map(({ metadata, status: own }) => [metadata.annotations, own]),
      hosts.map((host) => host.status?.provisioning.state),
    ]),
  }
}
