import { KubeRefusal, type ObjectName, type StoredObject } from '../../../base/kubernetes/index.js'
import { defined } from '../../../base/runtime/index.js'
import { kindNamed, type NamedKind } from './kind-names.js'
import { MACHINE_API_NAMESPACE, type RehearsedCluster } from './rehearsed-cluster.js'

/** Where an object is: without a namespace in that of the machine API, where hosts and machines are. */
export const objectAt = ({ isNamespaced }: NamedKind, { name, namespace }: ObjectName): ObjectName => ({
  name,
  ...defined({ namespace: isNamespaced ? (namespace ?? MACHINE_API_NAMESPACE) : undefined }),
})

/** `baremetalhost/host-1` */
export const entryNamed = ({ singular }: NamedKind, { name }: ObjectName): string => `${singular}/${name}`

/** An object by `KIND/NAME`; undefined where there is none. */
export function objectNamed({ objects }: RehearsedCluster, reference: string): StoredObject | undefined {
  const [kind = '', name = ''] = reference.split('/')
  const entry = kindNamed(objects.kinds, kind)
  return entry && objects.find(entry.resource, objectAt(entry, { name }))
}

/** The sentence with which the API refuses to delete an object, `KIND/NAME`; undefined where it does not. */
export function deletionRefusal({ objects }: RehearsedCluster, reference: string): string | undefined {
  const [kind = '', name = ''] = reference.split('/')
  const entry = kindNamed(objects.kinds, kind)
  if (!entry) return `there is no kind ${kind}`
  try {
    objects.delete(entry.resource, objectAt(entry, { name }), { isDryRun: true })
    return undefined
  } catch (error) {
    if (error instanceof KubeRefusal) return error.message
    throw error
  }
}

/** Events about an object, in their order. */
export function eventsAbout({ objects }: RehearsedCluster, kind: string, name: string): StoredObject[] {
  const known = kindNamed(objects.kinds, kind)
  return objects.list('Event').filter((event) => {
    const { involvedObject } = event as StoredObject & { involvedObject?: { kind?: string; name?: string } }
    return involvedObject?.kind === (known?.kind ?? kind) && involvedObject.name === name
  })
}
