import { withoutPasswords } from '../../base/bytes/index.js'
import { seconds, userError } from '../../base/runtime/index.js'
import type { TargetCommand } from '../../targets/index.js'
import { fullDiskReason } from '../sdk/disk-full.js'
import { runToEnd, printCommand } from '../sdk/run-command.js'
import { StepError, type StepContext } from '../sdk/step.js'
import { DISK_FAILED, readFailure } from './install-failure.js'
import { progressPercent } from './install-progress.js'

/** Attempts of the upstream step, but here only after transient failures and with pauses. */
const MAX_INSTALL_ATTEMPTS = 3
const INSTALL_RETRY_DELAYS = [seconds(1), seconds(5)]

/**
 * Runs the installer until it succeeds.
 *
 * @param withheld returns the error because of which the image was withheld from the installer, or undefined
 * @throws StepError with the first error that the installer printed and its causes
 */
export async function runInstaller(
  context: StepContext,
  argv: TargetCommand['argv'],
  withheld: () => unknown = () => undefined,
): Promise<void> {
  const { clock, logger, signal } = context
  for (let attempt = 1; ; attempt++) {
    logger('info', `running ${printCommand(argv)}`, { attempt })
    const failure = await runOnce(context, argv)
    if (!failure) return
    const why = withheld()
    const transient = why === undefined ? failure.transient : userError(why)?.code === 'image-unreachable'
    const last = attempt === MAX_INSTALL_ATTEMPTS || !transient
    logger(last ? 'error' : 'warn', failure.text, { attempt, transient })
    if (last) {
      if (why !== undefined) throw why
      const tried = attempt > 1 ? ` (${attempt} attempts)` : ''
      const remedy = failure.remedy === DISK_FAILED ? await fullDiskReason(context.target) : undefined
      const parts = [`${failure.text}${tried}`, remedy ?? failure.remedy]
      throw new StepError(parts.filter((part) => part !== null).join('. '))
    }
    await clock.sleep(INSTALL_RETRY_DELAYS[attempt - 1]!, { signal })
  }
}

async function runOnce({ target, progress, logger, signal }: StepContext, argv: TargetCommand['argv']) {
  const lines: string[] = []
  const { exit } = await runToEnd(target.executor, argv, {
    effect: 'writes',
    signal,
    onLine: (printed) => {
      const line = withoutPasswords(printed)
      lines.push(line)
      if (line.trim() === '') return
      const percent = progressPercent(line)
      if (percent !== undefined) progress.percent(percent)
      progress.line(line.trimEnd())
      logger('debug', `coreos-installer: ${line.trimEnd()}`)
    },
  })
  return exit.kind === 'exited' && exit.code === 0 ? null : readFailure(lines, exit)
}
