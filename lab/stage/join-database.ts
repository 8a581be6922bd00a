import { existsSync } from 'node:fs'
import { hostname } from 'node:os'
import { openSharedDatabase, type SharedDatabase } from '../../ironic-mock/index.js'
import { packageVersion, seconds, UserError, type Clock, type Logger } from '../../base/runtime/index.js'
import { clockMode } from '../control/clock-control.js'
import type { IronicSettings } from './ironic-settings.js'
import type { Access } from './stage-access.js'
import { urlForOthers } from './stage-elsewhere.js'
import type { StageOptions } from './stage-options.js'

type SharedTiming = NonNullable<Parameters<typeof openSharedDatabase>[0]['timing']>

interface DatabaseSurroundings {
  clock: Clock
  logger: Logger
  settings: IronicSettings
  /** URL of this process's API, without `/v1`. */
  url: string
  access: Access
}

/**
 * Opens the database of several processes; undefined where the database is of this process alone.
 *
 * @throws UserError `two-databases` for a state folder with a database of its own
 */
export async function joinDatabase(
  { database, folder = null, network }: StageOptions,
  { clock, logger, settings: { conf, service, types }, url, access }: DatabaseSurroundings,
): Promise<SharedDatabase | undefined> {
  if (!database) return undefined
  const { address, role } = database
  const { host = '127.0.0.1' } = network ?? {}
  if (folder && existsSync(folder.ironicDb))
    throw new UserError('two-databases', `${folder.path} has a database of its own, beside ${address.shown}`)
  const self = {
    host: service.conductorName ?? `${hostname()}-${new URL(url).port}`,
    role,
    group: conf.conductorGroup,
    drivers: types.map((type) => type.name),
    url: role === 'conductor' ? null : (service.publicEndpoint ?? (await urlForOthers(url, host, clock))),
    version: packageVersion(),
    // One that has no address for other hosts is reached by processes of this one.
    control: {
      url: await urlForOthers(url, host, clock).catch(() => url),
      certificate: access.tls?.certificate ?? null,
    },
    clock: clockMode(clock),
  }
  return openSharedDatabase({ address, self, timing: memberTiming(service), clock, logger })
}

/** Defaults of ironic 39.0.0 conf/conductor.py, which count as soon as one of the two is set. */
const UPSTREAM_HEARTBEAT = seconds(10)
const UPSTREAM_SILENCE = seconds(60)

/** @throws UserError (usage) for a process that would be dead between two heartbeats */
function memberTiming({ memberHeartbeat, memberSilence }: IronicSettings['service']): SharedTiming {
  if (memberHeartbeat === null && memberSilence === null) return {}
  const heartbeat = memberHeartbeat ?? UPSTREAM_HEARTBEAT
  const silence = memberSilence ?? UPSTREAM_SILENCE
  if (heartbeat > 0 && silence > heartbeat) return { heartbeat, silence }
  throw new UserError(
    'ironic-config',
    `[conductor]heartbeat_interval is ${heartbeat / 1000} s and heartbeat_timeout ${silence / 1000} s: a process would be dead between two heartbeats`,
    { kind: 'usage', remedy: 'set an interval of more than 0, and a timeout of several intervals' },
  )
}
