import { defined } from '../../../base/runtime/index.js'
import {
  IronicError,
  ironicErrors,
  PATCHABLE,
  pythonRepr,
  runbookSchema,
  runbookStepSchema,
  formatClientValue,
  traitRunbookSchema,
  traitSchema,
  type RunbookRecord,
  type RunbookStep,
  type PatchOperation,
} from '../../../base/wire/index.js'
import type { NewFields } from '../../conductor/core/conductor.js'
import type { Backend, IronicApiCall, HandlersOf } from '../call.js'
import { isLogicalName, isUuid } from '../formats.js'
import { createdAnswer, findResource, listResources, showResource } from '../resource-list.js'
import { checkPatchable, patchRecord, patchValues, readForms, withDefaults } from '../resource-patch.js'
import { selectedFields } from '../resource-view.js'
import { checkDocument } from '../api-schema.js'
import { checkDuplicates, checkPatchedSteps, mergeSteps } from './deploy-template-handlers.js'

const TRAITS = 112
const RUNBOOK_DEFAULTS = { description: null, disable_ramdisk: false, extra: {}, public: false, owner: null }

const storedSteps = (steps: unknown): RunbookStep[] =>
  (steps as RunbookStep[]).map(({ interface: interfaceName, step, args, order }) => ({
    interface: interfaceName,
    step,
    args: args ?? {},
    order: Number(order),
  }))

const unusableOwner = (patch: readonly PatchOperation[]) =>
  ironicErrors.patchFailed(pythonRepr(patch), 'There cannot be an owner for a public runbook')

/** Finds the runbook of a call about traits. An ident that is neither a name nor a uuid is a 400 here, as upstream. */
function findRunbook({ args }: IronicApiCall<{ runbook_ident: string }>, backend: Backend): RunbookRecord {
  const { runbook_ident: ident } = args
  if (!isUuid(ident) && !isLogicalName(ident))
    throw new IronicError(400, `Expected a logical name or UUID but received ${ident}.`)
  return findResource('runbook', backend, ident)
}

export const runbookHandlers: HandlersOf<
  | 'runbooks.list'
  | 'runbooks.create'
  | 'runbooks.get'
  | 'runbooks.patch'
  | 'runbooks.delete'
  | 'runbooks.traits'
  | 'runbooks.traits.put'
  | 'runbooks.traits.delete'
> = {
  'runbooks.list': (call, backend) => {
    const fields = selectedFields('runbook', call.args, call.version)
    // There are no projects here, so only public runbooks belong to the requested one.
    const query = call.args.project ? { where: (runbook: RunbookRecord) => runbook.public } : {}
    return listResources('runbook', call, backend, { query, fields, repeated: { detail: call.args.detail } })
  },
  'runbooks.get': (call, backend) =>
    showResource('runbook', call, findResource('runbook', backend, call.args.runbook_ident)),

  'runbooks.create': async (call, backend) => {
    const document = call.document
    checkDocument(call.version < TRAITS ? traitRunbookSchema : runbookSchema, 'runbook', document)
    checkDuplicates(document.steps as RunbookStep[])
    const { uuid } = readForms(document, { uuid: 'uuid' })
    if (document.owner)
      throw new IronicError(
        400,
        'Cannot create a runbook as a project scoped admin with an owner other than your own project.',
      )
    const fields = {
      ...withDefaults(document, RUNBOOK_DEFAULTS),
      name: document.name,
      steps: storedSteps(document.steps),
      traits: [],
      ...defined({ uuid: uuid || undefined }),
    } as unknown as NewFields<'runbook'>
    return createdAnswer('runbook', call, await backend.conductor.resources.create('runbook', fields))
  },

  'runbooks.patch': async (call, backend) => {
    const patch = call.document
    const allowed = PATCHABLE.runbook.filter((name) => name !== 'description' || call.version >= TRAITS)
    checkPatchable(patch, allowed)
    const { uuid } = findResource('runbook', backend, call.args.runbook_ident)
    const [owner] = patchValues(patch, 'owner')
    const publics = patchValues(patch, 'public')
    const record = await backend.conductor.resources.update('runbook', uuid, (current) => {
      if (owner !== undefined && ((current.public && publics.length === 0) || publics[0])) throw unusableOwner(patch)
      const before = publics.length > 0 ? { ...current, owner: null } : current
      checkPatchedSteps(before, patch, runbookStepSchema)
      const { name, steps, ...rest } = patchRecord(before, patch, runbookSchema)
      checkDuplicates(steps as RunbookStep[])
      return {
        ...withDefaults(rest, RUNBOOK_DEFAULTS),
        name: formatClientValue(name),
        steps: mergeSteps(current.steps, storedSteps(steps)),
      }
    })
    return showResource('runbook', { ...call, args: {} }, record)
  },

  'runbooks.delete': async (call, backend) => {
    const { uuid } = findResource('runbook', backend, call.args.runbook_ident)
    await backend.conductor.resources.remove('runbook', uuid)
    return {}
  },

  'runbooks.traits': (call, backend) => ({
    body: { traits: findRunbook(call, backend).traits },
  }),

  'runbooks.traits.put': async (call, backend) => {
    const { runbook_ident: ident, trait } = call.args
    if (trait) checkDocument(traitSchema, 'trait', trait)
    const { uuid } = findRunbook(call, backend)
    const { traits } = call.document
    if (Boolean(trait) === (traits !== undefined))
      throw new IronicError(
        400,
        'A single runbook trait may be added via PUT /v1/runbooks/<runbook identifier>/traits/<trait> with no body, or all runbook traits may be replaced via PUT /v1/runbooks/<runbook identifier>/traits with the list of traits specified in the request body.',
      )
    const { resources } = backend.conductor
    await resources.update('runbook', uuid, (current) => ({
      traits: [...new Set(trait ? [...current.traits, trait] : traits)].sort(),
    }))
    return trait ? { location: call.links.href(`runbooks/${ident}/traits/${trait}`) } : {}
  },

  'runbooks.traits.delete': async (call, backend) => {
    const { trait } = call.args
    const { uuid } = findRunbook(call, backend)
    await backend.conductor.resources.update('runbook', uuid, ({ traits }) => ({
      traits: trait ? traits.filter((each) => each !== trait) : [],
    }))
    return {}
  },
}
