import { runToEnd } from '../../../steps/index.js'
import type { HostContext } from '../pipeline/context.js'

/** Starts the machine from its disk: by its BMC, or by its live system if it has no BMC. */
export async function startDisk(context: HostContext, signal: AbortSignal): Promise<'done'> {
  const { host, access, state } = context
  const bmc = await context.bmc(signal)
  // An earlier process may have done it already: a second reset could hit Ignition in the middle of the first boot.
  if (state.rebooting) return 'done'
  if (bmc) {
    await bmc.bootDisk(signal)
    state.rebooting = true
    return 'done'
  }
  await using on = await access.openTarget(host, { readOnly: false, signal, reboot: true })
  state.rebooting = true
  await context.save()
  await runToEnd(on.target.executor, ['systemctl', 'reboot'], { effect: 'writes', signal }).catch((error: unknown) => {
    // The machine may go down before it answers.
    context.logger('debug', `${host.name}: ${String(error)}`)
  })
  return 'done'
}
