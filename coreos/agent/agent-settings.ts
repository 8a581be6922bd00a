import { parseIni, UserError, type ConfigFile } from '../../base/runtime/index.js'
import { splitWords } from './command-words.js'
import type { PodmanCommand } from './podman-command.js'
import { decodeWrittenText, type FileAt } from './written-files.js'

/** Folder from which the agent's image reads settings (its ENTRYPOINT: `--config-dir /etc/ironic-python-agent`). */
const CONFIG_FOLDER = '/etc/ironic-python-agent'

/** Settings in the agent's image itself (ironic-agent-image). Files mounted beside them override them. */
const AGENT_IMAGE_DEFAULTS: ConfigFile = {
  name: '00-defaults.conf',
  text: [
    '[DEFAULT]',
    'debug = True',
    'log_file = /var/log/ironic-python-agent.log',
    'use_stderr = True',
    'collect_lldp = True',
    'inspection_collectors = default,logs',
    'inspection_dhcp_all_interfaces = True',
    '',
  ].join('\n'),
}

/** Whether a path in the container is in the folder of the agent's settings. */
export const isInFolder = (path: string): boolean => path === CONFIG_FOLDER || path.startsWith(`${CONFIG_FOLDER}/`)

const PROXY = /^(https?|no|all)_proxy$/i

/** Variables that set a proxy. */
export const proxiesIn = (environment: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(Object.entries(environment).filter(([name, value]) => PROXY.test(name) && value !== ''))

/** podman passes proxies on to the container, and its own value of a variable that `--env NAME` names without one. */
export function containerEnvironment(
  run: PodmanCommand,
  environment: Readonly<Record<string, string>>,
  files: FileAt,
): Record<string, string> {
  const own = Object.entries(run.environment).map(([name, value]) => [
    name,
    value === null ? (environment[name] ?? '') : value,
  ])
  return {
    ...proxiesIn(environment),
    ...fromEnvironmentFiles(run.environmentFiles, files),
    ...(Object.fromEntries(own) as Record<string, string>),
  }
}

/** Variables from lines of `NAME=value`. A missing file is accepted, as systemd does after a `-` before the path. */
export function fromEnvironmentFiles(paths: readonly string[], files: FileAt): Record<string, string> {
  const lines = paths.flatMap((path) => decodeWrittenText(files(path.replace(/^-/, '')))?.split('\n') ?? [])
  const pairs = lines.flatMap((line) => {
    const [, name, value] = /^\s*([A-Za-z_]\w*)=(.*)$/.exec(line) ?? []
    return name === undefined || value === undefined ? [] : [[name, splitWords(value).join(' ')]]
  })
  return Object.fromEntries(pairs) as Record<string, string>
}

export function agentConfigOf(
  run: PodmanCommand,
  environment: Readonly<Record<string, string>>,
  files: FileAt,
): { configFiles: ConfigFile[]; missing: string[] } {
  const mounts = run.mounts.filter(({ target }) => isInFolder(target))
  const missing = mounts.flatMap(({ source }) => (files(source) === undefined ? [source] : []))
  const mounted = mounts.flatMap(({ source, target }): ConfigFile[] => {
    const text = decodeWrittenText(files(source))
    return text === undefined || !target.endsWith('.conf')
      ? []
      : [{ name: target.slice(CONFIG_FOLDER.length + 1), text }]
  })
  // A mounted folder hides the folder of the image.
  const own = mounts.some(({ target }) => target === CONFIG_FOLDER) ? [] : [AGENT_IMAGE_DEFAULTS]
  // oslo.config reads a folder in the order of names; a file mounted over another one replaces it.
  const inFolder = new Map([...own, ...mounted].map((file) => [file.name, file]))
  const sorted = [...inFolder.values()].toSorted((one, other) => (one.name < other.name ? -1 : 1))
  return {
    configFiles: [
      ...sorted,
      ...asFile('the environment', fromVariables(environment)),
      ...asFile('the command line', fromArguments(run.arguments)),
    ],
    missing,
  }
}

/** Options that oslo.config reads from variables such as `OS_DEFAULT__API_URL`. They override files. */
const fromVariables = (environment: Readonly<Record<string, string>>): [string, string][] =>
  Object.entries(environment).flatMap(([name, value]): [string, string][] => {
    const option = /^OS_DEFAULT__(\w+)$/.exec(name)?.[1]
    return option === undefined ? [] : [[option.toLowerCase(), value]]
  })

/** Options from arguments such as `--api-url URL`. They override everything else; a switch has no value. */
function fromArguments(words: readonly string[]): [string, string][] {
  return words.flatMap((word, index): [string, string][] => {
    const [, name, value] = /^--([a-z][\w-]*)(?:=(.*))?$/s.exec(word) ?? []
    if (name === undefined) return []
    const next = words[index + 1]
    return [[name.replaceAll('-', '_'), value ?? (next === undefined || next.startsWith('--') ? 'True' : next)]]
  })
}

function asFile(name: string, options: readonly [string, string][]): ConfigFile[] {
  const lines = options.map(([option, value]) => `${option} = ${value.replaceAll('\n', ' ')}`)
  return lines.length === 0 ? [] : [{ name, text: ['[DEFAULT]', ...lines, ''].join('\n') }]
}

const INI = { code: 'agent-config-file' as const, example: 'api_url = http://192.0.2.1:6385' }

/** Parses a file that is mounted in many places only once. */
export function optionsOf(configFiles: readonly ConfigFile[]): Record<string, string> {
  const last = new Map(configFiles.toReversed().map(({ text }, index) => [text, configFiles.length - 1 - index]))
  const read = configFiles.filter(({ text }, index) => last.get(text) === index)
  return Object.fromEntries(read.flatMap((file) => [...(readableIni(file)?.get('DEFAULT') ?? [])]))
}

function readableIni(file: ConfigFile): ReturnType<typeof parseIni> | undefined {
  try {
    return parseIni(file, INI)
  } catch (error) {
    // The agent reports the error when it reads the file.
    if (error instanceof UserError) return undefined
    throw error
  }
}
