import { diffRecordings, readRecording } from '../../recording/index.js'
import type { Environment } from '../environment.js'
import type { DIFF_OPTIONS } from '../options/option-lists.js'
import type { CommandOptionValues } from '../options/resolve-options.js'
import { DifferenceReport } from '../output/differences.js'
import { usageError } from '../usage-error.js'

/** `ironstage diff A B`: compares two recordings. Exit code 1 where they differ. */
export async function diff(
  { known, partial = false, json = false }: CommandOptionValues<(typeof DIFF_OPTIONS)[number]>,
  environment: Environment,
  files: readonly string[],
): Promise<number> {
  const [one, other, ...more] = files
  if (one === undefined || other === undefined || more.length > 0)
    throw usageError(`two recordings are compared, not ${files.length}`, 'ironstage diff before.ndjson after.ndjson')
  const report = await DifferenceReport.open(known, environment, json)
  const was = await readRecording(one, { partial })
  const is = await readRecording(other, { partial })
  for (const recording of [was, is]) report.about(recording)
  const { differences, calls } = diffRecordings(was, is)
  return report.end(differences, calls)
}
