import { defined } from '../../runtime/index.js'
import type { WireResponse } from '../../wire/index.js'
import { jsonPathOf, valuesAt } from '../crds/json-path.js'
import { isMembers, setMember, type JsonMembers, type KubeJson } from '../kube-json.js'
import type { ScalePaths } from '../kinds/kind-entry.js'
import { sentMetadata } from '../object-metadata.js'
import { badRequest, invalidObject, kubeRefusal } from '../refusals.js'
import type { Stored } from '../stored-object.js'
import { objectIn, patchIn } from './bodies.js'
import { jsonAnswer } from './kube-answers.js'
import { isDryRun, methodNotAllowed, objectNameIn, patchedBy, type ResourceRequest } from './resource-call.js'

/** Answers for the scale of an object: apiextensions-apiserver pkg/registry/customresource/etcd.go, ScaleREST. */
export function scaleAnswer(call: ResourceRequest): WireResponse {
  const { request, at, store } = call
  const paths = at.version.scale!
  switch (request.method) {
    case 'GET':
    case 'HEAD':
      return jsonAnswer(200, scaleOf(store.get(at.entry.resource, objectNameIn(at)), paths))
    case 'PUT':
      return changeScale(call, () => objectIn(request))
    case 'PATCH': {
      const { type, patch } = patchIn(request, true)
      if (type === 'apply') throw badRequest('a scale takes no apply patch here: send a merge patch of spec.replicas')
      return changeScale(call, (scale) => patchedBy(type, scale, patch))
    }
    default:
      throw methodNotAllowed()
  }
}

const textAt = (object: Stored, path: string | undefined): KubeJson | undefined =>
  path === undefined ? undefined : valuesAt(object, jsonPathOf(path) ?? [])[0]

function scaleOf(object: Stored, { specReplicasPath, statusReplicasPath, labelSelectorPath }: ScalePaths): JsonMembers {
  const { name, namespace, uid, resourceVersion, creationTimestamp } = object.metadata
  const replicas = textAt(object, specReplicasPath)
  if (replicas === undefined)
    throw kubeRefusal(
      500,
      'InternalError',
      `Internal error occurred: the spec replicas field ${JSON.stringify(specReplicasPath)} does not exist`,
    )
  return {
    kind: 'Scale',
    apiVersion: 'autoscaling/v1',
    metadata: { name, ...defined({ namespace }), uid, resourceVersion, creationTimestamp },
    spec: { replicas },
    status: {
      replicas: textAt(object, statusReplicasPath) ?? 0,
      ...defined({ selector: textAt(object, labelSelectorPath) }),
    },
  }
}

/** Writes the wanted number of replicas, and nothing else. */
function changeScale(call: ResourceRequest, modify: (scale: JsonMembers) => KubeJson): WireResponse {
  const { at, store } = call
  const { entry, version } = at
  const paths = version.scale!
  const options = { isDryRun: isDryRun(call), version: version.name }
  const changed = store.change(
    entry.resource,
    objectNameIn(at),
    (current) => {
      const wanted = modify(scaleOf(current, paths))
      const spec = isMembers(wanted) && isMembers(wanted['spec']) ? wanted['spec'] : {}
      const { replicas = 0 } = spec
      if (typeof replicas !== 'number' || !Number.isInteger(replicas) || replicas < 0)
        throw invalidObject({ ...entry, kind: 'Scale' }, at.name!, [
          {
            field: 'spec.replicas',
            reason: 'FieldValueInvalid',
            value: replicas,
            detail: 'must be greater than or equal to 0',
          },
        ])
      const { resourceVersion = current.metadata.resourceVersion } = isMembers(wanted) ? sentMetadata(wanted) : {}
      const scaled = withValueAt(current, paths.specReplicasPath.split('.').slice(1), replicas)
      return { ...scaled, metadata: { ...current.metadata, resourceVersion } }
    },
    options,
  )
  return jsonAnswer(200, scaleOf(changed, paths))
}

/** A copy with a value at a path of members, which are made where they are missing. */
function withValueAt(object: JsonMembers, [first = '', ...rest]: readonly string[], value: KubeJson): JsonMembers {
  const inner = isMembers(object[first]) ? object[first] : {}
  const copy = { ...object }
  setMember(copy, first, rest.length === 0 ? value : withValueAt(inner, rest, value))
  return copy
}
