import { parseIni, UserError, type ConfigFile } from '../../runtime/index.js'
import type { SpecConfig, SpecUnit } from '../spec/config-types.js'
import { commandWords, environmentOf, splitWords } from './command-words.js'
import { imageName, podmanCommand, type PodmanCommand } from './podman-command.js'
import { lastOf, timeSpan, unitSettings, type UnitSettings } from './unit-settings.js'
import { writtenFiles, type FileAt } from './written-files.js'

/** How systemd goes on when a service has failed. */
export interface RestartRule {
  /** `no`, `on-failure`, `always` ... */
  when: string
  /** Milliseconds from the failure to the next try. */
  delay: number
  /** So many starts within so many milliseconds, then never again; null for no end. */
  limit: { starts: number; within: number } | null
}

/** What has to be in the machine's container storage before the agent can run. */
export interface ContainerPull {
  /** By its whole name where the unit says it. */
  image: string
  /** Whether the unit pulls it by a command of its own, before the one that runs it. */
  before: boolean
  /** The pull secret's path on the host; null when nobody named one. */
  authFile: string | null
  /** False for a registry whose certificate is not looked at. */
  tlsVerify: boolean
  /** Proxies that podman goes through, as in the unit: `HTTPS_PROXY` ... */
  proxies: Readonly<Record<string, string>>
}

/** What a live CoreOS starts because its Ignition config says so. */
export interface AgentOnCoreos {
  /** `ironic-agent.service` */
  unit: string
  /** As `podman run` names it. */
  image: string
  pull: ContainerPull
  /** Settings of the agent, later files over earlier ones, all of them over the kernel's command line. */
  configFiles: readonly ConfigFile[]
  /** The same, as it is written there: `api_url`, `inspection_callback_url`, `insecure` ... Without those of a file that no agent could read. */
  options: Readonly<Record<string, string>>
  /** Of the agent's process: `IPA_COREOS_IP_OPTIONS`, `IPA_COREOS_COPY_NETWORK`, `IPA_DEFAULT_HOSTNAME` ... */
  environment: Readonly<Record<string, string>>
  /** Files of the host that the container cannot do without, and that are not there: podman does not start it then. */
  missingFiles: readonly string[]
  restart: RestartRule
}

/** Where the agent's image looks for its settings (its ENTRYPOINT: `--config-dir /etc/ironic-python-agent`). */
const CONFIG_FOLDER = '/etc/ironic-python-agent'

