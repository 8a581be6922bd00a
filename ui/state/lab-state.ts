import { signal } from '@preact/signals'
import { ControlRefused, type ClockReport, type FaultReport } from '../../lab/index.js'
import { atMostEvery, oncePerFrame, pause, wallTime, within } from '../browser.js'
import { isSignedIn, lab, link } from './connection.js'
import { rowOfMachine, rowOfNode, Rows } from './rows.js'

/** The lab as it was seen last. */
export const rows = new Rows()
/** Counts up when rows change, once per frame at most. */
export const rowsVersion = signal(0)
export const faults = signal<readonly FaultReport[]>([])
export const clock = signal<(ClockReport & { readonly seenAt: number }) | null>(null)
/** Machines whose Ironic is elsewhere: there are no nodes. */
export const isFleet = signal(false)
/** The server is that of `ironstage run`. */
export const isRun = signal(false)

const changed = oncePerFrame(() => void rowsVersion.value++)

/** Entries that change what all views show. Others are asked for by the views that show them. */
const FOLLOWED = ['state', 'step', 'power', 'boot', 'fault', 'lab'] as const

/** A server that is silent for longer is lost: with the time between two looks, a slow browser shows it within 5 seconds. */
const POLL_INTERVAL = 750
const REQUEST_TIMEOUT = 3000
const RETRY = 1000
/** Time between two readings of what many entries change. */
const SOON = 300

/** Keeps the state that of the lab, until the signal is aborted. */
export async function followLab(signal: AbortSignal): Promise<void> {
  let last: number | undefined
  while (!signal.aborted) {
    const attempt = new AbortController()
    const ended = AbortSignal.any([signal, attempt.signal])
    try {
      last = await readAll(ended)
      link.value = { kind: 'live' }
      await Promise.race([followFrom(last, ended), watch(ended), refresh(ended)])
    } catch (error) {
      if (signal.aborted) return
      if (error instanceof ControlRefused && error.status === 401) {
        link.value = { kind: 'login', isWrong: isSignedIn() }
        return
      }
      link.value = { kind: 'lost', why: wordsOf(error) }
      await pause(RETRY, signal)
    } finally {
      attempt.abort()
    }
  }
}

function wordsOf(error: unknown): string {
  if (error instanceof ControlRefused) return error.message
  return 'the server does not answer'
}

/** @returns the id of the entry that it stands at */
async function readAll(signal: AbortSignal): Promise<number> {
  const client = lab(within(20_000, signal))
  const index = await lab(within(REQUEST_TIMEOUT, signal)).index()
  isFleet.value = index.nodes === 0 && index.machines > 0
  isRun.value = index.run
  const [struck] = await Promise.all([
    client.journal({ kind: 'fault', last: 1000 }),
    readRows(signal),
    readFaults(signal),
  ])
  rows.forgetFaults()
  for (const entry of struck.entries) rows.apply(entry)
  seeClock(index.clock)
  changed()
  return index.journal.last
}

export async function readRows(signal?: AbortSignal): Promise<void> {
  const client = lab(within(20_000, signal))
  if (isFleet.peek()) rows.replace((await client.machines()).machines.map(rowOfMachine))
  else rows.replace((await client.nodes()).nodes.map(rowOfNode))
  changed()
}

export async function readFaults(signal?: AbortSignal): Promise<void> {
  faults.value = (await lab(within(20_000, signal)).faults()).faults
}

export const seeClock = (report: ClockReport): void => {
  clock.value = { ...report, seenAt: wallTime() }
}

/** Lab time at this moment, in milliseconds. */
export function labTime(report = clock.value): number {
  if (!report) return wallTime()
  const speed = report.mode === 'real' ? 1 : Number(/^x([\d.]+)$/.exec(report.mode)?.[1] ?? 0)
  return Date.parse(report.labTime) + (wallTime() - report.seenAt) * speed
}

/** Follows the journal from an entry on. A connection that ends is opened again at the entry that came last. */
async function followFrom(last: number, signal: AbortSignal): Promise<void> {
  let isStale = false
  const readFaultsSoon = atMostEvery(SOON, () => void readFaults(signal).catch(() => {}))
  const readRowsSoon = atMostEvery(SOON, () => {
    isStale = false
    readRows(signal).catch(() => {})
  })
  const readClockSoon = atMostEvery(
    SOON,
    () =>
      void lab(within(REQUEST_TIMEOUT, signal))
        .clock()
        .then(seeClock, () => {}),
  )
  while (!signal.aborted) {
    for await (const entry of lab(signal).events({ kind: FOLLOWED, after: last })) {
      last = entry.id
      const result = rows.apply(entry)
      if (result === 'unknown' && !isStale) {
        isStale = true
        readRowsSoon()
      }
      if (result === true) changed()
      if (entry.kind === 'fault') readFaultsSoon()
      // A restore or a reset changes all; the clock may have been set.
      if (entry.kind === 'lab') {
        readRowsSoon()
        readClockSoon()
      }
    }
    await pause(100, signal)
  }
}

/** Looks at the clock again and again; fails when the server is silent. */
async function watch(signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    await pause(POLL_INTERVAL, signal)
    if (!signal.aborted) seeClock(await lab(within(REQUEST_TIMEOUT, signal)).clock())
  }
}

/** Steps are in no entry, so rows are read again now and then: the more there are, the more rarely. */
async function refresh(signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    await pause(3000 + rows.size * 3, signal)
    if (!signal.aborted && !document.hidden) await Promise.all([readRows(signal), readFaults(signal)])
  }
}
