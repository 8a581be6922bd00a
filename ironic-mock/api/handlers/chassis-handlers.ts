import { defined } from '../../../base/runtime/index.js'
import {
  chassisSchema,
  IronicError,
  ironicErrors,
  NODE_LIST_FIELDS,
  PATCHABLE,
  SINCE,
} from '../../../base/wire/index.js'
import type { NewFields } from '../../conductor/core/conductor.js'
import type { IronicApiCall, HandlersOf } from '../call.js'
import { readSelection } from '../listing.js'
import { createdAnswer, findResource, listResources, showResource } from '../resource-list.js'
import { checkPatchable, patchRecord, readForms, withDefaults } from '../resource-patch.js'
import { selectedFields } from '../resource-view.js'
import { listNodes } from './node-handlers.js'

const CHASSIS_DEFAULTS = { description: null, extra: {} }

function refuseFieldsBefore8({ version, args }: IronicApiCall<{ fields?: string[] | null }>): void {
  if (args.fields && version < SINCE.fieldsQuery) throw ironicErrors.notAcceptable()
}

export const chassisHandlers: HandlersOf<
  | 'chassis.list'
  | 'chassis.detail'
  | 'chassis.create'
  | 'chassis.get'
  | 'chassis.patch'
  | 'chassis.delete'
  | 'chassis.nodes'
  | 'chassis.nodes.detail'
> = {
  'chassis.list': (call, backend) => {
    refuseFieldsBefore8(call)
    const fields = selectedFields('chassis', call.args, call.version)
    return listResources('chassis', call, backend, { fields, repeated: { detail: call.args.detail } })
  },
  'chassis.detail': (call, backend) =>
    listResources('chassis', call, backend, { fields: undefined, url: 'chassis/detail' }),
  'chassis.get': (call, backend) => {
    refuseFieldsBefore8(call)
    return showResource('chassis', call, findResource('chassis', backend, call.args.chassis_uuid))
  },

  'chassis.create': async (call, backend) => {
    const document = readForms(call.document, { uuid: 'uuid' })
    const fields = { ...withDefaults(document, CHASSIS_DEFAULTS), ...defined({ uuid: document.uuid || undefined }) }
    return createdAnswer(
      'chassis',
      call,
      await backend.conductor.resources.create('chassis', fields as NewFields<'chassis'>),
    )
  },

  'chassis.patch': async (call, backend) => {
    const patch = call.document
    checkPatchable(patch, PATCHABLE.chassis)
    const { uuid } = findResource('chassis', backend, call.args.chassis_uuid)
    const record = await backend.conductor.resources.update('chassis', uuid, (current) => {
      const document = readForms(patchRecord(current, patch, chassisSchema), { uuid: 'uuid' })
      if (document.uuid !== uuid) throw new IronicError(400, 'Cannot overwrite UUID for an existing Chassis.')
      return withDefaults(document, CHASSIS_DEFAULTS)
    })
    return showResource('chassis', { ...call, args: {} }, record)
  },

  'chassis.delete': async (call, backend) => {
    const { uuid } = findResource('chassis', backend, call.args.chassis_uuid)
    await backend.conductor.resources.remove('chassis', uuid)
    return {}
  },

  'chassis.nodes': (call, backend) =>
    listNodes(call, backend, 'nodes', readSelection('node', call.args, call.version, NODE_LIST_FIELDS)),
  'chassis.nodes.detail': (call, backend) => listNodes(call, backend, 'nodes/detail', undefined),
}
