import { performance, type EventLoopUtilization } from 'node:perf_hooks'
import { getHeapStatistics, setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

/**
 * Keeps the heap's young generation at the size that it has, for a process that works for minutes and does little: grown to
 * its usual size it holds tens of MiB of garbage, and with it the buffers of all files and pipes that the garbage names.
 * The collections, more often and each smaller, take no more processor time (measured: an installation on a local disk
 * takes 76 MiB instead of 115, and the same 4.6 s).
 */
export function keepGarbageSmall(): void {
  setFlagsFromString('--semi-space-growth-factor=1')
}

/** Ends {@link keepGarbageSmall}: with a small young generation a server under load takes up to twice as long a request. */
export function letGarbageGrow(): void {
  setFlagsFromString('--semi-space-growth-factor=2')
}

/**
 * Collects the old generation once it has grown by some percent, not by the double and more: for a process with many small
 * objects that live for seconds, such as connections and answers. Measured: with 33 %, 40 rehearsed hosts take 180 MiB
 * instead of 225, and 5.5 s of processor time instead of 5.2. V8 collects beside the program, so they take 203 where six
 * others want the processors; with 20 %, 190. The heap of C has less garbage, too: with 33 % a fleet of 5,000 agents rests
 * at 130 MiB instead of 190, and at most takes 230 instead of 360.
 */
export function collectSooner(growth: number): void {
  setFlagsFromString(`--heap-growing-percent=${growth}`)
}

/** Milliseconds over which a process has to be at rest. */
const REST_WINDOW = 5_000
/** Share of that time in which it may work and still be at rest. */
const MAX_LOAD_AT_REST = 0.05
/** A heap that has grown by less than this since the last collection is left alone. */
const MIN_HEAP_GROWTH = 1.2

/**
 * Collects garbage when the process is at rest. V8 collects when a heap grows, so that a server which was busy and then has
 * nothing to do keeps all that the work has left, for hours. Measured: `up` with 10,000 nodes rests at 154 MiB and not at
 * 288, with 1,000 at 73 and not at 84; the collection takes 0.1 to 0.5 s at a time
 * in which no client waits.
 */
export function collectAtRest(window = REST_WINDOW): Disposable {
  let since: EventLoopUtilization = performance.eventLoopUtilization()
  let inUse = 0
  const timer = setInterval(() => {
    const now = performance.eventLoopUtilization()
    const { utilization } = performance.eventLoopUtilization(now, since)
    since = now
    if (utilization > MAX_LOAD_AT_REST) return
    if (getHeapStatistics().used_heap_size < inUse * MIN_HEAP_GROWTH) return
    collectGarbage()
    inUse = getHeapStatistics().used_heap_size
  }, window)
  timer.unref()
  return { [Symbol.dispose]: () => clearInterval(timer) }
}

/**
 * Collects all garbage. V8 shows its collector only to contexts that are made while a flag is set; code that is loaded later
 * needs the flag unset.
 */
export function collectGarbage(): void {
  setFlagsFromString('--expose-gc')
  try {
    runInNewContext('gc()')
  } finally {
    setFlagsFromString('--no-expose-gc')
  }
}
