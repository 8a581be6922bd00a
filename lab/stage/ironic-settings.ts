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
import type { StageCore } from './stage-core.js'
import type { StageOptions } from './stage-options.js'

/** Configuration of a stage's Ironic, and of its agents. */
export interface IronicSettings {
  readonly conf: ConductorConf
  readonly service: ServiceSettings
  readonly newest: Microversion
  readonly types: readonly HardwareType[]
  readonly agentPace: AgentPace
  /** True if agents make certificates. */
  readonly agentTls: boolean
}

/** @throws UserError for unknown options and invalid values */
export async function ironicSettings(
  options: StageOptions,
  { clock, logger }: Pick<StageCore, 'clock' | 'logger'>,
): Promise<IronicSettings> {
  const { ironic, agentPace = PROMPT_PACE, elsewhere } = options
  const configured = ironic === undefined ? DEFAULT_SETTINGS : await readSettings(ironic, clock, logger)
  const conf: ConductorConf = {
    ...configured.conf,
    ...(agentPace === PROMPT_PACE && !elsewhere ? promptLooks(configured.conf) : {}),
    ...defined({
      // Virtual time stands still while a client waits for a locked node, so the client gets the conflict at once.
      nodeLockedRetryAttempts: standsStill(clock) ? 1 : undefined,
      fetchBootImages: options.liveImages || elsewhere ? true : undefined,
      // No machine is here that such a node could have.
      fakeHardwareMachines: elsewhere ? false : undefined,
    }),
    ...options.conf,
  }
  return { ...configured, conf, agentPace, agentTls: options.agentTls ?? conf.requireTls }
}

type ConfiguredIronic = Omit<IronicSettings, 'agentPace' | 'agentTls'>

/** Upstream's defaults with everything enabled. */
const DEFAULT_SETTINGS: ConfiguredIronic = {
  conf: UPSTREAM_CONF,
  service: SERVICE_DEFAULTS,
  newest: MAX_MICROVERSION,
  types: HARDWARE_TYPES,
}

async function readSettings(ironic: IronicConfigRequest, clock: Clock, logger: Logger): Promise<ConfiguredIronic> {
  const config = await withDocuments(readIronicConfig(ironic), (file) =>
    withClockHeld(clock, `reading ${file}`, async () => {
      const { parse } = await import('yaml')
      return readNested(await readNamedText(file), file, (text) => parse(text) as unknown)
    }),
  )
  for (const note of config.notes) logger('warn', note)
  for (const detail of config.details) logger('info', detail)
  return {
    conf: config.conf,
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