/** What the agent's image brings itself (ironic-agent-image), below everything that is mounted beside it. */
export const AGENT_IMAGE_DEFAULTS: ConfigFile = {
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

/**
 * The agent that a live CoreOS with this config starts: read from the text of its units and files, whoever wrote them.
 * Nothing of ours marks it: an address that is wrong in there is wrong.
 *
 * @param config with everything merged that it refers to (`renderIgnition`)
 * @param files how to look up the host's files; those that the config writes itself when left out
 * @returns undefined when no enabled unit runs an agent
 *
 * @example
 * const { config } = await renderIgnition(bytes, fetch)
 * const agent = agentOf(config)
 * if (agent) startAgent({ configFiles: agent.configFiles, environment: agent.environment, ... })
 */
export function agentOf(config: SpecConfig, files: FileAt = writtenFiles(config)): AgentOnCoreos | undefined {
  for (const unit of config.systemd?.units ?? []) {
    const found = agentIn(unit, files)
    if (found) return found
  }
  return undefined
}

function agentIn(unit: SpecUnit, files: FileAt): AgentOnCoreos | undefined {
  const name = unit.name ?? ''
  if (!name.endsWith('.service') || unit.enabled !== true || unit.mask === true) return undefined
  const settings = unitSettings(textsOf(unit, files))
  if (
    ![...settings].some(([key, values]) => /^Install\.(WantedBy|RequiredBy|UpheldBy)$/.test(key) && values.length > 0)
  )
    return undefined
  const environment = {
    ...fromEnvironmentFiles(settings.get('Service.EnvironmentFile') ?? [], files),
    ...environmentOf(settings.get('Service.Environment') ?? [], name),
  }
  const commandsOf = (key: string): PodmanCommand[] =>
    (settings.get(`Service.${key}`) ?? []).flatMap(
      (line) => podmanCommand(commandWords(line, { unit: name, environment })) ?? [],
    )
  const run = commandsOf('ExecStart').find((command) => command.verb === 'run' && runsAgent(command))
  if (!run) return undefined
  const pulls = commandsOf('ExecStartPre').filter(({ verb }) => verb === 'pull')
  const container = containerEnvironment(run, environment, files)
  const { configFiles, missing } = configOf(run, container, files)
  const pull = pullOf(run, pulls, environment)
  const missingAuth = pull.authFile !== null && files(pull.authFile) === undefined ? [pull.authFile] : []
  return {
    unit: name,
    image: run.image,
    pull,
    configFiles,
    options: optionsOf(configFiles),
    environment: container,
    missingFiles: [...missing, ...missingAuth],
    restart: restartOf(settings),
  }
}

/** Its own contents or the file that it is in, then its drop-ins by their names. */
function textsOf({ name, contents, dropins = [] }: SpecUnit, files: FileAt): string[] {
  const own = contents ?? textOf(files(`/etc/systemd/system/${name ?? ''}`)) ?? ''
  const byName = dropins.toSorted((one, other) => ((one.name ?? '') < (other.name ?? '') ? -1 : 1))
  return [own, ...byName.map((dropin) => dropin.contents ?? '')]
}

const textOf = (bytes: Uint8Array | undefined): string | undefined => bytes && Buffer.from(bytes).toString()

const isInFolder = (path: string): boolean => path === CONFIG_FOLDER || path.startsWith(`${CONFIG_FOLDER}/`)

/** Other units may run other containers. */
const runsAgent = ({ image, mounts }: PodmanCommand): boolean =>
  mounts.some(({ target }) => isInFolder(target)) || /ironic-(python-)?agent/.test(imageName(image))

/** The original template pulls by the whole name, and runs by the short one, which podman finds in its storage. */
function pullOf(
  run: PodmanCommand,
  pulls: readonly PodmanCommand[],
  environment: Readonly<Record<string, string>>,
): ContainerPull {
  const before = pulls.find(
    ({ image }) => image === run.image || (!run.image.includes('/') && imageName(image) === imageName(run.image)),
  )
  const { image, authFile, tlsVerify } = before ?? run
  const from = { authFile: authFile ?? run.authFile, tlsVerify, proxies: proxiesIn(environment) }
  return { image, before: before !== undefined, ...from }
}

const PROXY = /^(https?|no|all)_proxy$/i

const proxiesIn = (environment: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(Object.entries(environment).filter(([name, value]) => PROXY.test(name) && value !== ''))

/** podman hands proxies on, and what `--env NAME` names without a value. */
function containerEnvironment(
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
function fromEnvironmentFiles(paths: readonly string[], files: FileAt): Record<string, string> {
  const lines = paths.flatMap((path) => textOf(files(path.replace(/^-/, '')))?.split('\n') ?? [])
  const pairs = lines.flatMap((line) => {
    const [, name, value] = /^\s*([A-Za-z_]\w*)=(.*)$/.exec(line) ?? []
    return name === undefined || value === undefined ? [] : [[name, splitWords(value).join(' ')]]
  })
  return Object.fromEntries(pairs) as Record<string, string>
}

function configOf(
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

const INI = { code: 'AGENT_CONFIG_FILE', example: 'api_url = http://192.0.2.1:6385' }

/** A file that is mounted in many places is read once. */
function optionsOf(configFiles: readonly ConfigFile[]): Record<string, string> {
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

/**
 * systemd's defaults: no restart; 100 ms; five starts in ten seconds. In `[Service]` the limit goes by its old name only:
 * the `StartLimitIntervalSec` that ICC writes there is passed over.
 */
function restartOf(settings: UnitSettings): RestartRule {
  const span = (name: string, otherwise: number): number => timeSpan(lastOf(settings, name) ?? '') ?? otherwise
  const within = span('Unit.StartLimitIntervalSec', span('Service.StartLimitInterval', 10_000))
  const starts = Number(lastOf(settings, 'Unit.StartLimitBurst') ?? lastOf(settings, 'Service.StartLimitBurst') ?? 5)
  return {
    when: lastOf(settings, 'Service.Restart') ?? 'no',
    delay: span('Service.RestartSec', 100),
    limit: within === 0 || !Number.isInteger(starts) || starts <= 0 ? null : { starts, within },
  }
}
