import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { ConfigFile } from '../../../base/runtime/index.js'
import { UserError, readNamedText } from '../../../base/runtime/index.js'
import { usageError } from '../usage-error.js'

/** Files that `--config` names. */
export interface ConfigFiles {
  /** The file with options of this program. */
  own: string | undefined
  /** Files in the format of OpenStack's services; later files override earlier ones. */
  ini: ConfigFile[]
}

/**
 * Sorts the files of a command that plays a program of OpenStack: a YAML file with options of ironstage, and
 * any number of files with options of that part, `of`, which have sections like `[DEFAULT]`. A folder stands for its
 * `*.conf`, as with its own `--config-dir`.
 *
 * @throws UserError (usage) for a file that cannot be read, and for a second YAML file
 */
export async function configFiles(named: readonly string[], of: string): Promise<ConfigFiles> {
  const files: ConfigFiles = { own: undefined, ini: [] }
  for (const path of (await Promise.all(named.map((each) => filesAt(each, of)))).flat()) {
    const text = await whileReading(path, of, () => readNamedText(path))
    if (isIni(path, text)) files.ini.push({ name: path, text })
    else if (files.own === undefined) files.own = path
    else
      throw usageError(
        `${files.own} and ${path} are both files with options of ironstage`,
        `put them into one; a file for ${of} begins with a section like [DEFAULT]`,
        'config-file',
      )
  }
  return files
}

async function filesAt(path: string, of: string): Promise<string[]> {
  if (!(await whileReading(path, of, () => stat(path))).isDirectory()) return [path]
  const names = await whileReading(path, of, () => readdir(path))
  return names
    .filter((name) => name.endsWith('.conf'))
    .sort()
    .map((name) => join(path, name))
}

/** A YAML file of options never begins with a bracket: that would be a list, and options have names. */
function isIni(path: string, text: string): boolean {
  if (/\.(conf|ini)$/.test(path)) return true
  const first = text.split(/\r?\n/).find((line) => !/^\s*([#;].*)?$/.test(line))
  return first?.startsWith('[') ?? false
}

async function whileReading<T>(path: string, of: string, read: () => Promise<T>): Promise<T> {
  try {
    return await read()
  } catch (cause) {
    throw new UserError('config-file', `the config file ${path} cannot be read`, {
      kind: 'usage',
      remedy: `name a YAML file with options of ironstage, or one in the format of ${of}`,
      cause,
    })
  }
}
