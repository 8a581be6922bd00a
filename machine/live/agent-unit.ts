import type { AgentOnCoreos } from '../../ignition/index.js'
import { errorChain, type Clock, type Probe, type ProbePoint } from '../../runtime/index.js'

/** An image about to be pulled on a machine, as interceptors see it: one that throws has made the pull fail. */
export interface PullPoint extends ProbePoint {
  readonly kind: 'pull'
  /** Id of the machine. */
  readonly machine: string
  readonly image: string
}

interface UnitParts {
  machine: string
  clock: Clock
  probe: Probe
  signal: AbortSignal
  say: (line: string) => void
}

/**
 * Runs the unit that starts the agent's container, as systemd would: the image is pulled, and after a failure it is
 * tried again as the unit says.
 *
 * @returns whether the container runs now
 * @throws the signal's reason
 */
export async function startAgentUnit(agent: AgentOnCoreos, parts: UnitParts): Promise<boolean> {
  const { machine, clock, probe, signal, say } = parts
  const { unit, pull, restart, missingFiles } = agent
  const starts: number[] = []
  for (;;) {
    starts.push(clock.now())
    try {
      if (missingFiles.length > 0) throw new Error(`statfs ${missingFiles[0]}: no such file or directory`)
      say(`${unit}: Trying to pull ${pull.image}...`)
      await probe.around({ kind: 'pull', machine, image: pull.image } satisfies PullPoint, () => Promise.resolve())
      signal.throwIfAborted()
      say(`${unit}: started the container of ${agent.image}`)
      return true
    } catch (error) {
      signal.throwIfAborted()
      say(`${unit}: Error: ${errorChain(error).join(': ')}`)
    }
    if (restart.when === 'no' || restart.when === 'on-success') {
      say(`${unit}: failed, and is not restarted`)
      return false
    }
    const { limit } = restart
    if (limit && starts.filter((at) => clock.now() + restart.delay - at < limit.within).length >= limit.starts) {
      say(`${unit}: Start request repeated too quickly.`)
      return false
    }
    if (starts.length > (limit?.starts ?? 1)) starts.shift()
    // It goes on for as long as the machine runs: nobody waits for that.
    await clock.sleep(Math.max(restart.delay, SHORTEST_DELAY), { weak: true, signal })
  }
}

/** systemd's own delay between two starts (systemd.service(5)). */
const SHORTEST_DELAY = 100
