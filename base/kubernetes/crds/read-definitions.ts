import { parseAllDocuments } from 'yaml'
import { readNested, UserError } from '../../runtime/index.js'
import { conditionOf } from '../conditions.js'
import { isMembers, type JsonMembers, type KubeJson } from '../kube-json.js'
import type { ObjectStore } from '../object-store.js'
import type { Condition } from '../object.js'
import type { Stored } from '../stored-object.js'

/** Manager of what files define: it is a client's wish, and stays when ironstage's own definitions change. */
const FILE_MANAGER = 'kube-crds'

const DEFINITION = 'CustomResourceDefinition'

/** A definition out of a file. */
export interface FiledDefinition {
  file: string
  definition: JsonMembers
}

/**
 * The definitions in a file of YAML or JSON; what else is in it (a kustomization, a Namespace) is left out.
 *
 * @throws UserError `kube-definition` for what is no YAML
 */
export function definitionsIn(file: string, text: string): FiledDefinition[] {
  const documents = readNested(text, file, (yaml) => parseAllDocuments(yaml, { uniqueKeys: false }))
  return [...documents].flatMap((document) => {
    const [problem] = document.errors
    if (problem)
      throw new UserError('kube-definition', `${file} is no YAML: ${problem.message.split('\n')[0]!}`, {
        kind: 'usage',
      })
    return objectsIn(readNested('', file, () => document.toJS() as KubeJson))
      .filter(({ kind }) => kind === DEFINITION)
      .map((definition) => ({ file, definition }))
  })
}

function objectsIn(value: KubeJson): JsonMembers[] {
  if (!isMembers(value)) return []
  const { items } = value
  return value['kind'] === 'List' && Array.isArray(items) ? (items as KubeJson[]).flatMap(objectsIn) : [value]
}

/**
 * Takes definitions into a store, all of them or none; one that is there already is replaced.
 *
 * @returns a sentence for each that is not served, because its names are those of another kind
 * @throws UserError `kube-definition` with the file and the refusal
 */
export function installDefinitions(store: ObjectStore, definitions: readonly FiledDefinition[]): string[] {
  for (const each of definitions) installDefinition(store, each, true)
  return definitions.flatMap((each) => {
    const { metadata, status } = installDefinition(store, each, false)
    const { conditions } = status as unknown as { conditions: Condition[] }
    const accepted = conditionOf(conditions, 'NamesAccepted')
    return accepted?.status === 'False' ? [`${each.file}: ${metadata.name} is not served: ${accepted.message}`] : []
  })
}

function installDefinition(store: ObjectStore, { file, definition }: FiledDefinition, isDryRun: boolean): Stored {
  try {
    const { name } = isMembers(definition['metadata']) ? definition['metadata'] : {}
    const at = { name: typeof name === 'string' ? name : '' }
    const options = { isDryRun, manager: FILE_MANAGER }
    return store.find(DEFINITION, at)
      ? store.change(DEFINITION, at, () => definition, options)
      : store.create(DEFINITION, definition, options)
  } catch (cause) {
    if (!(cause instanceof UserError)) throw cause
    throw new UserError('kube-definition', `${file}: ${cause.message}`, { kind: 'usage', cause })
  }
}
