import type { Target } from '../../targets/index.js'
import { sysText } from '../hardware/block-devices.js'
import { runToEnd } from '../sdk/run-command.js'
import type { ManagerStart } from '../sdk/step.js'

const LOCAL_NAMES: readonly (string | null)[] = ['localhost', 'localhost.localdomain']

/**
 * Gives a live system that is called `localhost` the name of `IPA_DEFAULT_HOSTNAME`, which OpenShift sets to the name of
 * the BareMetalHost, as its agent does when it starts.
 *
 * @throws Error when the name cannot be set: that agent ends
 */
export async function nameLocalhost(target: Target, { environment, logger }: ManagerStart): Promise<void> {
  const { executor } = target
  const current = (await sysText(executor, '/proc/sys/kernel/hostname')) ?? (await sysText(executor, '/etc/hostname'))
  if (!LOCAL_NAMES.includes(current)) return
  const name = environment['IPA_DEFAULT_HOSTNAME']
  if (!name) return logger('warn', `the live system is called ${current}, and IPA_DEFAULT_HOSTNAME has no name for it`)
  if (!target.has('hostname'))
    return logger('warn', `the live system stays ${current}: ${target.name} does not allow setting a host name`)
  logger('info', `the live system is called ${current}; it gets the name ${name} of IPA_DEFAULT_HOSTNAME`)
  const argv = ['hostnamectl', 'set-hostname', '--static', '--transient', name] as const
  const { exit, stderr } = await runToEnd(executor, argv, { effect: 'writes' })
  if (exit.kind !== 'exited' || exit.code !== 0) throw new Error(`Failed to update hostname: ${stderr.trim()}`)
}
