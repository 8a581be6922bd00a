import { hours, seconds, UserError } from '../../../base/runtime/index.js'
import { BmcError } from '../../../ironic-mock/index.js'
import type { RedfishReply } from './redfish-connection.js'
import { listIn, textIn } from './redfish-json.js'
import type { RedfishSystem } from './redfish-system.js'

/** `[redfish]firmware_update_overall_timeout` */
const TASK_TIMEOUT = hours(2)
const TASK_LOOK_INTERVAL = seconds(5)

/** Waits for the task that a service made of a request; one without a task has ended already. */
export async function awaitTask(system: RedfishSystem, { status, headers, document }: RedfishReply): Promise<void> {
  const { clock, signal } = system.options
  const monitor = headers['location'] ?? textIn(document, '@odata.id')
  if (status !== 202 || monitor === undefined) return
  for (const end = clock.now() + TASK_TIMEOUT; clock.now() < end;) {
    await clock.sleep(TASK_LOOK_INTERVAL, signal ? { signal } : {})
    const state = await stateOf(system, monitor)
    if (state === null) return
  }
  throw new UserError('bmc-refuses', `the task ${monitor} of the BMC did not end in time`)
}

/**
 * State of a task that is under way; null once it has ended well.
 *
 * @throws UserError with the reason of one that failed
 */
async function stateOf(system: RedfishSystem, monitor: string): Promise<string | null> {
  try {
    const { status, document } = await system.get(monitor)
    const state = textIn(document, 'TaskState')
    if (state !== undefined && /^(Exception|Killed|Cancelled|Interrupted)$/.test(state)) {
      const why = listIn(document, 'Messages').flatMap((each) => textIn(each, 'Message') ?? [])
      throw new UserError('bmc-refuses', `the task of the BMC ended as ${state}: ${why.join(' ')}`)
    }
    return state === 'Completed' || (state === undefined && status !== 202) ? null : (state ?? 'New')
  } catch (error) {
    // A monitor goes away with its task.
    if (error instanceof BmcError && (error.answer?.status === 404 || error.answer?.status === 410)) return null
    throw error
  }
}
