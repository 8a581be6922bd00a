import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { definitionsIn, installDefinitions, type Kube } from '../../../base/kubernetes/index.js'
import { readNamedText, UserError, type Logger } from '../../../base/runtime/index.js'
import { usageError } from '../usage-error.js'

/** Definitions of `--kube-crds`. */
export type UpDefinitions = ReturnType<typeof definitionsIn>

/**
 * Reads the CustomResourceDefinitions of `--kube-crds`: those of a file, or of a folder with the folders in it.
 *
 * @throws UserError (usage) without `--kube-api`, and for what cannot be read or has no definition
 */
export async function readUpDefinitions(path: string | undefined, port: number | undefined): Promise<UpDefinitions> {
  if (path === undefined) return []
  if (port === undefined)
    throw usageError(
      '--kube-crds has kinds for the API of --kube-api',
      'serve the API with --kube-api PORT, or leave out --kube-crds',
    )
  const definitions: UpDefinitions = []
  for (const file of await definitionFiles(path)) definitions.push(...definitionsIn(file, await readNamedText(file)))
  if (definitions.length > 0) return definitions
  throw usageError(
    `${path} has no CustomResourceDefinition`,
    'name a file or a folder with their YAML, such as config/crd/bases of an operator',
    'kube-definition',
  )
}

async function definitionFiles(path: string): Promise<string[]> {
  try {
    if (!(await stat(path)).isDirectory()) return [path]
    const names = await readdir(path, { recursive: true })
    const files = names.filter((name) => /\.(ya?ml|json)$/.test(name)).sort()
    return files.map((name) => join(path, name))
  } catch (cause) {
    throw new UserError('file-unreadable', `the definitions ${path} cannot be read`, {
      cause,
      kind: 'usage',
      remedy: 'name a YAML file of CustomResourceDefinitions, or a folder of such files',
    })
  }
}

/**
 * Takes them into the API.
 *
 * @throws UserError `kube-definition` for one that is refused
 */
export function useDefinitions(store: Kube['store'], definitions: UpDefinitions, logger: Logger): void {
  for (const sentence of installDefinitions(store, definitions)) logger('warn', sentence)
}
