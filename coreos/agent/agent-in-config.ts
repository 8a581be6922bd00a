import type { ConfigFile } from '../../base/runtime/index.js'
import type { SpecConfig, SpecUnit } from '../../ignition/index.js'
import {
  agentConfigOf,
  containerEnvironment,
  fromEnvironmentFiles,
  isInFolder,
  optionsOf,
  proxiesIn,
} from './agent-settings.js'
import { commandWords, environmentOf } from './command-words.js'
import { imageName, podmanCommand, type PodmanCommand } from './podman-command.js'
import { lastOf, timeSpan, unitSettings, type UnitSettings } from './unit-settings.js'
import { decodeWrittenText, writtenFiles, type FileAt } from './written-files.js'

/** How systemd restarts a service that failed. */
interface RestartRule {
  /** `no`, `on-failure`, `always` ... */
  when: string
  /** Milliseconds from the failure to the next start. */
  delay: number
  /** At most `starts` within `within` milliseconds, then systemd gives up; null for no limit. */
  limit: { starts: number; within: number } | null
}

/** Container image that must be in the machine's storage before the agent can run. */
interface ContainerPull {
  /** Full name, where the unit has it. */
  image: string
  /** True if the unit pulls the image with a command of its own, before `podman run`. */
  before: boolean
  /** The pull secret's path on the host; null without a pull secret. */
  authFile: string | null
  /** False when the registry's certificate is not verified. */
  tlsVerify: boolean
  /** Proxies that podman uses, as in the unit: `HTTPS_PROXY` ... */
  proxies: Readonly<Record<string, string>>
}

/** Agent that a live CoreOS starts as its Ignition config describes. */
export interface AgentOnCoreos {
  /** `ironic-agent.service` */
  unit: string
  /** Image name in the `podman run` command. */
  image: string
  pull: ContainerPull
  /** Configuration of the agent. Later files override earlier ones, and all override the kernel's command line. */
  configFiles: readonly ConfigFile[]
  /** Options of these files as written: `api_url`, `inspection_callback_url`, `insecure` ... Files that the agent cannot parse are left out. */
  options: Readonly<Record<string, string>>
  /** Environment of the agent's process: `IPA_COREOS_IP_OPTIONS`, `IPA_COREOS_COPY_NETWORK`, `IPA_DEFAULT_HOSTNAME` ... */
  environment: Readonly<Record<string, string>>
  /** Missing files of the host that the container needs: without them podman does not start it. */
  missingFiles: readonly string[]
  restart: RestartRule
}

/**
 * The agent that a live CoreOS with this config starts. It is read from the text of units and files alone, so a config
 * written by any tool works, and a wrong address in it has its real effect.
 *
 * @param config Ignition config with all references merged (`renderIgnition`)
 * @param files looks up files of the host; by default only files that the config itself writes
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
  const { configFiles, missing } = agentConfigOf(run, container, files)
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

/** Texts of a unit: its contents or its file, then its drop-ins in the order of their names. */
function textsOf({ name, contents, dropins = [] }: SpecUnit, files: FileAt): string[] {
  const own = contents ?? decodeWrittenText(files(`/etc/systemd/system/${name ?? ''}`)) ?? ''
  const byName = dropins.toSorted((one, other) => ((one.name ?? '') < (other.name ?? '') ? -1 : 1))
  return [own, ...byName.map((dropin) => dropin.contents ?? '')]
}

/** Tells the agent's container from those of other units. */
const runsAgent = ({ image, mounts }: PodmanCommand): boolean =>
  mounts.some(({ target }) => isInFolder(target)) || /ironic-(python-)?agent/.test(imageName(image))

/** The original template pulls by the full name and runs by the short name, which podman finds in its storage. */
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
 * systemd's defaults: no restart; 100 ms; five starts in ten seconds. In `[Service]` systemd knows only the limit's old
 * name, and ignores the `StartLimitIntervalSec` that image-customization-controller writes there.
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
