import { isMembers, type JsonMembers } from './kube-json.js'

/** Namespaces that every cluster has, and that stay: apiserver pkg/admission/plugin/namespace/lifecycle. */
export const SYSTEM_NAMESPACES: readonly string[] = ['default', 'kube-node-lease', 'kube-public', 'kube-system']
export const LASTING_NAMESPACES: ReadonlySet<string> = new Set(['default', 'kube-public', 'kube-system'])

/** A namespace as the API keeps it: with its name as a label, and a phase that follows from whether it has been deleted. */
export function completeNamespace(object: JsonMembers): JsonMembers {
  const metadata = isMembers(object['metadata']) ? object['metadata'] : {}
  const labels = isMembers(metadata['labels']) ? metadata['labels'] : {}
  const spec = isMembers(object['spec']) ? object['spec'] : {}
  return {
    ...object,
    metadata: { ...metadata, labels: { ...labels, 'kubernetes.io/metadata.name': metadata['name'] ?? '' } },
    spec: { finalizers: ['kubernetes'], ...spec },
    status: { phase: metadata['deletionTimestamp'] === undefined ? 'Active' : 'Terminating' },
  }
}
