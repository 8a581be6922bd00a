import { isMembers, type JsonMembers, type KubeJson } from '../kube-json.js'
import { KUBE_KINDS, type KubeKind } from '../kinds.js'
import type { FieldError } from '../refusals.js'
import type { CrdSchema } from './crd-schemas.js'

const text: CrdSchema = { type: 'string' }

/** As much of a definition as is read here: apiextensions-apiserver pkg/apis/apiextensions/v1. */
export const DEFINITION_SCHEMA: CrdSchema = {
  type: 'object',
  required: ['spec'],
  properties: {
    spec: {
      type: 'object',
      required: ['group', 'names', 'scope', 'versions'],
      properties: {
        group: text,
        scope: { type: 'string', enum: ['Cluster', 'Namespaced'] },
        names: { type: 'object', required: ['kind', 'plural'], properties: { kind: text, plural: text } },
        versions: {
          type: 'array',
          items: {
            type: 'object',
            required: ['name', 'served', 'storage'],
            properties: { name: text, served: { type: 'boolean' }, storage: { type: 'boolean' } },
          },
        },
      },
    },
  },
}

const textIn = (value: KubeJson | undefined, name: string): string => {
  const member = isMembers(value) ? value[name] : undefined
  return typeof member === 'string' ? member : ''
}

interface DefinitionNames {
  name: string
  group: string
  kind: string
  plural: string
  scope: string
  versions: readonly string[]
}

function namesIn({ metadata, spec }: JsonMembers): DefinitionNames {
  const { names, versions } = isMembers(spec) ? spec : {}
  return {
    name: textIn(metadata, 'name'),
    group: textIn(spec, 'group'),
    kind: textIn(names, 'kind'),
    plural: textIn(names, 'plural'),
    scope: textIn(spec, 'scope'),
    versions: Array.isArray(versions) ? (versions as KubeJson[]).map((each) => textIn(each, 'name')) : [],
  }
}

/** Errors of a definition that the schema does not know: its name, and kinds that the API does not bring. */
export function definitionErrors(object: JsonMembers): FieldError[] {
  const names = namesIn(object)
  const { name, group, kind, plural } = names
  if (group === '' || plural === '') return []
  if (name !== `${plural}.${group}`)
    return [
      {
        field: 'metadata.name',
        reason: 'FieldValueInvalid',
        value: name,
        detail: 'must be spec.names.plural+"."+spec.group',
      },
    ]
  if (isBrought(names)) return []
  return [
    {
      field: 'spec.names.kind',
      reason: 'FieldValueInvalid',
      value: kind,
      detail:
        `this API serves the kinds that it brings, and ${kind} of ${group} (${names.versions.join(', ')}) is none of them; ` +
        'kubectl api-resources lists them',
    },
  ]
}

function isBrought({ group, kind, plural, scope, versions }: DefinitionNames): boolean {
  if (!Object.hasOwn(KUBE_KINDS, kind)) return false
  const own = KUBE_KINDS[kind as KubeKind]
  const isSame = own.isCustom && own.group === group && own.plural === plural && versions.includes(own.version)
  return isSame && own.isNamespaced === (scope === 'Namespaced')
}

/** Told to who sends a definition. */
export const definitionWarning = (object: JsonMembers): string =>
  `${namesIn(object).kind} is served by the definition that this API brings: the schema of this one has no effect`

/** A definition with the status of one that is in force. */
export function establishedDefinition(object: JsonMembers, at: string): JsonMembers {
  const { spec, status } = object
  if (isMembers(status) && Array.isArray(status['conditions'])) return object
  const condition = (type: string, reason: string, message: string) => ({
    type,
    status: 'True',
    reason,
    message,
    lastTransitionTime: at,
  })
  const versions = isMembers(spec) && Array.isArray(spec['versions']) ? (spec['versions'] as KubeJson[]) : []
  const stored = versions.filter((each) => isMembers(each) && each['storage'] === true)
  return {
    ...object,
    status: {
      acceptedNames: isMembers(spec) && isMembers(spec['names']) ? spec['names'] : {},
      conditions: [
        condition('NamesAccepted', 'NoConflicts', 'no conflicts found'),
        condition('Established', 'InitialNamesAccepted', 'the initial names have been accepted'),
      ],
      storedVersions: stored.map((each) => textIn(each, 'name')),
    },
  }
}
