import { parseIni, UserError, type ConfigFile } from '../../runtime/index.js'
import { splitWords } from './command-words.js'
import type { PodmanCommand } from './podman-command.js'
import { textOf, type FileAt } from './written-files.js'

/** Where the agent's image looks for its settings (its ENTRYPOINT: `--config-dir /etc/ironic-python-agent`). */
const CONFIG_FOLDER = '/etc/ironic-python-agent'

/** What the agent's image brings itself (ironic-agent-image), below everything that is mounted beside it. */
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

/** Whether a path in the container is among the agent's settings. */
export const isInFolder = (path: string): boolean => path === CONFIG_FOLDER || path.startsWith(`${CONFIG_FOLDER}/`)

const PROXY = /^(https?|no|all)_proxy$/i

/** What podman itself goes through. */
export const proxiesIn = (environment: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(Object.entries(environment).filter(([name, value]) => PROXY.test(name) && value !== ''))

/** podman hands proxies on, and what `--env NAME` names without a value. */
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

/** Lines of `NAME=value`; a `-` in front of the path forgives that there is no such file. */
export function fromEnvironmentFiles(paths: readonly string[], files: FileAt): Record<string, string> {
  const lines = paths.flatMap((path) => textOf(files(path.replace(/^-/, '')))?.split('\n') ?? [])
  const pairs = lines.flatMap((line) => {
    const [, name, value] = /^\s*([A-Za-z_]\w*)=(.*)$/.exec(line) ?? []
    return name === undefined || value === undefined ? [] : [[name, splitWords(value).join(' ')]]
  })
  return Object.fromEntries(pairs) as Record<string, string>
}

export function configOf(
  run: PodmanCommand,
  environment: Readonly<Record<string, string>>,
  files: FileAt,
): { configFiles: ConfigFile[]; missing: string[] } {
  const mounts = run.mounts.filter(({ target }) => isInFolder(target))
  const missing = mounts.flatMap(({ source }) => (files(source) === undefined ? [source] : []))
  const mounted = mounts.flatMap(({ source, target }): ConfigFile[] => {
    const text = textOf(files(source))
    return text === undefined || !target.endsWith('.conf')
      ? []
      : [{ name: target.slice(CONFIG_FOLDER.length + 1), text }]
  })
  // A folder that is mounted hides the one of the image.
  const own = mounts.some(({ target }) => target === CONFIG_FOLDER) ? [] : [AGENT_IMAGE_DEFAULTS]
  // oslo.config reads a folder in the order of names; a file mounted over another one takes its place.
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

/** oslo.config takes `OS_DEFAULT__API_URL` from the environment, over files. */
const fromVariables = (environment: Readonly<Record<string, string>>): [string, string][] =>
  Object.entries(environment).flatMap(([name, value]): [string, string][] => {
    const option = /^OS_DEFAULT__(\w+)$/.exec(name)?.[1]
    return option === undefined ? [] : [[option.toLowerCase(), value]]
  })

/** `--api-url URL`, over everything else; a switch has no value. */
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

/** A file that is mounted in many places is read once. */
export function optionsOf(configFiles: readonly ConfigFile[]): Record<string, string> {
  const last = new Map(configFiles.toReversed().map(({ text }, index) => [text, configFiles.length - 1 - index]))
  const read = configFiles.filter(({ text }, index) => last.get(text) === index)
  return Object.fromEntries(read.flatMap((file) => [...(readableIni(file)?.get('DEFAULT') ?? [])]))
}

function readableIni(file: ConfigFile): ReturnType<typeof parseIni> | undefined {
  try {
    return parseIni(file, INI)
  } catch (error) {
    // The agent says it when it reads the file.
    if (error instanceof UserError) return undefined
    throw error
  }
}
