import type { Machine } from '../../../machine/index.js'
import { withCondition } from '../kube/conditions.js'
import type { KubeNode } from '../kube/kinds/core-kinds.js'
import { isRefusal } from '../kube/kube-refusal.js'
import type { ActorParts } from './actor.js'

const KUBELET = 'kubelet'

/** Name of a computer in its cluster: its hostname, or that of its network. */
export function nodeNameOf(machine: Machine): string {
  const own = machine.rootFiles()?.text('/etc/hostname').trim() ?? ''
  return (own || machine.firstBoot()?.hostname || machine.spec.id).toLowerCase()
}

/** Registers the Node object of a computer whose kubelet starts, or brings it up to date. */
export async function registerNode(machine: Machine, { kube, clock, announce }: ActorParts): Promise<string> {
  const name = nodeNameOf(machine)
  const tree = machine.rootFiles()
  const [, labels = ''] = /--node-labels=(\S+)/.exec(tree?.text('/etc/systemd/system/kubelet.service') ?? '') ?? []
  const found = await kube.find('Node', { name })
  const node = found ?? (await created(name, labelsIn(labels), kube))
  if (!found) announce({ actor: KUBELET, does: `registers ${name}`, because: 'its kubelet has started' })
  const release = tree?.text('/usr/lib/os-release') ?? ''
  const [os, version] = ['NAME', 'VERSION'].map(
    (key) => new RegExp(`^${key}="?([^"\n]*)`, 'm').exec(release)?.[1] ?? '',
  )
  await ready(node, kube, clock, {
    osImage: `${os} ${version}`,
    bootID: machine.boot()?.id ?? '',
    architecture: machine.spec.architecture === 'aarch64' ? 'arm64' : 'amd64',
  })
  return name
}

async function created(name: string, labels: Record<string, string>, kube: ActorParts['kube']): Promise<KubeNode> {
  try {
    return await kube.create<'Node'>({ apiVersion: 'v1', kind: 'Node', metadata: { name, labels }, spec: {} })
  } catch (error) {
    if (!isRefusal(error, 409)) throw error
    return kube.get('Node', { name })
  }
}

async function ready(
  node: KubeNode,
  kube: ActorParts['kube'],
  clock: ActorParts['clock'],
  nodeInfo: NonNullable<KubeNode['status']>['nodeInfo'],
): Promise<void> {
  const condition = { type: 'Ready', status: 'True' as const, reason: 'KubeletReady' }
  const message = 'kubelet is posting ready status'
  await inStatus(kube, node.metadata.name, ({ status }) => ({
    conditions: withCondition(status?.conditions, { ...condition, message }, clock),
    nodeInfo: { ...status?.nodeInfo, ...nodeInfo },
  }))
}

/** Marks a node whose kubelet has been silent for 40 s, as the node lifecycle controller does. */
export async function markUnknown(name: string, { kube, clock }: ActorParts): Promise<void> {
  const condition = { type: 'Ready', status: 'Unknown' as const, reason: 'NodeStatusUnknown' }
  const message = 'Kubelet stopped posting node status.'
  await inStatus(kube, name, ({ status }) => ({
    ...status,
    conditions: withCondition(status?.conditions, { ...condition, message }, clock),
  }))
}

/** Changes a status, again when another client has changed the object meanwhile. */
async function inStatus(
  kube: ActorParts['kube'],
  name: string,
  change: (node: KubeNode) => NonNullable<KubeNode['status']>,
): Promise<void> {
  for (;;) {
    const node = await kube.find('Node', { name })
    if (!node) return
    try {
      await kube.updateStatus<'Node'>({ ...node, status: change(node) })
      return
    } catch (error) {
      if (!isRefusal(error, 409)) throw error
    }
  }
}

/** `a=b,c`: a label without a value has an empty one. */
function labelsIn(text: string): Record<string, string> {
  const pairs = text.split(',').filter((part) => part !== '')
  return Object.fromEntries(pairs.map((pair) => [pair.split('=')[0]!, pair.split('=')[1] ?? '']))
}
