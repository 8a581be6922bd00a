import { userError } from '../../../base/runtime/index.js'
import { openSshShell } from '../../../targets/index.js'
import type { HostContext } from '../pipeline/context.js'

/** A system that boots refuses logins for a while in these ways. */
const NOT_YET = new Set(['ssh-unreachable', 'ssh-authentication', 'target-shell', 'ssh-no-commands'])

/** Waits until the live system answers; the time limit of the stage ends it. */
export async function waitForSsh(context: HostContext, signal: AbortSignal): Promise<'done'> {
  const { host, access, state, clock, every } = context
  // A system that runs already has no reason to refuse a login.
  const patient = !('booted' in host.live)
  for (let reported = ''; ;) {
    try {
      await using shell = await openSshShell({ ...(await access.ssh(host)), signal })
      state.live = { identity: { ...shell.identity }, hostKey: shell.hostKey }
      return 'done'
    } catch (error) {
      signal.throwIfAborted()
      const known = userError(error)
      if (!known || !(known.code === 'ssh-unreachable' || (patient && NOT_YET.has(known.code)))) throw error
      if (known.message !== reported)
        context.report({ event: 'progress', host: host.name, stage: 'ssh', text: (reported = known.message) })
      await clock.sleep(every, { signal })
    }
  }
}
