import { defined } from '../../../base/runtime/index.js'
import { inspectionRuleSchema, ironicErrors, pythonRepr, formatClientValue } from '../../../base/wire/index.js'
import type { NewFields } from '../../conductor/core/conductor.js'
import type { HandlersOf } from '../call.js'
import { checkRule, storedRule } from '../check-inspection-rule.js'
import { createdAnswer, findResource, listResources, showResource } from '../resource-list.js'
import { patchRecord, patchValues, readForms } from '../resource-patch.js'
import { selectedFields } from '../resource-view.js'

export const inspectionRuleHandlers: HandlersOf<
  | 'inspectionRules.list'
  | 'inspectionRules.create'
  | 'inspectionRules.get'
  | 'inspectionRules.patch'
  | 'inspectionRules.delete'
> = {
  'inspectionRules.list': (call, backend) => {
    const fields = selectedFields('inspection_rule', call.args, call.version)
    // `phase` is ignored, as upstream: there is only one.
    return listResources('inspection_rule', call, backend, { fields, repeated: { detail: call.args.detail } })
  },
  'inspectionRules.get': (call, backend) =>
    showResource('inspection_rule', call, findResource('inspection_rule', backend, call.args.inspection_rule_uuid)),

  'inspectionRules.create': async (call, backend) => {
    const document = call.document
    checkRule(document)
    const { uuid } = readForms(document, { uuid: 'uuid' })
    const fields = {
      ...storedRule(document),
      scope: null,
      ...defined({ uuid: uuid || undefined }),
    } as NewFields<'inspection_rule'>
    return createdAnswer('inspection_rule', call, await backend.conductor.resources.create('inspection_rule', fields))
  },

  'inspectionRules.patch': async (call, backend) => {
    const patch = call.document
    const { uuid } = findResource('inspection_rule', backend, call.args.inspection_rule_uuid)
    const [sensitive] = patchValues(patch, 'sensitive')
    const record = await backend.conductor.resources.update('inspection_rule', uuid, (current) => {
      const { id: _, ...known } = current
      if (sensitive !== undefined && sensitive !== null && !sensitive && current.sensitive)
        throw ironicErrors.patchFailed(pythonRepr(patch), 'Inspection rules cannot have the sensitive flag unset.')
      const document = patchRecord(known, patch, inspectionRuleSchema)
      const named = readForms(document, { uuid: 'uuid' }).uuid
      if (named !== uuid) throw ironicErrors.resourceGone('inspection_rule', formatClientValue(named))
      checkRule(document)
      return { ...storedRule(document), phase: (document.phase as string | null | undefined) ?? null }
    })
    return showResource('inspection_rule', { ...call, args: {} }, record)
  },

  'inspectionRules.delete': async (call, backend) => {
    const { inspection_rule_uuid: uuid } = call.args
    // Without a uuid all rules are removed, as the API reference says; upstream fails with 500.
    if (!uuid) await backend.conductor.resources.removeAll('inspection_rule')
    else
      await backend.conductor.resources.remove('inspection_rule', findResource('inspection_rule', backend, uuid).uuid)
    return {}
  },
}
