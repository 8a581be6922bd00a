import {
  enrollHosts,
  IRONIC_RETRY_INTERVAL,
  type Fleet,
  type FleetEnrollOptions,
  type JoinedFleet,
} from '../../fleet/index.js'
import { durationText, systemClock, systemRandom } from '../../../base/runtime/index.js'
import { askAgain, HttpTransport } from '../../../base/wire/index.js'
import type { DatabaseAddress } from '../../../ironic-mock/index.js'
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
  /** URL of the Ironic, or the database whose processes the fleet joins, with an API among them. */
  ironic: string | DatabaseAddress
  environment: Environment
  /** Resolves when the fleet is to stop, which ends the enrollment. */
  stop: Promise<void>
  say: SayFleetEvent
}

/** Enrolls the machines of a fleet, with the credentials of the environment, after it has joined a database. */
export async function enrollFleet(running: Fleet, { nodes, ironic, environment, stop, say }: Enrolling): Promise<void> {
  const { headers, tls } = await accessOf(environment.variables)
  // The Ironic is elsewhere: --speed does not make it faster.
  const clock = systemClock()
  await using transport = new HttpTransport({ clock, tls })
  const hosts = running.hosts()
  const ending = new AbortController()
  void stop.then(() => ending.abort())
  const { signal } = ending
  let complaint = ''
  const onAway = (reason: string): void => {
    if (reason === complaint) return
    complaint = reason
    const every = durationText(IRONIC_RETRY_INTERVAL)
    say('waiting', `Ironic cannot be reached; retrying every ${every}: ${reason}`, { reason })
  }
  const where = typeof ironic === 'string' ? ironic : `the Ironic of ${ironic.shown}`
  let added = 0
  try {
    const url =
      typeof ironic === 'string' ? ironic : await joinDatabase(running, ironic, { clock, signal, onAway, say })
    await enrollHosts(hosts, {
      ...nodes,
      url,
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
  say('all-enrolled', `${added} of ${hosts.length} machines were new to ${where}`, { new: added })
}

interface JoiningFleet extends Pick<FleetEnrollOptions, 'clock' | 'signal'> {
  onAway: (reason: string) => void
  say: SayFleetEvent
}

/** Joins the processes of a database, and returns what finds an API among them. */
async function joinDatabase(
  running: Fleet,
  { shown }: DatabaseAddress,
  { clock, signal, onAway, say }: JoiningFleet,
): Promise<() => Promise<string>> {
  const joined = await running.join({ signal, onAway })
  const { host: name } = joined.self
  say('joined', `${name} is among the processes of ${shown}`, { name })
  return () =>
    askAgain(() => anyApi(joined, shown), {
      isPassing: (error) => error instanceof ApiMissing,
      every: IRONIC_RETRY_INTERVAL,
      onWait: onAway,
      clock,
      signal,
    })
}

class ApiMissing extends Error {
  override name = 'ApiMissing'
}

/** One of the APIs that live, so that fleets spread over them. */
function anyApi({ apis }: JoinedFleet, database: string): Promise<string> {
  const url = apis[Math.floor(systemRandom.next() * apis.length)]
  if (url !== undefined) return Promise.resolve(url)
  return Promise.reject(new ApiMissing(`no process of the database ${database} has an API`))
}
