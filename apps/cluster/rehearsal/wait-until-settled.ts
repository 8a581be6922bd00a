import { hours, seconds } from '../../../base/runtime/index.js'
import { conditionOf } from '../../../base/kubernetes/index.js'
import { CURRENT_CONFIG, STATE } from '../actors/machine-config-operator/machine-config-names.js'
import { primaryPool } from '../actors/machine-config-operator/primary-pool.js'
import { isRolledOut } from '../site/pods.js'
import { MACHINE_API_NAMESPACE, type RehearsedCluster } from './rehearsed-cluster.js'
import type { WaitedFor } from './scenario.js'

const CLUSTER_POLL_INTERVAL = seconds(5)
/** Looks in a row at which nothing is missing. */
const STEADY_CHECKS = 4
/** Looks in a row at which a paused pool alone is missing: an operator that ignores the pause has begun by then. */
const PAUSED_CHECKS = 12
/** Longest wait of a step that names no time. */
const DEFAULT_WAIT_TIMEOUT = hours(24)

/**
 * Waits in lab time until things have settled.
 *
 * @param within milliseconds after which the story goes on in any case
 * @returns null, or a sentence when they have not settled after a day, or cannot
 */
export async function waitUntilSettled(
  cluster: RehearsedCluster,
  what: WaitedFor,
  within?: number,
): Promise<string | null> {
  const { clock } = cluster
  const end = clock.now() + (within ?? DEFAULT_WAIT_TIMEOUT)
  const waiting = async (): Promise<string | null> => {
    let steady = 0
    let paused = 0
    for (;;) {
      const missing = await MISSING[what](cluster)
      steady = missing === null ? steady + 1 : 0
      paused = isPausedPool(missing) ? paused + 1 : 0
      // Consequences of the last change may only begin.
      if (steady === STEADY_CHECKS || (steady > 0 && within !== undefined)) return null
      if (isPausedPool(missing) && paused === PAUSED_CHECKS && within === undefined) return missing.paused
      if (clock.now() >= end) return within === undefined ? `after a day ${sentenceOf(missing)}` : null
      await clock.sleep(Math.min(CLUSTER_POLL_INTERVAL, end - clock.now()))
    }
  }
  return cluster.until(waiting())
}

/** A sentence for a thing that is still missing, or one for a paused pool, which only the administrator resumes. */
type Missing = string | PausedPool | null

interface PausedPool {
  readonly paused: string
}

const isPausedPool = (missing: Missing): missing is PausedPool => typeof missing === 'object' && missing !== null

const sentenceOf = (missing: Missing): string => (isPausedPool(missing) ? missing.paused : (missing ?? 'all is there'))

/** Things that are still missing; null for nothing. */
const MISSING: Readonly<Record<WaitedFor, (cluster: RehearsedCluster) => Promise<Missing>>> = {
  time: () => Promise.resolve('the time is not over'),
  upgrade: async ({ kube }) => {
    const found = await kube.find('ClusterVersion', { name: 'version' })
    const { status, metadata, spec } = found ?? {}
    const [entry] = status?.history ?? []
    if (!entry || status?.observedGeneration !== metadata?.generation) return 'the upgrade has not started'
    if (conditionOf(status?.conditions, 'ReleaseAccepted')?.status === 'False') return null
    const wanted = spec?.desiredUpdate?.version
    const isAsked = wanted === undefined || wanted === entry.version
    return isAsked && entry.state === 'Completed' ? null : `the upgrade to ${wanted ?? entry.version} is not complete`
  },
  metal3: async ({ kube }) => {
    const { items } = await kube.list('Deployment', { namespace: MACHINE_API_NAMESPACE })
    const waiting = items.find((deployment) => !isRolledOut(deployment))
    return waiting ? `${waiting.metadata.name} is not rolled out` : null
  },
  spares: async (cluster) => {
    for (const { name, object, machine } of await cluster.group('spares')) {
      const state = object?.status?.provisioning.state
      if (state !== 'available') return `${name} is ${state ?? 'not registered'}`
      if (machine.power() === 'on' && !machine.boot()) return `${name} is booting`
      if ((machine.power() === 'on') !== object?.spec.online) return `${name} is ${machine.power()}`
    }
    return null
  },
  installations: async (cluster) => {
    const missing = await missingMachines(cluster)
    if (missing !== null) return missing
    for (const { name, object } of await cluster.group('nodes')) {
      const state = object?.status?.provisioning.state
      if (state !== 'provisioned') return `${name} is ${state ?? 'not registered'}`
    }
    return MISSING.reboots(cluster)
  },
  nodes: async (cluster) => {
    const missing = await missingMachines(cluster)
    if (missing !== null) return missing
    const { items: machines } = await cluster.kube.list('Machine')
    const waiting = machines.find(({ status }) => status?.phase !== 'Running')
    if (waiting) return `the machine ${waiting.metadata.name} is ${waiting.status?.phase ?? 'new'}`
    return (await MISSING.pools(cluster)) ?? (await nodeBehind(cluster))
  },
  pools: async ({ kube }) => {
    const updating = (await kube.list('MachineConfigPool')).items.filter(({ status }) => {
      const is = (type: string): boolean => conditionOf(status?.conditions, type)?.status === 'True'
      return !is('Updated') && !is('Degraded')
    })
    const [first] = updating
    if (!first) return null
    const active = updating.find(({ spec }) => spec.paused !== true)
    if (active) return `the pool ${active.metadata.name} is updating`
    const { name } = first.metadata
    return { paused: `the pool ${name} is paused, so its nodes are not updated: resume it before this step` }
  },
  reboots: async ({ site }) => {
    const booting = site.stage.machines.list().find((machine) => machine.power() === 'on' && !machine.boot())
    return booting ? `${booting.spec.id} is booting` : null
  },
}

/** A node that does not run the configuration of its pool yet, as a sentence. */
async function nodeBehind({ kube }: RehearsedCluster): Promise<string | null> {
  const { items: pools } = await kube.list('MachineConfigPool')
  for (const { metadata } of (await kube.list('Node')).items) {
    const pool = primaryPool(pools, metadata.labels ?? {})
    const wanted = pool?.spec.configuration?.name
    const { [CURRENT_CONFIG]: current, [STATE]: state } = metadata.annotations ?? {}
    if (state === 'Degraded') continue
    if (wanted !== current || state !== 'Done') return `${metadata.name} runs ${current ?? 'no configuration'}`
  }
  return null
}

/** Machines that a set has not made yet, or that have no host, as a sentence. */
async function missingMachines({ kube, site, cloud }: RehearsedCluster): Promise<string | null> {
  const { items: sets } = await kube.list('MachineSet')
  const { items: machines } = await kube.list('Machine')
  const wanted = sets.reduce((sum, { spec }) => sum + spec.replicas, 0)
  const workers = machines.filter(({ metadata }) => metadata.ownerReferences?.some(({ kind }) => kind === 'MachineSet'))
  if (workers.length !== wanted) return `there are ${workers.length} of ${wanted} workers`
  if (cloud !== undefined) {
    const unmade = machines.find(({ metadata }) => site.cloud.imageOf(metadata.name) === undefined)
    return unmade ? `the machine ${unmade.metadata.name} is not made` : null
  }
  const hosts = (await kube.list('BareMetalHost')).items.map(({ spec }) => spec.consumerRef?.name)
  const without = machines.find(({ metadata }) => !hosts.includes(metadata.name))
  return without ? `the machine ${without.metadata.name} has no host` : null
}
