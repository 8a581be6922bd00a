import { UserError } from '../../../base/runtime/index.js'
import { askAgain, IronicRefused, isIronicAway, type ApiNode, type ProvisionState } from '../../../base/wire/index.js'
import type { HostStage } from '../hosts/host.js'
import type { HostContext } from '../pipeline/context.js'
import { nodeNameOf } from './host-node.js'

/** Whether another attempt helps: the node is locked for a while, or the Ironic is starting. */
const canRetryCall = (error: unknown): boolean =>
  isIronicAway(error) || (error instanceof IronicRefused && error.status === 409 && /locked/i.test(error.message))

/** Asks until there is an answer that lasts; the time limit of the stage ends it. */
export async function retryIronic<T>(
  { host, ironic, clock, every, report }: HostContext,
  stage: HostStage,
  signal: AbortSignal,
  ask: () => Promise<T>,
): Promise<T> {
  let reported = ''
  try {
    return await askAgain(ask, {
      isPassing: canRetryCall,
      every,
      clock,
      signal,
      onWait: (text) => {
        if (text !== reported) report({ event: 'progress', host: host.name, stage, text: (reported = text) })
      },
    })
  } catch (error) {
    signal.throwIfAborted()
    throw explainIronicError(error, ironic!.url, nodeNameOf(host))
  }
}

function explainIronicError(error: unknown, url: string, node: string): unknown {
  if (!(error instanceof IronicRefused)) return error
  const remedy =
    error.status === 401 || error.status === 403 ? { remedy: 'set OS_AUTH_TYPE, OS_USERNAME and OS_PASSWORD' } : {}
  return new UserError('ironic-refused', `the Ironic at ${url} refuses the node ${node}: ${error.message}`, remedy)
}

/**
 * Waits until the node is in one of some states.
 *
 * @throws UserError `ironic-failed` with the Ironic's own sentence where it comes to rest in another
 */
export async function waitForStates(
  context: HostContext,
  stage: HostStage,
  states: readonly ProvisionState[],
  signal: AbortSignal,
): Promise<ApiNode> {
  const { host, state, ironic, clock, every } = context
  for (let seen: string | undefined; ;) {
    const node = await retryIronic(context, stage, signal, () => ironic!.client.node(state.ironic!.node))
    const { provision_state: now, target_provision_state: target, last_error: error } = node
    if (states.includes(now) && target === null) return node
    if (now !== seen) context.report({ event: 'progress', host: host.name, stage, text: (seen = now) })
    if (now === 'error' || now.endsWith(' failed') || (target === null && !states.includes(now)))
      throw new UserError(
        'ironic-failed',
        `the node of ${host.name} is ${now} instead of ${states.join(' or ')}${error ? `: ${error}` : ''}`,
        { remedy: `look at the node ${nodeNameOf(host)} (${node.uuid}) in the Ironic at ${ironic!.url}` },
      )
    await clock.sleep(every, { signal })
  }
}
