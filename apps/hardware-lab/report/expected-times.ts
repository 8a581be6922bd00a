import { STAGE_NAMES } from '../hosts/hosts-schema.js'
import type { HostStage } from '../hosts/host.js'
import type { RunFolder } from '../pipeline/run-state.js'
import { isOfKind, type RunReport } from './run-report.js'

/** Seconds that stages took in the run before, by host; of a host that was not in it, as long as the others took. */
export type ExpectedTimes = (host: string, stage: HostStage) => number | null

/** Reads them from the reports in a state folder. */
export async function expectedTimes(
  folder: RunFolder,
  { rehearsed, throughIronic }: { rehearsed: boolean; throughIronic: boolean },
): Promise<ExpectedTimes> {
  for (const id of await folder.reports()) {
    const report = await folder.report<RunReport>(id)
    if (!report || !isOfKind(report, rehearsed, throughIronic)) continue
    const took = (host: RunReport['hosts'][0], stage: HostStage) =>
      host.stages.find((each) => each.stage === stage && each.status === 'done')?.seconds
    return (name, stage) => {
      const own = report.hosts.find(({ host }) => host === name)
      const known = own && took(own, stage)
      if (known !== undefined) return known
      const others = report.hosts.map((host) => took(host, stage)).filter((each) => each !== undefined)
      return others.length === 0 ? null : others.reduce((a, b) => a + b, 0) / others.length
    }
  }
  return () => null
}

/** Seconds that a host needs from a stage on; null where nothing is known. */
export function timeLeft(times: ExpectedTimes, host: string, from: HostStage, spent: number): number | null {
  const stages = STAGE_NAMES.slice(STAGE_NAMES.indexOf(from))
  const known = stages.map((stage) => times(host, stage))
  if (known.every((each) => each === null)) return null
  return Math.max(0, known.reduce<number>((sum, each) => sum + (each ?? 0), 0) - spent)
}
