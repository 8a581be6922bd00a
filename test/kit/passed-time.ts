import { readFileSync } from 'node:fs'

/** Where the kernel does not say how long programs have waited for a processor, in milliseconds. */
const SLACK = 3000

/** Milliseconds of the wall's time. */
export interface PassedTime {
  readonly took: number
  /** {@link took} without the time in which programs of this machine waited for a processor. */
  readonly unhindered: number
}

/** Measures from now on; the result tells how much has passed. */
export function startTimer(): () => PassedTime {
  const from = performance.now()
  const waitedBefore = waited()
  return () => {
    const took = performance.now() - from
    const waitedAfter = waited()
    const hindered = waitedBefore === null || waitedAfter === null ? SLACK : waitedAfter - waitedBefore
    return { took, unhindered: took - hindered }
  }
}

/** Milliseconds in which some program waited for a processor since this machine started. */
function waited(): number | null {
  try {
    const [, total] = /^some .*total=(\d+)$/m.exec(readFileSync('/proc/pressure/cpu', 'utf8'))!
    return Number(total) / 1000
  } catch {
    return null
  }
}
