import { enrollHosts, IRONIC_RETRY_INTERVAL, type FleetEnrollOptions, type FleetHost } from '../../fleet/index.js'
import { durationText, systemClock, systemRandom, userError } from '../../../base/runtime/index.js'
import { askAgain, HttpTransport } from '../../../base/wire/index.js'
import { findApi, type DatabaseAddress } from '../../../ironic-mock/index.js'
import type { Environment } from '../environment.js'
import { accessOf } from '../options/ironic-access.js'

export type SayFleetEvent = (event: string, text: string | readonly string[], fields?: Record<string, unknown>) => void

interface Enrolling {
  /** Fields of all nodes. */
  nodes: {
    driver: 'redfish' | 'ipmi'
    bootInterface: string
    driverInfo: Readonly<Record<string, string>>
  }
  /** URL of the Ironic, or the database in which one of its APIs is found. */
  ironic: string | DatabaseAddress
  environment: Environment
  /** Resolves when the fleet is to stop, which ends the enrollment. */
  stop: Promise<void>
  say: SayFleetEvent
}

/** Enrolls the machines of a fleet, with the credentials of the environment. */
export async function enrollFleet(
  hosts: readonly FleetHost[],
  { nodes, ironic, environment, stop, say }: Enrolling,
): Promise<void> {
  const { headers, tls } = await accessOf(environment.variables)
  // The Ironic is elsewhere: --speed does not make it faster.
  const clock = systemClock()
  await using transport = new HttpTransport({ clock, tls })
  const ending = new AbortController()
  void stop.then(() => ending.abort())
  const { signal } = ending
  const onAway = (reason: string): void =>
    say('waiting', `Ironic cannot be reached; retrying every ${durationText(IRONIC_RETRY_INTERVAL)}: ${reason}`, {
      reason,
    })
  let added = 0
  try {
    await enrollHosts(hosts, {
      ...nodes,
      url: typeof ironic === 'string' ? ironic : () => findLivingApi(ironic, { clock, signal, onAway }),
      transport,
      headers,
      clock,
      signal,
      onEnrolled: ({ name }, uuid, isNew) => {
        if (isNew) added++
        say('enrolled', `${name}  ${isNew ? 'enrolled' : 'was enrolled'} as ${uuid}`, { name, uuid, new: isNew })
      },
      onAway,
    })
  } catch (error) {
    if (signal.aborted) return
    throw error
  }
  const where = typeof ironic === 'string' ? ironic : `the Ironic of ${ironic.shown}`
  say('all-enrolled', `${added} of ${hosts.length} machines were new to ${where}`, { new: added })
}

class ApiMissing extends Error {
  override name = 'ApiMissing'
}

/** Waits for a database, and for an API among its processes. */
async function findLivingApi(
  database: DatabaseAddress,
  { clock, signal, onAway }: Pick<FleetEnrollOptions, 'clock' | 'signal'> & { onAway: (reason: string) => void },
): Promise<string> {
  let complaint = ''
  return askAgain(
    async () => {
      const url = await findApi(database, 'machines', systemRandom)
      if (url !== undefined) return url
      throw new ApiMissing(`no process of the database ${database.shown} has an API`)
    },
    {
      isPassing: (error) => error instanceof ApiMissing || userError(error)?.code === 'database-unreachable',
      every: IRONIC_RETRY_INTERVAL,
      onWait: (reason) => {
        if (reason !== complaint) onAway(reason)
        complaint = reason
      },
      clock,
      signal,
    },
  )
}
