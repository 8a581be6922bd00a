import { signal } from '@preact/signals'
import {
  ControlRefused,
  type ClockReport,
  type FaultReport,
  type LabReport,
  type ProcessReport,
} from '../../../control/index.js'
import { atMostEvery, oncePerFrame, pauseFor, wallTime, timeoutSignal } from '../browser.js'
import { isSignedIn, makeLabClient, connectionState } from './page-connection.js'
import { rowOfMachine, rowOfNode, Rows } from './fleet-rows.js'

/** The lab as it was seen last. */
export const rows = new Rows()
/** Counts up when rows change, once per frame at most. */
export const rowsVersion = signal(0)
export const faults = signal<readonly FaultReport[]>([])
export const clock = signal<(ClockReport & { readonly seenAt: number }) | null>(null)
/** Machines whose Ironic is elsewhere: there are no nodes. */
export const isFleet = signal(false)
/** The processes of the database; none where it is of one. */
export const processes = signal<readonly ProcessReport[]>([])
/** The server is that of `ironstage run`. */
export const isRun = signal(false)

const notifyRows = oncePerFrame(() => void rowsVersion.value++)

/** Entries that change what all views show. Others are asked for by the views that show them. */
const FOLLOWED = ['state', 'step', 'power', 'boot', 'fault', 'lab'] as const

/** A server that is silent for longer is lost: with the time between two looks, a slow browser shows it within 5 seconds. */
const PAGE_POLL_INTERVAL = 500
const PAGE_REQUEST_TIMEOUT = 3000
const PAGE_RETRY_DELAY = 1000
/** Entries of one page, as many as the server gives at once. */
const STRIKES_PAGE = 1000
/** Time between two readings of what many entries change. */
const REFRESH_DELAY = 300

/** Keeps the state that of the lab, until the signal is aborted. */
export async function followLab(signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    const attempt = new AbortController()
    const ended = AbortSignal.any([signal, attempt.signal])
    try {
      await Promise.race([readAndFollow(ended), watch(ended)])
    } catch (error) {
      // Before the page says that the server is lost: no answer that comes later says the contrary.
      attempt.abort()
      if (signal.aborted) return
      if (error instanceof ControlRefused && error.status === 401) {
        connectionState.value = { kind: 'login', isWrong: isSignedIn() }
        return
      }
      connectionState.value = { kind: 'lost', why: describeControlError(error) }
      await pauseFor(PAGE_RETRY_DELAY, signal)
    } finally {
      attempt.abort()
    }
  }
}

async function readAndFollow(signal: AbortSignal): Promise<void> {
  const last = await readAll(signal)
  if (signal.aborted) return
  connectionState.value = { kind: 'live' }
  await Promise.race([followFrom(last, signal), refresh(signal)])
}

function describeControlError(error: unknown): string {
  if (error instanceof ControlRefused) return error.message
  return 'the server does not answer'
}

/** @returns the place of the last entry read */
async function readAll(signal: AbortSignal): Promise<JournalPlace> {
  const index = await makeLabClient(timeoutSignal(PAGE_REQUEST_TIMEOUT, signal)).index()
  isFleet.value = index.nodes === 0 && index.machines > 0
  isRun.value = index.run
  seeProcesses(index)
  rows.forgetFaults()
  await Promise.all([readStrikes(signal), readRows(signal), readFaults(signal)])
  seeClock(index.clock)
  notifyRows()
  return index.journal.cursor ?? index.journal.last
}

/** The id of an entry, or a place in the journals of several processes. */
type JournalPlace = number | string

function seeProcesses({ processes: seen = [] }: LabReport): void {
  if (JSON.stringify(seen) !== JSON.stringify(processes.peek())) processes.value = seen
}

/** Marks rows by all strikes of the journal, page by page: a lab can have many thousands. */
async function readStrikes(signal: AbortSignal): Promise<void> {
  for (let after: JournalPlace = 0; ;) {
    const client = makeLabClient(timeoutSignal(20_000, signal))
    const { entries, next } = await client.journal({ kind: 'fault', after, limit: STRIKES_PAGE })
    for (const entry of entries) rows.apply(entry)
    const last = entries.at(-1)
    if (next === null || !last) return
    after = last.cursor ?? last.id
  }
}

export async function readRows(signal?: AbortSignal): Promise<void> {
  const client = makeLabClient(timeoutSignal(20_000, signal))
  if (isFleet.peek()) rows.replace((await client.machines()).machines.map(rowOfMachine))
  else rows.replace((await client.nodes()).nodes.map(rowOfNode))
  notifyRows()
}

export async function readFaults(signal?: AbortSignal): Promise<void> {
  faults.value = (await makeLabClient(timeoutSignal(20_000, signal)).faults()).faults
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
async function followFrom(last: JournalPlace, signal: AbortSignal): Promise<void> {
  let isStale = false
  const readFaultsSoon = atMostEvery(REFRESH_DELAY, () => void readFaults(signal).catch(() => {}))
  const readRowsSoon = atMostEvery(REFRESH_DELAY, () => {
    isStale = false
    readRows(signal).catch(() => {})
  })
  const readClockSoon = atMostEvery(
    REFRESH_DELAY,
    () =>
      void makeLabClient(timeoutSignal(PAGE_REQUEST_TIMEOUT, signal))
        .clock()
        .then(seeClock, () => {}),
  )
  while (!signal.aborted) {
    for await (const entry of makeLabClient(signal).events({ kind: FOLLOWED, after: last })) {
      last = entry.cursor ?? entry.id
      const result = rows.apply(entry)
      if (result === 'unknown' && !isStale) {
        isStale = true
        readRowsSoon()
      }
      if (result === true) notifyRows()
      if (entry.kind === 'fault') readFaultsSoon()
      // A restore or a reset changes all; the clock may have been set.
      if (entry.kind === 'lab') {
        readRowsSoon()
        readClockSoon()
      }
    }
    await pauseFor(100, signal)
  }
}

/** Looks at the clock again and again; fails when the server is silent. */
async function watch(signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    await pauseFor(PAGE_POLL_INTERVAL, signal)
    if (!signal.aborted) seeClock(await makeLabClient(timeoutSignal(PAGE_REQUEST_TIMEOUT, signal)).clock())
  }
}

/** The journal has no steps, so rows are polled, less often in large fleets. */
async function refresh(signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    await pauseFor(3000 + rows.size * 3, signal)
    if (signal.aborted || document.hidden) continue
    await Promise.all([readRows(signal), readFaults(signal)])
    if (processes.peek().length > 0)
      seeProcesses(await makeLabClient(timeoutSignal(PAGE_REQUEST_TIMEOUT, signal)).index())
  }
}
