import { useEffect, useState } from 'preact/hooks'
import type { LabClient } from '../../../control/index.js'
import { pauseFor } from '../browser.js'
import { makeLabClient, connectionState, sentenceOf } from '../state/page-connection.js'

/** Shows what is read again and again, while the server is there. */
export function usePolled<Value>(
  read: (client: LabClient) => Promise<Value>,
  every: number,
): { value: Value | null; problem: string | null } {
  const [value, setValue] = useState<Value | null>(null)
  const [problem, setProblem] = useState<string | null>(null)
  const isLive = connectionState.value.kind === 'live'
  useEffect(() => {
    if (!isLive) return undefined
    const controller = new AbortController()
    const { signal } = controller
    void (async () => {
      for (; !signal.aborted; await pauseFor(every, signal))
        await read(makeLabClient(signal)).then(
          (seen) => void (signal.aborted || (setValue(() => seen), setProblem(null))),
          (error: unknown) => void (signal.aborted || setProblem(sentenceOf(error))),
        )
    })()
    return () => controller.abort()
  }, [isLive])
  return { value, problem }
}
