import type { AgentOnCoreos } from '../../coreos/index.js'
import { errorChain, type Clock, type Probe } from '../../base/runtime/index.js'

/** Probe point before a machine pulls an image. An interceptor that throws makes the pull fail. */
export interface PullPoint {
  readonly kind: 'pull'
  /** Id of the machine. */
  readonly machine: string
  /** Image reference with a tag or a digest, as podman prints it. */
  readonly image: string
}

interface LiveUnitParts {
  machine: string
  clock: Clock
  probe: Probe
  signal: AbortSignal
  say: (line: string) => void
}

/**
 * Runs the unit that starts the agent's container, as systemd would: it pulls the image and after a failure restarts
 * according to the unit's settings. It prints the journal lines of podman and systemd.
 *
 * @returns whether the container runs now
 * @throws the signal's reason
 */
export async function startAgentUnit(agent: AgentOnCoreos, parts: LiveUnitParts): Promise<boolean> {
  const { clock, signal, say } = parts
  const { unit, restart } = agent
  const systemd = (text: string) => say(`systemd[1]: ${unit}: ${text}`)
  const starts: number[] = []
  for (let restarts = 1; ; restarts++) {
    starts.push(clock.now())
    if (await started(agent, parts)) return true
    const { limit } = restart
    if (restart.when === 'no' || restart.when === 'on-success') return false
    // Weak, since restarts may go on for ever and must not make a virtual clock jump.
    await clock.sleep(Math.max(restart.delay, MIN_RESTART_DELAY), { weak: true, signal })
    systemd(`Scheduled restart job, restart counter is at ${restarts}.`)
    const recent = limit ? starts.filter((at) => clock.now() - at < limit.within).length : 0
    if (limit && recent >= limit.starts) {
      systemd('Start request repeated too quickly.')
      systemd("Failed with result 'exit-code'.")
      return false
    }
    if (limit && starts.length > limit.starts) starts.shift()
  }
}

/** systemd's default RestartSec (systemd.service(5)). */
const MIN_RESTART_DELAY = 100

/** podman's exit code for failures of its own instead of the container's (podman-run(1)). */
const PODMAN_FAILED = 125

async function started({ unit, image, pull, missingFiles }: AgentOnCoreos, parts: LiveUnitParts): Promise<boolean> {
  const { machine, probe, signal, say } = parts
  const reference = withTag(pull.image)
  let phase: 'pulling' | 'running' = 'pulling'
  try {
    // podman reads its auth file before it contacts a registry.
    const [missing] = missingFiles
    if (missing !== undefined && missing === pull.authFile)
      throw new Error(`credential file is not accessible: stat ${missing}: no such file or directory`)
    say(`${unit}: Trying to pull ${reference}...`)
    const point: PullPoint = { kind: 'pull', machine, image: reference }
    await probe.around(point, () => Promise.resolve())
    signal.throwIfAborted()
    phase = 'running'
    if (missing !== undefined) throw new Error(`statfs ${missing}: no such file or directory`)
    say(`${unit}: started the container of ${image}`)
    return true
  } catch (error) {
    signal.throwIfAborted()
    // systemd calls ExecStartPre's process the control process.
    const which = phase === 'pulling' && pull.before ? 'Control' : 'Main'
    say(`${unit}: Error: ${errorChain(error).join(': ')}`)
    say(`systemd[1]: ${unit}: ${which} process exited, code=exited, status=${PODMAN_FAILED}/n/a`)
    say(`systemd[1]: ${unit}: Failed with result 'exit-code'.`)
    say(`systemd[1]: Failed to start ${unit}.`)
    return false
  }
}

/** The reference with podman's default tag. */
const withTag = (image: string): string =>
  /[:@]/.test(image.slice(image.lastIndexOf('/') + 1)) ? image : `${image}:latest`
