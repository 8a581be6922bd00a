import { isDeepStrictEqual } from 'node:util'
import { defined } from '../../../../base/runtime/index.js'
import { apiVersionOf } from '../../kube/kinds.js'
import type { KubeMachine, MachineSet } from '../../kube/kinds/machine-kinds.js'
import type { ObjectName } from '../../kube/kube-client.js'
import { runActor, type ActorParts } from '../actor.js'
import { REPLACES_MACHINES } from './machine-api-behaviours.js'
import { MACHINE_FINALIZER, MACHINE_API_OPERATOR } from './machine-api-names.js'

/** Marks a machine that is to go first when its set is scaled down (pkg/controller/machineset/delete_policy.go). */
const DELETE_FIRST = 'machine.openshift.io/delete-machine'

/** Keeps as many machines as each machine set asks for (machine-api-operator 9511961 pkg/controller/machineset). */
export function runMachineSetController(parts: ActorParts): AsyncDisposable {
  const { kube, random, behaviours, announce } = parts

  const reconcile = async (at: ObjectName): Promise<void> => {
    const set = await kube.find('MachineSet', at)
    if (!set || set.metadata.deletionTimestamp !== undefined) return
    const labels = set.spec.selector.matchLabels ?? {}
    // A selector that is empty selects nothing.
    if (Object.keys(labels).length === 0) return
    const labelSelector = Object.entries(labels)
      .map(([key, value]) => `${key}=${value}`)
      .join()
    const namespace = at.namespace ?? ''
    const all = (await kube.list('Machine', { namespace, labelSelector })).items
    const machines = all.filter(({ metadata }) => metadata.deletionTimestamp === undefined)
    const { replicas } = set.spec
    if (behaviours.has(REPLACES_MACHINES)) {
      if (machines.length < replicas) {
        announce({
          actor: MACHINE_API_OPERATOR,
          does: `adds ${formatMachineCount(replicas - machines.length)} to ${at.name}`,
          because: `it asks for ${replicas}, and has ${machines.length}`,
        })
        for (let each = machines.length; each < replicas; each++) await create(set)
      } else if (machines.length > replicas) {
        const going = [...machines].sort(byDeletion).slice(0, machines.length - replicas)
        announce({
          actor: MACHINE_API_OPERATOR,
          does: `removes ${going.map(({ metadata }) => metadata.name).join(' and ')}`,
          because: `${at.name} asks for ${replicas}, and has ${machines.length}`,
        })
        for (const { metadata } of going) await kube.delete('Machine', { name: metadata.name, namespace })
      }
    }
    const now = (await kube.list('Machine', { namespace, labelSelector })).items
    const running = now.filter((machine) => machine.status?.phase === 'Running').length
    const status = { replicas: now.length, readyReplicas: running, availableReplicas: running }
    if (!isDeepStrictEqual(set.status, status)) await kube.updateStatus<'MachineSet'>({ ...set, status })
  }

  const create = async ({ metadata, spec }: MachineSet): Promise<void> => {
    const { name, uid, namespace } = metadata
    await kube.create<'Machine'>({
      apiVersion: apiVersionOf('Machine'),
      kind: 'Machine',
      spec: spec.template.spec,
      metadata: {
        name: `${name}-${suffix()}`,
        ...defined({ namespace }),
        labels: { ...spec.template.metadata?.labels, ...spec.selector.matchLabels },
        finalizers: [MACHINE_FINALIZER],
        ownerReferences: [{ apiVersion: apiVersionOf('MachineSet'), kind: 'MachineSet', name, uid, controller: true }],
      },
    })
  }

  /** Five characters, as Kubernetes appends them to a generateName. */
  const suffix = (): string => [...random.bytes(5)].map((byte) => 'bcdfghjklmnpqrstvwxz2456789'[byte % 27]!).join('')

  return runActor(
    {
      name: `${MACHINE_API_OPERATOR}: machine sets`,
      watches: [
        { kind: 'MachineSet' },
        {
          kind: 'Machine',
          keysOf: async ({ namespace = '' }) =>
            (await kube.list('MachineSet', { namespace })).items.map(({ metadata }) => ({
              name: metadata.name,
              namespace,
            })),
        },
      ],
      reconcile,
    },
    parts,
  )
}

const formatMachineCount = (machines: number): string => (machines === 1 ? 'a machine' : `${machines} machines`)

/** Marked machines first, then those without a node, then the youngest. */
function byDeletion(a: KubeMachine, b: KubeMachine): number {
  const rank = ({ metadata, status }: KubeMachine): number =>
    metadata.annotations?.[DELETE_FIRST] !== undefined ? 0 : status?.nodeRef === undefined ? 1 : 2
  const younger = b.metadata.creationTimestamp.localeCompare(a.metadata.creationTimestamp)
  return rank(a) - rank(b) || younger || a.metadata.name.localeCompare(b.metadata.name)
}
