import { readdir, readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { UserError, type ConfigFile } from '../lab/index.js'

/** What `--config` of an agent names. */
export interface AgentConfigFiles {
  /** The file with options of this program. */
  own: string | undefined
  /** Those in ironic-python-agent's format, later ones over earlier ones. */
  agent: ConfigFile[]
}

/**
 * Tells apart what may be given to an agent: a YAML file with options of ironstage, and any number of files with options
 * of ironic-python-agent, which have sections like `[DEFAULT]`. A folder stands for its `*.conf`, as ironic-python-agent's
 * own `--config-dir` does.
 *
 * @throws UserError (usage) for what cannot be read, and for a second YAML file
 */
export async function agentConfigFiles(named: readonly string[]): Promise<AgentConfigFiles> {
  const files: AgentConfigFiles = { own: undefined, agent: [] }
  for (const path of (await Promise.all(named.map(filesAt))).flat()) {
    const text = await reading(path, () => readFile(path, 'utf8'))
    if (isAgents(path, text)) files.agent.push({ name: path, text })
    else if (files.own === undefined) files.own = path
    else
      throw new UserError('config-file', `${files.own} and ${path} are both files with options of ironstage`, {
        kind: 'usage',
        remedy: 'put them into one; a file for ironic-python-agent begins with a section like [DEFAULT]',
      })
  }
  return files
}

async function filesAt(path: string): Promise<string[]> {
  if (!(await reading(path, () => stat(path))).isDirectory()) return [path]
  const names = await reading(path, () => readdir(path))
  return names
    .filter((name) => name.endsWith('.conf'))
    .sort()
    .map((name) => join(path, name))
}

/** No YAML file of ours begins with a bracket: that would be a list, and options have names. */
function isAgents(path: string, text: string): boolean {
  if (/\.(conf|ini)$/.test(path)) return true
  const first = text.split(/\r?\n/).find((line) => !/^\s*([#;].*)?$/.test(line))
  return first?.startsWith('[') ?? false
}

async function reading<T>(path: string, read: () => Promise<T>): Promise<T> {
  try {
    return await read()
  } catch (cause) {
    throw new UserError('config-file', `the config file ${path} cannot be read`, {
      kind: 'usage',
      remedy: "name a YAML file with options of ironstage, or one in ironic-python-agent's format",
      cause,
    })
  }
}
