import { PROMPT_PACE, type AgentPace } from '../../agent/index.js'
import {
  enabledTypes,
  HARDWARE_TYPES,
  readIronicConfig,
  SERVICE_DEFAULTS,
  UPSTREAM_CONF,
  withDocuments,
  type HardwareType,
  type IronicConfigRequest,
  type ConductorConf,
  type ServiceSettings,
} from '../../ironic-mock/index.js'
import {
  defined,
  withClockHeld,
  standsStill,
  type Clock,
  type Logger,
  readNamedText,
  readNested,
} from '../../base/runtime/index.js'
import { MAX_MICROVERSION, type Microversion } from '../../base/wire/index.js'

/** Configuration of a stage's Ironic. */
export interface IronicSettings {
  readonly conf: ConductorConf
  readonly service: ServiceSettings
  readonly newest: Microversion
  readonly types: readonly HardwareType[]
}

export interface IronicSettingsOptions {
  /** Default: upstream's defaults with everything enabled. */
  ironic?: IronicConfigRequest
  /** Overrides all other options. */
  conf?: Partial<ConductorConf>
  agentPace: AgentPace
  clock: Clock
  logger: Logger
}

/** @throws UserError for unknown options and invalid values */
export async function ironicSettings(options: IronicSettingsOptions): Promise<IronicSettings> {
  const { ironic, agentPace, clock, logger } = options
  const finished = (conf: ConductorConf): ConductorConf => ({
    ...conf,
    ...(agentPace === PROMPT_PACE ? promptLooks(conf) : {}),
    // Virtual time stands still while a client waits for a locked node, so the client gets the conflict at once.
    ...defined({ nodeLockedRetryAttempts: standsStill(clock) ? 1 : undefined }),
    ...options.conf,
  })
  if (ironic === undefined)
    return {
      conf: finished(UPSTREAM_CONF),
      service: SERVICE_DEFAULTS,
      newest: MAX_MICROVERSION,
      types: HARDWARE_TYPES,
    }
  const config = await withDocuments(readIronicConfig(ironic), (file) =>
    withClockHeld(clock, `reading ${file}`, async () => {
      const { parse } = await import('yaml')
      return readNested(await readNamedText(file), file, (text) => parse(text) as unknown)
    }),
  )
  for (const note of config.notes) logger('warn', note)
  return {
    conf: finished(config.conf),
    service: config.service,
    newest: config.maxMicroversion,
    types: enabledTypes(HARDWARE_TYPES, config.drivers),
  }
}

/** Poll interval for a machine that switches itself off instantly, in milliseconds. */
const PROMPT_POLL_INTERVAL = 10

const looks = (time: number): number => Math.ceil(time / PROMPT_POLL_INTERVAL)

/**
 * Ironic polls every few seconds whether a machine has switched itself off, or its agent has rebooted it to the disk. For
 * machines that switch instantly the interval is short, with the same total time.
 */
const promptLooks = (conf: ConductorConf): Partial<ConductorConf> => ({
  agentPowerOffPolls: looks(conf.agentPowerOffPolls * conf.agentPowerOffInterval),
  agentPowerOffInterval: PROMPT_POLL_INTERVAL,
  agentCommandPolls: looks(conf.agentCommandPolls * conf.agentCommandInterval),
  agentCommandInterval: PROMPT_POLL_INTERVAL,
})
