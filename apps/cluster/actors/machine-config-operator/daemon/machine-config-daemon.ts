import { minutes, seconds } from '../../../../../base/runtime/index.js'
import type { Next } from '../../actor.js'
import { DESIRED_CONFIG, LAST_APPLIED_DRAIN } from '../machine-config-names.js'
import { DAEMON, describeFailure, updateNode, type DaemonParts } from './update-node.js'

const MIN_DAEMON_RETRY_DELAY = seconds(1)
const MAX_DAEMON_RETRY_DELAY = minutes(5)

/**
 * The machine config daemon of one computer, for one run of its OS: it looks again when its Node object or a file on the
 * disk has changed.
 *
 * @param signal ends with that run
 */
export async function runMachineConfigDaemon(parts: DaemonParts, signal: AbortSignal): Promise<void> {
  const { kube, clock, machine, logger, node } = parts
  let wake = new AbortController()
  let isDue = true
  const look = (): void => {
    isDue = true
    wake.abort()
  }
  using _watching = machine.running.watch(look)
  const following = (async () => {
    // An own write is no reason to look again: a failure would have no pause.
    let before: string | undefined
    for await (const { object } of kube.watch('Node', { fieldSelector: `metadata.name=${node}`, signal })) {
      const { [DESIRED_CONFIG]: desired, [LAST_APPLIED_DRAIN]: drained } = object.metadata.annotations ?? {}
      const asked = `${desired} ${drained}`
      if (asked !== before) look()
      before = asked
    }
  })().catch((error: unknown) => {
    if (!signal.aborted) logger('error', `${DAEMON} of ${node} watches no more: ${describeFailure(error)}`, { error })
  })
  for (let failures = 0; !signal.aborted;) {
    isDue = false
    wake = new AbortController()
    let next: Next
    try {
      next = await updateNode(parts, signal)
      failures = 0
    } catch (error) {
      if (signal.aborted) break
      logger('debug', `${DAEMON} of ${node}: ${describeFailure(error)}`)
      next = { again: Math.min(MIN_DAEMON_RETRY_DELAY * 2 ** failures++, MAX_DAEMON_RETRY_DELAY) }
    }
    if (isDue && failures === 0) continue
    await pause(next?.again, AbortSignal.any([signal, wake.signal]))
  }
  await following

  async function pause(ms: number | undefined, until: AbortSignal): Promise<void> {
    if (ms !== undefined) return clock.sleep(ms, { signal: until }).catch(() => {})
    if (!until.aborted)
      await new Promise<void>((resolve) => until.addEventListener('abort', () => resolve(), { once: true }))
  }
}
