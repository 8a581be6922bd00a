import { defined } from '../../../base/runtime/index.js'
import {
  deployTemplateSchema,
  IronicError,
  PATCHABLE,
  templateStepSchema,
  formatClientValue,
  type DeployTemplateStep,
  type JsonObject,
  type JsonSchema,
  type PatchOperation,
} from '../../../base/wire/index.js'
import type { NewFields } from '../../conductor/core/conductor.js'
import type { HandlersOf } from '../call.js'
import { applyPatch } from '../json-patch.js'
import { createdAnswer, findResource, listResources, showResource } from '../resource-list.js'
import { checkPatchable, patchRecord, readForms } from '../resource-patch.js'
import { selectedFields } from '../resource-view.js'
import { checkDocument } from '../api-schema.js'

interface StepReference {
  interface: string
  step: string
}

/** Refuses repeated steps; upstream's sentence says template for a runbook too. */
export function checkDuplicates(steps: readonly StepReference[]): void {
  const names = steps.map((step) => `interface: ${step.interface}, step: ${step.step}`)
  const twice = new Set(names.filter((name, index) => names.indexOf(name) !== index))
  if (twice.size > 0)
    throw new IronicError(
      400,
      `Deploy template invalid: Duplicate deploy steps. A template cannot have multiple deploy steps with the same interface and step. Duplicates: ${[...twice].join('; ')}.`,
    )
}

/** Checks each patched step against its own schema first. */
export function checkPatchedSteps(record: object, patch: readonly PatchOperation[], schema: JsonSchema): void {
  const { steps } = applyPatch(record as JsonObject, patch)
  if (!Array.isArray(steps)) return
  for (const step of steps as unknown[]) {
    const known = Object.keys(schema.properties as JsonObject)
    const shown =
      step !== null && typeof step === 'object'
        ? Object.fromEntries(Object.entries(step).filter(([name]) => known.includes(name)))
        : step
    checkDocument(schema, 'patch', shown)
  }
}

/** Orders patched steps as upstream does: the remaining old ones first, then the new ones. */
export function mergeSteps<Step>(before: readonly Step[], after: readonly Step[]): Step[] {
  const text = (step: Step) => JSON.stringify(step)
  const known = before.map(text)
  const wanted = after.map(text)
  return [
    ...before.filter((step) => wanted.includes(text(step))),
    ...after.filter((step) => !known.includes(text(step))),
  ]
}

const storedSteps = (steps: unknown): DeployTemplateStep[] =>
  (steps as DeployTemplateStep[]).map(({ interface: interfaceName, step, args, priority }) => ({
    interface: interfaceName,
    step,
    args,
    priority: Number(priority),
  }))

export const deployTemplateHandlers: HandlersOf<
  | 'deployTemplates.list'
  | 'deployTemplates.create'
  | 'deployTemplates.get'
  | 'deployTemplates.patch'
  | 'deployTemplates.delete'
> = {
  'deployTemplates.list': (call, backend) => {
    const fields = selectedFields('deploy_template', call.args, call.version)
    return listResources('deploy_template', call, backend, { fields, repeated: { detail: call.args.detail } })
  },
  'deployTemplates.get': (call, backend) =>
    showResource('deploy_template', call, findResource('deploy_template', backend, call.args.template_ident)),

  'deployTemplates.create': async (call, backend) => {
    const document = call.document
    checkDuplicates(document.steps as StepReference[])
    const { uuid, name, extra, steps } = readForms(document, { uuid: 'uuid' })
    const fields = { name, extra: extra ?? {}, steps: storedSteps(steps), ...defined({ uuid: uuid || undefined }) }
    const record = await backend.conductor.resources.create(
      'deploy_template',
      fields as unknown as NewFields<'deploy_template'>,
    )
    return createdAnswer('deploy_template', call, record)
  },

  'deployTemplates.patch': async (call, backend) => {
    const patch = call.document
    checkPatchable(patch, [...PATCHABLE.deploy_template, 'description'])
    const { uuid } = findResource('deploy_template', backend, call.args.template_ident)
    const record = await backend.conductor.resources.update('deploy_template', uuid, (current) => {
      checkPatchedSteps(current, patch, templateStepSchema)
      const { name, extra, steps } = patchRecord(current, patch, deployTemplateSchema)
      checkDuplicates(steps as StepReference[])
      return {
        name: formatClientValue(name),
        extra: (extra as JsonObject | null) ?? {},
        steps: mergeSteps(current.steps, storedSteps(steps)),
      }
    })
    return showResource('deploy_template', { ...call, args: {} }, record)
  },

  'deployTemplates.delete': async (call, backend) => {
    const { uuid } = findResource('deploy_template', backend, call.args.template_ident)
    await backend.conductor.resources.remove('deploy_template', uuid)
    return {}
  },
}
