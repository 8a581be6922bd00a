import type { NodeDetails } from '../../../report/index.js'
import { defined, errorChain, systemClock, type Clock } from '../../../base/runtime/index.js'
import {
  deploymentHtml,
  type DeploymentEvent,
  type DeploymentOptions,
  type DeploymentOutcome,
  type DeploymentReport,
} from '../../runs/index.js'
import type { Environment } from '../environment.js'
import { logTo } from '../output/command-log.js'
import { lineProgress, liveProgress, type ProgressView } from '../output/deployment-progress.js'
import { reportText } from '../output/report-text.js'
import { writeReport } from '../output/write-output.js'

/** How a deployment reports to its watcher. */
export type Watching = Pick<DeploymentOptions, 'clock' | 'signal' | 'logger' | 'onEvent' | 'onDetails'>

/**
 * Shows the events of a deployment, and its report at the end.
 *
 * @param speed lab seconds in one of the terminal's
 * @returns the exit code: 0 only when the disk says what was asked
 */
export async function watchDeployment(
  environment: Environment,
  { clock, speed, json, reportFile }: { clock: Clock; speed: number; json: boolean; reportFile?: string | undefined },
  deployment: (watching: Watching) => Promise<DeploymentReport>,
): Promise<number> {
  const { stdout, stopped } = environment
  const began = systemClock().now()
  let details: NodeDetails | undefined
  const write = async (outcome: Pick<DeploymentOutcome, 'report' | 'error'>): Promise<void> => {
    if (reportFile === undefined) return
    await writeReport(reportFile, deploymentHtml({ ...outcome, details, began, ended: systemClock().now() }))
  }
  // A file that cannot be written is refused before anything is deployed.
  await write({ report: null, error: new Error('the deployment was ended before its report was written') })
  const view = viewFor(environment, json)
  const ended = new AbortController()
  void ticking(view, clock, ended.signal, speed)
  let report: DeploymentReport
  try {
    report = await deployment({
      ...defined({ onDetails: reportFile === undefined ? undefined : (found: NodeDetails) => (details = found) }),
      clock,
      signal: stopped,
      logger: logTo(environment, json),
      onEvent: (event) => view.show(event, clock.elapsed() / 1000),
    })
  } catch (error) {
    await write({ report: null, error }).catch((failed: unknown) =>
      environment.stderr.line(errorChain(failed).join(': ')),
    )
    throw error
  } finally {
    ended.abort()
    view.end()
  }
  await write({ report })
  stdout.either(json, { event: 'report', ...report }, reportText(report))
  return report.ok ? 0 : 1
}

/** Updates the elapsed time while no event comes. */
async function ticking(view: ProgressView, clock: Clock, signal: AbortSignal, speed: number): Promise<void> {
  while (!signal.aborted) {
    await clock.sleep(100 * speed, { weak: true, signal }).catch(() => {})
    if (!signal.aborted) view.tick(clock.elapsed() / 1000)
  }
}

function viewFor({ stdout }: Environment, json: boolean): ProgressView {
  if (json)
    return {
      show: (event: DeploymentEvent, elapsed: number) =>
        stdout.json({ ...event, elapsed: Math.round(elapsed * 1000) / 1000 }),
      tick: () => {},
      end: () => {},
    }
  return stdout.isTTY ? liveProgress(stdout) : lineProgress(stdout)
}
