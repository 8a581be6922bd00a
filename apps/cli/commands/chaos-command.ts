import { join } from 'node:path'
import { chaos as play, chaosTest, faultsYaml, journalOf, type ChaosReport } from '../../../lab/index.js'
import { defined, durationText, makeFolder, readDuration } from '../../../base/runtime/index.js'
import type { Environment } from '../environment.js'
import { fileUnwritableError, writeOutput } from '../output/write-output.js'
import { faultsIn } from './fault-command.js'
import type { CommandOptionValues } from '../options/resolve-options.js'
import type { CHAOS_OPTIONS } from '../options/option-lists.js'
import { usageError } from '../usage-error.js'

/** `ironstage chaos`: exit code 1 where something that must always hold did not. */
export async function chaos(
  {
    nodes,
    duration,
    seed,
    faults,
    out,
    'no-shrink': whole,
    json = false,
  }: CommandOptionValues<(typeof CHAOS_OPTIONS)[number]>,
  environment: Environment,
): Promise<number> {
  const { stdout, stopped } = environment
  const report = await play({
    ...defined({
      nodes,
      duration: duration === undefined ? undefined : lengthOf(duration),
      seed,
      faults: faults === undefined ? undefined : await faultsIn([faults], environment),
    }),
    shrink: !whole,
    signal: stopped,
  })
  const files = out === undefined ? [] : await writeChaosReport(report, out)
  stdout.either(json, { ...report, files }, formatChaosReport(report, files))
  return report.violations.length > 0 ? 1 : 0
}

function lengthOf(text: string): number {
  const length = readDuration(text)
  if (length !== undefined && length > 0) return length
  throw usageError(`--duration ${text} is not a length of time`, 'write it as 10m')
}

function formatChaosReport(report: ChaosReport, files: readonly string[]): string[] {
  const { plan, violations, strikes, deployments, active, shortest } = report
  const lines = [
    `seed ${plan.seed}: ${count(plan.nodes.length, 'node')}, ${durationText(plan.duration)} of lab time`,
    `${count(plan.faults.length, 'fault')} struck ${count(strikes, 'time')}; ` +
      `${count(deployments, 'deployment')} asked for, ${count(active, 'time')} active`,
  ]
  if (violations.length === 0) return [...lines, 'all invariants held']
  for (const { invariant, node, seen, at } of violations)
    lines.push(`${invariant}: ${node === null ? '' : `${node}: `}${seen} (after ${durationText(at)})`)
  if (shortest) {
    const { runs, violation } = shortest
    const left = count(shortest.plan.faults.length, 'fault')
    lines.push(`shrunk to ${left} and ${count(shortest.plan.actions.length, 'wish', 'es')} in ${count(runs, 'run')}`)
    if (files.length === 0)
      lines.push(
        '',
        ...linesIn(faultsYaml(shortest.plan, violation)),
        '',
        ...linesIn(chaosTest(shortest.plan, violation)),
      )
  }
  if (files.length > 0) lines.push(`written: ${files.join(', ')}`)
  return lines
}

const linesIn = (file: string): string[] => file.trimEnd().split('\n')

const count = (number: number, what: string, plural = 's'): string => `${number} ${what}${number === 1 ? '' : plural}`

/** Writes what a failure needs to be looked at. */
async function writeChaosReport(report: ChaosReport, folder: string): Promise<string[]> {
  const [violation] = report.violations
  const { plan, violation: last } = report.shortest ?? { plan: report.plan, violation }
  const journal = await journalOf(plan)
  const files: Record<string, string> = {
    'report.json': `${JSON.stringify(report, null, 2)}\n`,
    'journal.ndjson': journal.map((entry) => `${JSON.stringify(entry)}\n`).join(''),
    ...(last ? { 'faults.yaml': faultsYaml(plan, last), 'chaos.test.ts': chaosTest(plan, last) } : {}),
  }
  await makeFolder(folder).catch((cause: unknown) => {
    throw fileUnwritableError(folder, cause, { kind: 'usage', remedy: 'name a folder with --out' })
  })
  for (const [name, contents] of Object.entries(files)) await writeOutput(join(folder, name), contents)
  return Object.keys(files).map((name) => join(folder, name))
}
