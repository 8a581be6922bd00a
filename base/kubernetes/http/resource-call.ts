import { defined } from '../../runtime/index.js'
import type { WireRequest } from '../../wire/index.js'
import type { KubeJson, JsonMembers } from '../kube-json.js'
import type { ObjectStore } from '../object-store.js'
import { jsonPatch, mergePatch, PatchProblem } from '../patches.js'
import { kubeRefusal } from '../refusals.js'
import type { PatchType } from './bodies.js'
import type { ResourcePath } from './kube-paths.js'
import { strategicPatch } from './strategic.js'

/** A request for a collection or an object. */
export interface ResourceRequest {
  request: WireRequest
  at: ResourcePath
  query: URLSearchParams
  store: ObjectStore
  /** In milliseconds since the epoch, for ages. */
  now: () => number
}

export const objectNameIn = ({ name = '', namespace }: ResourcePath) => ({ name, ...defined({ namespace }) })

export const isDryRun = ({ query }: ResourceRequest): boolean => query.getAll('dryRun').includes('All')

export const methodNotAllowed = () =>
  kubeRefusal(405, 'MethodNotAllowed', 'the server does not allow this method on the requested resource', {})

/** Makes of an object what a patch of a type asks for. */
export function patchedBy(type: Exclude<PatchType, 'apply'>, present: JsonMembers, changes: KubeJson): KubeJson {
  switch (type) {
    case 'json':
      return patchedByOperations(present, changes)
    case 'merge':
      return mergePatch(present, changes)
    case 'strategic':
      return strategicPatch(present, changes)
  }
}

function patchedByOperations(present: JsonMembers, operations: KubeJson): KubeJson {
  try {
    return jsonPatch(present, operations)
  } catch (error) {
    if (!(error instanceof PatchProblem)) throw error
    throw kubeRefusal(422, 'Invalid', 'the server rejected our request due to an error in our request', {
      causes: [{ reason: 'UnexpectedServerResponse', message: error.message }],
    })
  }
}
