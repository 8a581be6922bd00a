import { STAGE_NAMES } from '../hosts/hosts-schema.js'
import type { HostStage } from '../hosts/host.js'
import type {
  HostFailure,
  HostRunState,
  HostOutcome,
  RunFolder,
  HostsRunRecord,
  StageStatus,
} from '../pipeline/run-state.js'

export interface StageReport {
  stage: HostStage
  status: StageStatus
  attempts: number
  startedAt: number
  seconds: number
  failure: HostFailure | null
}

export interface HostRunReport {
  host: string
  outcome: HostOutcome
  why: string | null
  seconds: number
  facts: HostRunState['facts']
  stages: StageReport[]
  checks: HostRunState['checks']
  post_checks: HostRunState['postChecks']
  console: HostRunState['console']
}

/** A difference from the run before. */
interface HostChange {
  host: string
  kind: 'new failure' | 'still failing' | 'fixed' | 'slower' | 'faster' | 'new host'
  text: string
}

/** The report of a run: no secrets, all plain data. */
export interface RunReport {
  id: string
  file: string
  rehearsed: boolean
  check_only: boolean
  /** URL of the Ironic that did the work; null where the run did it itself. */
  through_ironic: string | null
  started_at: string
  ended_at: string | null
  seconds: number
  hosts: HostRunReport[]
  compared_with: string | null
  changes: HostChange[]
  /** The newest run of the other kind over the same hosts, beside this one; null if there was none. */
  both_ways: BothWays | null
  ok: boolean
}

/** Outcome of a host in one of the two runs. */
export interface MethodReport {
  outcome: HostOutcome
  seconds: number
  failed_in: HostStage | null
}

/** Comparison of the same hosts, installed by a run itself and through an Ironic. */
interface BothWays {
  /** Id of the other run. */
  with: string
  hosts: { host: string; direct: MethodReport; ironic: MethodReport }[]
}

/** A stage counts as slower when it took half as long again, and more than so many seconds more. */
const SLOWER = { factor: 1.5, seconds: 10 }

export async function reportOf(
  run: HostsRunRecord,
  states: readonly HostRunState[],
  folder: RunFolder,
  checkOnly: boolean,
): Promise<RunReport> {
  const hosts = states.map(hostReport)
  const before = await previous(run, folder)
  const other = await otherMethod(run, folder)
  const lastAt = Math.max(
    run.startedAt,
    ...hosts.flatMap(({ stages }) => stages.map((each) => each.startedAt + each.seconds * 1000)),
  )
  return {
    id: run.id,
    file: run.file,
    rehearsed: run.rehearsed,
    check_only: checkOnly,
    through_ironic: run.throughIronic ?? null,
    started_at: new Date(run.startedAt).toISOString(),
    ended_at: run.endedAt === null ? null : new Date(run.endedAt).toISOString(),
    seconds: Math.round((run.endedAt ?? lastAt) - run.startedAt) / 1000,
    hosts,
    compared_with: before?.id ?? null,
    changes: before ? changes(before, hosts) : [],
    both_ways: other && bothWays(other, hosts, run.throughIronic !== undefined),
    ok: hosts.every(({ outcome }) => outcome === 'ok' || (checkOnly && outcome === 'running')),
  }
}

function hostReport(state: HostRunState): HostRunReport {
  const stages = STAGE_NAMES.flatMap((stage): StageReport[] => {
    const found = state.stages[stage]
    return found ? [{ stage, ...found, seconds: found.seconds ?? 0 }] : []
  })
  const failure = stages.find(({ status }) => status === 'failed')?.failure
  return {
    host: state.name,
    outcome: state.outcome,
    facts: state.facts,
    stages,
    why: state.skipped ?? failure?.sentences[0] ?? null,
    seconds: Math.round(stages.reduce((sum, each) => sum + each.seconds, 0) * 1000) / 1000,
    checks: state.checks,
    post_checks: state.postChecks,
    console: state.console,
  }
}

/** The newest report of another run of the same kind. */
async function previous(run: HostsRunRecord, folder: RunFolder): Promise<RunReport | null> {
  for (const id of await folder.reports()) {
    if (id === run.id) continue
    const report = await folder.report<RunReport>(id)
    if (report && isOfKind(report, run.rehearsed, run.throughIronic !== undefined)) return report
  }
  return null
}

/** Reports of older versions do not say that they went through no Ironic. */
export const isOfKind = (report: Partial<RunReport>, rehearsed: boolean, throughIronic: boolean): boolean =>
  report.rehearsed === rehearsed && ((report.through_ironic ?? null) !== null) === throughIronic

/** The newest report of a run over the same machines in the other way. */
async function otherMethod(run: HostsRunRecord, folder: RunFolder): Promise<RunReport | null> {
  for (const id of await folder.reports()) {
    const report = await folder.report<RunReport>(id)
    if (report && isOfKind(report, run.rehearsed, run.throughIronic === undefined)) return report
  }
  return null
}

function bothWays(other: RunReport, hosts: readonly HostRunReport[], throughIronic: boolean): BothWays | null {
  const both = hosts.flatMap((host) => {
    const there = other.hosts.find((each) => each.host === host.host)
    if (!there) return []
    const here = methodReport(host)
    const beside = methodReport(there)
    return [{ host: host.host, direct: throughIronic ? beside : here, ironic: throughIronic ? here : beside }]
  })
  return both.length === 0 ? null : { with: other.id, hosts: both }
}

const methodReport = ({ outcome, seconds, stages }: HostRunReport): MethodReport => ({
  outcome,
  seconds,
  failed_in: stages.find(({ status }) => status === 'failed')?.stage ?? null,
})

function changes(before: Pick<RunReport, 'hosts'>, hosts: readonly HostRunReport[]): HostChange[] {
  return hosts.flatMap((now): HostChange[] => {
    const { host } = now
    const then = before.hosts.find((each) => each.host === host)
    if (!then) return [{ host, kind: 'new host', text: 'was not in the run before' }]
    if (now.outcome === 'failed') {
      const at = (report: HostRunReport) => report.stages.find(({ status }) => status === 'failed')?.stage
      const kind = then.outcome === 'failed' && at(then) === at(now) ? 'still failing' : 'new failure'
      return [{ host, kind, text: `fails in the stage ${at(now)}: ${now.why}` }]
    }
    if (now.outcome !== 'ok') return []
    const fixed: HostChange[] =
      then.outcome === 'failed' ? [{ host, kind: 'fixed', text: `failed before: ${then.why}` }] : []
    const paces = now.stages.flatMap((stage): HostChange[] => {
      const was = then.stages.find((each) => each.stage === stage.stage)
      if (!was || was.status !== 'done' || stage.status !== 'done') return []
      const text = `${stage.stage} took ${stage.seconds.toFixed(1)} s, and ${was.seconds.toFixed(1)} s before`
      if (isSlower(stage.seconds, was.seconds)) return [{ host, kind: 'slower', text }]
      return isSlower(was.seconds, stage.seconds) ? [{ host, kind: 'faster', text }] : []
    })
    return [...fixed, ...paces]
  })
}

const isSlower = (now: number, before: number): boolean => now > before * SLOWER.factor && now - before > SLOWER.seconds
