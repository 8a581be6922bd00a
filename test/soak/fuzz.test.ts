import { fork } from 'node:child_process'
import { availableParallelism } from 'node:os'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { EDGES } from '../kit/state-paths.js'
import type { Session, SessionReport, SystemName } from './fuzz/session.js'

/** `SOAK_REQUESTS=5000000` for a long run, `SOAK_SESSION=lab:17` for one session again. */
const REQUESTS = Number(process.env['SOAK_REQUESTS'] ?? 1_000_000)
const SEED = Number(process.env['SOAK_SEED'] ?? 1)
const ONLY = process.env['SOAK_SESSION']
const CALLS = 20_000
/** Systems of ten sessions: calls of a whole lab, and over sockets, take several times as long. */
const KINDS: readonly SystemName[] = ['lab', 'served', 'api', 'api', 'api', 'api', 'api', 'api', 'api', 'api']

const main = fileURLToPath(new URL('../../dist/test/soak/fuzz/process.js', import.meta.url))

function sessions(): Session[] {
  if (ONLY !== undefined) {
    const [kind, seed] = ONLY.split(':')
    return [{ system: kind as SystemName, seed: Number(seed), calls: CALLS }]
  }
  const count = Math.ceil(REQUESTS / CALLS)
  return Array.from({ length: count }, (_, n) => ({
    system: KINDS[n % KINDS.length]!,
    seed: SEED * 10_000 + n,
    calls: Math.min(CALLS, REQUESTS - n * CALLS),
  }))
}

type Message = { progress: number } | { done: SessionReport } | { failed: string }

/** Runs sessions in one process until none is left; the process ends by itself when it is disconnected. */
async function work(next: () => Session | undefined, report: (at: number, report?: SessionReport) => void) {
  const child = fork(main, { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] })
  try {
    for (let session = next(); session; session = next()) {
      child.send(session)
      await new Promise<void>((resolve, reject) => {
        const ended = (code: number | null) =>
          reject(new Error(`the process of ${JSON.stringify(session)} ended with ${code}`))
        const listen = (message: Message) => {
          if ('progress' in message) return report(message.progress)
          child.off('exit', ended)
          child.off('message', listen)
          if ('failed' in message) return reject(new Error(message.failed))
          report(0, message.done)
          resolve()
        }
        child.on('message', listen)
        child.once('exit', ended)
      })
    }
    // Nothing of the last session still runs, so the process must end by itself.
    const gone = new Promise<number | null>((resolve) => child.once('exit', resolve))
    child.disconnect()
    const late = setTimeout(() => child.kill('SIGKILL'), 20_000)
    expect(await gone, 'the process comes to rest').toBe(0)
    clearTimeout(late)
  } finally {
    if (child.exitCode === null) child.kill('SIGKILL')
  }
}

test(`${REQUESTS.toLocaleString('en')} fuzzed requests, through all flows, are answered and leave nothing broken`, async () => {
  const waiting = sessions()
  const total = waiting.reduce((sum, { calls }) => sum + calls, 0)
  const reports = [] as SessionReport[]
  const since = performance.now()
  let shown = since
  let done = 0
  const under = new Map<number, number>()
  const worker = (which: number) =>
    work(
      () => waiting.shift(),
      (at, report) => {
        under.set(which, at)
        if (report) {
          reports.push(report)
          done += report.calls
        }
        if (performance.now() - shown < 15_000) return
        shown = performance.now()
        const so = done + [...under.values()].reduce((sum, each) => sum + each, 0)
        const rate = Math.round((so / (shown - since)) * 1000)
        console.log(`${so.toLocaleString('en')} of ${total.toLocaleString('en')} requests, ${rate} a second`)
      },
    )
  await Promise.all(Array.from({ length: Math.min(availableParallelism(), waiting.length) }, (_, n) => worker(n)))
  console.log(summary(reports, performance.now() - since))
  expect(done).toBe(total)
})

function summary(reports: readonly SessionReport[], took: number): string {
  const sum = (of: (report: SessionReport) => Readonly<Record<string, number>>) => {
    const all = new Map<string, number>()
    for (const report of reports)
      for (const [key, count] of Object.entries(of(report))) all.set(key, (all.get(key) ?? 0) + count)
    return all
  }
  const calls = reports.reduce((total, report) => total + report.calls, 0)
  const rates = [...new Set(KINDS)].map((kind) => {
    const own = reports.filter(({ session }) => session.system === kind)
    const made = own.reduce((n, report) => n + report.calls, 0)
    const ms = own.reduce((n, r) => n + r.milliseconds, 0)
    return `${kind} ${made.toLocaleString('en')}${ms > 0 ? ` (${Math.round((made / ms) * 1000)} a second each)` : ''}`
  })
  const statuses = [...sum(({ statuses: of }) => of)].sort().map(([status, count]) => `${status}: ${count}`)
  const taken = sum(({ paths }) => paths)
  const missed = EDGES.filter((edge) => !taken.has(edge))
  return [
    `${calls.toLocaleString('en')} requests in ${Math.round(took / 1000)} s: ${rates.join(', ')}`,
    `answers: ${statuses.join(', ')}`,
    `${EDGES.length - missed.length} of ${EDGES.length} transitions were taken; not: ${missed.join(', ') || 'none'}`,
  ].join('\n')
}
