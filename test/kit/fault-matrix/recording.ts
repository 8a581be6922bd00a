import { readFileSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { MATRIX_CELLS, type MatrixCell } from './cells.js'
import type { CellOutcome } from './outcome.js'
import { MATRIX_SETTINGS } from './settings.js'

const FIXTURE = new URL('../../fixtures/fault-matrix/ironic-39.json', import.meta.url)

/** Outcomes of the cells on a real Ironic, with the options that it had. */
interface MatrixRecording {
  readonly ironic: string
  readonly settings: typeof MATRIX_SETTINGS
  readonly cells: Readonly<Record<string, CellOutcome>>
}

export const readMatrixRecording = (): MatrixRecording => JSON.parse(readFileSync(FIXTURE, 'utf8')) as MatrixRecording

/** @throws when the cell was never recorded */
export function recordedOutcome({ cells }: MatrixRecording, { title }: MatrixCell): CellOutcome {
  const found = cells[title]
  if (!found) throw new Error(`${title} is not recorded: MATRIX_RECORD=1 npm run test:soak -- fault-matrix`)
  return found
}

/** Replaces the recorded outcomes of some cells; those of cells that are gone go too. */
export async function writeMatrixRecording(played: ReadonlyMap<string, CellOutcome>): Promise<void> {
  const before = readMatrixRecording().cells
  const outcomes = MATRIX_CELLS.map(({ title }) => [title, played.get(title) ?? before[title]] as const)
  const cells = Object.fromEntries(outcomes.filter(([, outcome]) => outcome !== undefined))
  await writeFile(FIXTURE, `${JSON.stringify({ ironic: '39.0.0', settings: MATRIX_SETTINGS, cells }, null, 2)}\n`)
}
