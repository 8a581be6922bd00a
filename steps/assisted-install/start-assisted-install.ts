import { seconds } from '../../base/runtime/index.js'
import { defineStep } from '../sdk/define-step.js'
import { runCommand } from '../sdk/run-command.js'
import { StepError, type StepContext } from '../sdk/step.js'

const UNIT = 'agent.service'
/** Pauses of the upstream step. */
const FIRST_STATUS_DELAY = seconds(1)
const STATUS_POLL_INTERVAL = seconds(15)

/** Starts the agent of OpenShift's assisted installer, and waits for as long as it is at work. */
export const startAssistedInstall = defineStep({
  name: 'start_assisted_install',
  interface: 'deploy',
  on: ['deploy'],
  argsinfo: 'empty',
  run: async (context) => {
    const { target, progress, clock, signal } = context
    progress.stage(`starting ${UNIT}`)
    // --no-block, because a oneshot unit stays "activating" until its work ends.
    await runCommand(target.executor, ['systemctl', 'start', '--no-block', UNIT], { effect: 'writes', signal })
    progress.stage(`waiting for ${UNIT}`)
    for (let pause = FIRST_STATUS_DELAY; ; pause = STATUS_POLL_INTERVAL) {
      await clock.sleep(pause, { signal })
      const { ActiveState: state, Result: result } = await unitProperties(context)
      if (state === 'activating' || state === 'active') continue
      if (state === 'failed')
        throw new StepError(
          `Assisted Installer Agent has failed with result "${result ?? ''}". Check the ramdisk logs for more details.`,
          { type: 'DeploymentError' },
        )
      return null
    }
  },
})

async function unitProperties({ target, signal }: StepContext): Promise<Record<string, string>> {
  const argv = ['systemctl', 'show', UNIT, '--property', 'ActiveState,Result'] as const
  const { stdout } = await runCommand(target.executor, [...argv], { effect: 'reads', signal })
  return Object.fromEntries(
    stdout.split('\n').flatMap((line) => {
      const at = line.indexOf('=')
      return at < 0 ? [] : [[line.slice(0, at), line.slice(at + 1)]]
    }),
  )
}
