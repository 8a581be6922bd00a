import { defined } from '../../../base/runtime/index.js'
import {
  IronicError,
  PATCHABLE,
  RESOURCE_FIELDS,
  formatClientValue,
  volumeConnectorSchema,
  volumeTargetSchema,
  type JsonObject,
  type PatchOperation,
  type JsonSchema,
} from '../../../base/wire/index.js'
import type { NewFields } from '../../conductor/core/conductor.js'
import type { ResourcePatch } from '../../store/store.js'
import type { Backend, IronicApiCall, HandlersOf } from '../call.js'
import { findCallNode } from '../nodes/find-node.js'
import { isUuid } from '../formats.js'
import type { Links } from '../api-links.js'
import type { PagingArgs } from '../listing.js'
import { createdAnswer, findResource, listResources, nodeOr, showResource } from '../resource-list.js'
import { checkPatchable, patchRecord, patchValues, readForms, withDefaults } from '../resource-patch.js'
import { selectedFields } from '../resource-view.js'
import { keepNode, linkedNode } from './portgroup-handlers.js'

type VolumeKind = 'volume_connector' | 'volume_target'
const VOLUME_SCHEMAS: Readonly<Record<VolumeKind, JsonSchema>> = {
  volume_connector: volumeConnectorSchema,
  volume_target: volumeTargetSchema,
}
const OPTIONAL: Readonly<Record<VolumeKind, JsonObject>> = {
  volume_connector: { extra: {} },
  volume_target: { extra: {}, properties: {} },
}

type VolumeListArgs = PagingArgs & { node?: string | null; fields?: string[] | null; detail?: boolean | null }

function listVolumes(kind: VolumeKind, call: IronicApiCall<VolumeListArgs>, backend: Backend, node = call.args.node) {
  const query = node ? { node_uuid: nodeOr(404, backend, node).uuid } : {}
  const fields = selectedFields(kind, call.args, call.version)
  return listResources(kind, call, backend, { query, fields, repeated: { detail: call.args.detail || null } })
}

async function addVolume(kind: VolumeKind, call: IronicApiCall<object, JsonObject>, backend: Backend) {
  const document = readForms(call.document, { node_uuid: 'uuid', uuid: 'uuid' })
  const node = backend.store.records.nodes.get(formatClientValue(document.node_uuid))?.record
  if (!node)
    throw new IronicError(
      400,
      `Invalid input for field/attribute node_uuid. Value: '${formatClientValue(document.node_uuid)}'. `,
    )
  const { uuid, ...fields }: JsonObject = {
    ...document,
    ...withDefaults(document, OPTIONAL[kind]),
    node_uuid: node.uuid,
    node_id: node.id,
  }
  const record = { ...fields, ...defined({ uuid: uuid || undefined }) } as unknown as NewFields<VolumeKind>
  return createdAnswer(kind, call, await backend.conductor.resources.create(kind, record as never))
}

async function patchVolume(
  kind: VolumeKind,
  call: IronicApiCall<object, PatchOperation[]>,
  backend: Backend,
  uuid: string,
) {
  findResource(kind, backend, uuid)
  const patch = call.document
  checkPatchable(patch, PATCHABLE[kind])
  const targets = patchValues(patch, 'node_uuid')
  for (const target of targets)
    if (!isUuid(formatClientValue(target)))
      throw new IronicError(400, `Expected a UUID for node_uuid, but received ${formatClientValue(target)}.`)
  const moved = targets.length > 0 ? linkedNode(backend, targets[0]) : undefined
  const record = await backend.conductor.resources.update(kind, uuid, (current) => {
    const operations = patch.map((operation) => keepNode(operation, current.node_uuid))
    const { uuid: _, node_uuid: __, ...document } = patchRecord(current, operations, VOLUME_SCHEMAS[kind])
    const fields = { ...document, ...withDefaults(document, OPTIONAL[kind]) }
    return { ...fields, ...(moved ? { node_uuid: moved.uuid, node_id: moved.id } : {}) } as ResourcePatch<VolumeKind>
  })
  return showResource(kind, { ...call, args: {} }, record)
}

async function removeVolume(kind: VolumeKind, backend: Backend, uuid: string) {
  await backend.conductor.resources.remove(kind, findResource(kind, backend, uuid).uuid)
  return {}
}

const roots = (links: Links, path: string) => ({
  body: {
    links: links.pair(path),
    connectors: links.pair(`${path}${RESOURCE_FIELDS.volume_connector.plural}`),
    targets: links.pair(`${path}${RESOURCE_FIELDS.volume_target.plural}`),
  },
})

/** Handlers of volumes, which are stored only: no machine boots from a volume. */
export const volumeHandlers: HandlersOf<
  | 'volume'
  | 'nodes.volume'
  | 'volume.connectors.list'
  | 'nodes.volume.connectors'
  | 'volume.connectors.create'
  | 'volume.connectors.get'
  | 'volume.connectors.patch'
  | 'volume.connectors.delete'
  | 'volume.targets.list'
  | 'nodes.volume.targets'
  | 'volume.targets.create'
  | 'volume.targets.get'
  | 'volume.targets.patch'
  | 'volume.targets.delete'
> = {
  volume: ({ links }) => roots(links, 'volume/'),
  'nodes.volume': ({ links, args }) => roots(links, `nodes/${args.node_ident}/volume/`),

  'volume.connectors.list': (call, backend) => listVolumes('volume_connector', call, backend),
  // Upstream finds a node here by its uuid only; a difference on purpose.
  'nodes.volume.connectors': async (call, backend) =>
    listVolumes('volume_connector', call, backend, findCallNode(call, backend, call.args.node_ident).uuid),
  'volume.connectors.create': (call, backend) => addVolume('volume_connector', call, backend),
  'volume.connectors.get': (call, backend) =>
    showResource('volume_connector', call, findResource('volume_connector', backend, call.args.connector_uuid)),
  'volume.connectors.patch': (call, backend) =>
    patchVolume('volume_connector', call, backend, call.args.connector_uuid),
  'volume.connectors.delete': (call, backend) => removeVolume('volume_connector', backend, call.args.connector_uuid),

  'volume.targets.list': (call, backend) => listVolumes('volume_target', call, backend),
  'nodes.volume.targets': async (call, backend) =>
    listVolumes('volume_target', call, backend, findCallNode(call, backend, call.args.node_ident).uuid),
  'volume.targets.create': (call, backend) => addVolume('volume_target', call, backend),
  'volume.targets.get': (call, backend) =>
    showResource('volume_target', call, findResource('volume_target', backend, call.args.target_uuid)),
  'volume.targets.patch': (call, backend) => patchVolume('volume_target', call, backend, call.args.target_uuid),
  'volume.targets.delete': (call, backend) => removeVolume('volume_target', backend, call.args.target_uuid),
}
