import { conditionOf, isTrue } from '../conditions.js'
import { isMembers, isSameJson, type JsonMembers, type KubeJson } from '../kube-json.js'
import type { KindEntry } from '../kinds/kind-entry.js'
import type { Condition } from '../object.js'
import { specOf, type DefinedNames } from './defined-kind.js'

/** On a definition that is deleted, until the last of its objects has gone. */
export const CLEANUP_FINALIZER = 'customresourcecleanup.apiextensions.k8s.io'

/** A definition with the defaults of its kind: apiextensions-apiserver pkg/apis/apiextensions/v1/defaults.go. */
export function completeDefinition(definition: JsonMembers): JsonMembers {
  const { spec } = definition
  if (!isMembers(spec) || !isMembers(spec['names'])) return definition
  const { kind, singular, listKind } = spec['names']
  if (typeof kind !== 'string' || kind === '') return definition
  const names = { ...spec['names'], singular: singular || kind.toLowerCase(), listKind: listKind || `${kind}List` }
  return { ...definition, spec: { ...spec, names, conversion: spec['conversion'] ?? { strategy: 'None' } } }
}

const conditionsIn = ({ status }: JsonMembers): readonly Condition[] =>
  isMembers(status) && Array.isArray(status['conditions']) ? (status['conditions'] as unknown as Condition[]) : []

export const isTrueIn = (definition: JsonMembers, type: string): boolean => isTrue(conditionsIn(definition), type)

/** The names under which a definition is served. */
export const acceptedNamesOf = ({ status }: JsonMembers): DefinedNames =>
  (isMembers(status) ? status['acceptedNames'] : {}) as unknown as DefinedNames

/** A finding about a definition, as a condition of its status. */
interface DefinitionFinding {
  type: string
  status: 'True' | 'False'
  reason: string
  message: string
}

const withFindings = (definition: JsonMembers, findings: readonly DefinitionFinding[], at: string): KubeJson => {
  const before = conditionsIn(definition)
  const changed = findings.map((finding) => {
    const old = conditionOf(before, finding.type)
    return { ...finding, lastTransitionTime: old?.status === finding.status ? old.lastTransitionTime : at }
  })
  const others = before.filter(({ type }) => !findings.some((finding) => finding.type === type))
  return [...changed, ...others] as unknown as KubeJson
}

/**
 * A definition with the status that follows from its names and those of the other kinds of its group:
 * apiextensions-apiserver pkg/controller/status/naming_controller.go.
 */
export function judgedDefinition(definition: JsonMembers, others: readonly KindEntry[], at: string): JsonMembers {
  const { names, versions } = specOf(definition)
  const status = isMembers(definition['status']) ? definition['status'] : {}
  const { accepted, problem } = acceptNames(names, acceptedNamesOf(definition), others)
  const isEstablished = isTrueIn(definition, 'Established') || problem === undefined
  const findings: DefinitionFinding[] = [
    problem === undefined
      ? { type: 'NamesAccepted', status: 'True', reason: 'NoConflicts', message: 'no conflicts found' }
      : { type: 'NamesAccepted', status: 'False', ...problem },
    {
      type: 'Established',
      status: isEstablished ? 'True' : 'False',
      reason: isEstablished ? 'InitialNamesAccepted' : 'NotAccepted',
      message: isEstablished ? 'the initial names have been accepted' : 'not all names are accepted',
    },
  ]
  const stored = Array.isArray(status['storedVersions']) ? (status['storedVersions'] as string[]) : []
  const storage = versions.find((each) => each.storage)!.name
  return {
    ...definition,
    status: {
      ...status,
      acceptedNames: accepted as unknown as JsonMembers,
      conditions: withFindings(definition, findings, at),
      storedVersions: stored.includes(storage) ? stored : [...stored, storage],
    },
  }
}

interface AcceptedNames {
  accepted: Partial<DefinedNames>
  problem: { reason: string; message: string } | undefined
}

function acceptNames(
  wanted: DefinedNames,
  accepted: Partial<DefinedNames>,
  others: readonly KindEntry[],
): AcceptedNames {
  const resources = new Set(others.flatMap(({ plural, singular, shortNames }) => [plural, singular, ...shortNames]))
  const kinds = new Set(others.flatMap(({ kind, listKind }) => [kind, listKind]))
  const next: Record<string, unknown> = { ...accepted }
  let problem: AcceptedNames['problem']
  const accept = (name: keyof DefinedNames, reason: string, taken: ReadonlySet<string>): void => {
    const value = wanted[name]
    if (isSameJson(value, accepted[name])) return
    const own = new Set([accepted[name] ?? []].flat())
    const used = [value ?? []].flat().filter((each) => !own.has(each) && taken.has(each))
    if (used.length === 0) {
      if (value === undefined) delete next[name]
      else next[name] = value
      return
    }
    const sentences = used.map((each) => `${JSON.stringify(each)} is already in use`)
    problem = { reason, message: sentences.length === 1 ? sentences[0]! : `[${sentences.join(', ')}]` }
  }
  accept('plural', 'PluralConflict', resources)
  accept('singular', 'SingularConflict', resources)
  accept('shortNames', 'ShortNamesConflict', resources)
  accept('kind', 'KindConflict', kinds)
  accept('listKind', 'ListKindConflict', kinds)
  if (wanted.categories) next['categories'] = wanted.categories
  return { accepted: next, problem }
}

/** A definition whose objects are being deleted. */
export const terminatingDefinition = (definition: JsonMembers, at: string): JsonMembers => {
  const finding: DefinitionFinding = {
    type: 'Terminating',
    status: 'True',
    reason: 'InstanceDeletionInProgress',
    message: 'CustomResource deletion is in progress',
  }
  const status = isMembers(definition['status']) ? definition['status'] : {}
  return { ...definition, status: { ...status, conditions: withFindings(definition, [finding], at) } }
}
