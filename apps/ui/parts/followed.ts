import { useEffect, useState } from 'preact/hooks'
import type { LabClient } from '../../../control/index.js'
import { atMostEvery, pauseFor } from '../browser.js'
import { makeLabClient, connectionState, sentenceOf } from '../state/page-connection.js'

/** A node or a machine that a view follows. */
export interface FollowedSubject<Value> {
  readonly read: (client: LabClient, id: string) => Promise<Value>
  /** Selects the entries of the journal after which it is read again. */
  readonly entriesOf: (id: string) => Parameters<LabClient['events']>[0]
  /** Milliseconds between two readings of one that changes. */
  readonly soon: number
}

/** Pause before a stream of events that ended is opened again. */
const STREAM_RETRY_DELAY = 500

/** Shows a subject as it changes. `subject` is the same in all calls of a view. */
export function useFollowed<Value>(
  id: string | null,
  subject: FollowedSubject<Value>,
): { value: Value | null; problem: string | null } {
  const [value, setValue] = useState<Value | null>(null)
  const [problem, setProblem] = useState<string | null>(null)
  const isLive = connectionState.value.kind === 'live'
  useEffect(() => {
    if (id === null || !isLive) return undefined
    const controller = new AbortController()
    void followSubject(id, subject, controller.signal, (seen) => (setValue(seen), setProblem(null)), setProblem)
    return () => controller.abort()
  }, [id, isLive])
  return { value, problem }
}

async function followSubject<Value>(
  id: string,
  { read, entriesOf, soon }: FollowedSubject<Value>,
  signal: AbortSignal,
  show: (value: Value) => void,
  fail: (problem: string) => void,
): Promise<void> {
  const look = async (): Promise<void> => {
    try {
      const value = await read(makeLabClient(signal), id)
      if (!signal.aborted) show(value)
    } catch (error) {
      if (!signal.aborted) fail(sentenceOf(error))
    }
  }
  const lookSoon = atMostEvery(soon, () => void (signal.aborted || look()))
  while (!signal.aborted) {
    await look()
    try {
      for await (const _ of makeLabClient(signal).events(entriesOf(id))) lookSoon()
    } catch {
      // The page says that the server is lost, and begins again when it is back.
    }
    await pauseFor(STREAM_RETRY_DELAY, signal)
  }
}
