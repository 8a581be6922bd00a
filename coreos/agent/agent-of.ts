import type { ConfigFile } from '../../runtime/index.js'
import type { SpecConfig, SpecUnit } from '../../ignition/index.js'
import {
  configOf,
  containerEnvironment,
  fromEnvironmentFiles,
  isInFolder,
  optionsOf,
  proxiesIn,
} from './agent-settings.js'
import { commandWords, environmentOf } from './command-words.js'
import { imageName, podmanCommand, type PodmanCommand } from './podman-command.js'
import { lastOf, timeSpan, unitSettings, type UnitSettings } from './unit-settings.js'
import { textOf, writtenFiles, type FileAt } from './written-files.js'

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
