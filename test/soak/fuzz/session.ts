import fc from 'fast-check'
import { seededRandom } from '../../../base/runtime/index.js'
import { brokenInvariants, fuzzedRequest, resolved, wrongAnswer } from '../../kit/fuzz/index.js'
import { StatePaths } from '../../kit/state-paths.js'
import { apiSystem } from './api-system.js'
import { labSystem } from './lab-system.js'
import { comeToRest } from './rest.js'
import { servedSystem } from './served-system.js'
import { Walker } from './walker.js'
import type { Asked, System } from './system.js'

/** Systems that a session may send its requests to. */
export const SYSTEMS = { api: apiSystem, lab: labSystem, served: servedSystem } satisfies Record<
  string,
  (seed: number) => Promise<System>
>
export type SystemName = keyof typeof SYSTEMS

export interface Session {
  readonly system: SystemName
  readonly seed: number
  readonly calls: number
}

export interface SessionReport {
  readonly session: Session
  readonly calls: number
  /** Status -> how often. */
  readonly statuses: Readonly<Record<string, number>>
  /** `from > to` -> how often. */
  readonly paths: Readonly<Record<string, number>>
  readonly milliseconds: number
}

/** Calls between two checks of all records, and between two restarts. */
const CHECK_INTERVAL = 40
const RESTART = 2000
/** The largest number of calls at once. */
const MAX_SESSION_CALLS = 6
/** Milliseconds that may pass after some calls. */
const SESSION_PAUSES = [0, 0, 50, 1_000, 10_000, 90_000]

/**
 * Sends fuzzed calls with sensible ones among them, several at once.
 *
 * @throws Error with the system, the seed and the last calls, when an answer or a record is wrong
 */
export async function fuzzSession(session: Session, progress: (calls: number) => void): Promise<SessionReport> {
  const { seed, calls } = session
  const since = performance.now()
  const random = seededRandom(seed)
  const statuses = new Map<string, number>()
  const latest: string[] = []
  const paths = new StatePaths()
  await using system = await SYSTEMS[session.system](seed)
  system.watch(paths)
  const walker = new Walker(system, random)
  const check = (wrong: readonly string[]): void => {
    if (wrong.length === 0) return
    throw new Error(
      `session ${session.system}:${seed} after ${done} calls: ${wrong.join('; ')}\nthe last calls:\n${latest.join('\n')}`,
    )
  }

  const one = async (asked: Asked): Promise<void> => {
    const answer = await system.send(asked)
    if (!answer) return
    const { status } = answer
    latest.push(`${status} ${asked.method} ${asked.target} ${asked.body ?? ''}`.slice(0, 400))
    if (latest.length > 60) latest.shift()
    statuses.set(String(status), (statuses.get(String(status)) ?? 0) + 1)
    if (asked.method !== 'OPTIONS' && !system.excused.includes(status))
      check(wrongAnswer(answer).map((what) => `${latest.at(-1)}: ${what}`))
  }

  let done = 0
  const every = (interval: number, before: number): boolean =>
    Math.floor(done / interval) > Math.floor(before / interval)
  for (let batch = 0; done < calls; batch++) {
    const requests = fc.sample(fuzzedRequest(), { numRuns: 500, seed: seed * 1000 + batch })
    while (requests.length > 0 && done < calls) {
      const before = done
      const together = requests.splice(0, 1 + Math.floor(random.next() * MAX_SESSION_CALLS))
      const asked = together.map((request) => (random.next() < 0.15 ? walker.next() : resolved(request, system.view())))
      if (random.next() < 0.01) troubled(system, random.next(), random.next())
      await system.wait(Promise.all(asked.map(one)))
      done += asked.length
      if (random.next() < 0.25) await system.pass(SESSION_PAUSES[Math.floor(random.next() * SESSION_PAUSES.length)]!)
      check(paths.broken)
      if (every(CHECK_INTERVAL, before)) check(brokenInvariants(system.view()))
      if (every(RESTART, before)) await system.restart()
      if (every(system.restEvery, before) || done >= calls) check(await comeToRest(system))
    }
    progress(done)
  }
  return {
    session,
    calls: done,
    statuses: Object.fromEntries(statuses),
    paths: Object.fromEntries(paths.taken),
    milliseconds: performance.now() - since,
  }
}

function troubled(system: System, which: number, kind: number): void {
  const uuids = [...system.view().records.nodes.keys()]
  const uuid = uuids[Math.floor(which * uuids.length)]
  if (uuid !== undefined) system.trouble(uuid, kind)
}
