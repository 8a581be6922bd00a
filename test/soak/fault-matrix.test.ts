import { expect, test } from 'vitest'
import { outcomeDifferences } from '../kit/fault-matrix/compare-outcomes.js'
import { MATRIX_CELLS } from '../kit/fault-matrix/cells.js'
import { readMatrixRecording, recordedOutcome, writeMatrixRecording } from '../kit/fault-matrix/recording.js'
import { playForReal } from '../real/fault-matrix.js'

/** A part of the titles: `MATRIX_CELLS='^deploy, '`. */
const WANTED = new RegExp(process.env['MATRIX_CELLS'] ?? '')
/** With `MATRIX_RECORD=1` the recording is made new, not compared. */
const IS_RECORDING = process.env['MATRIX_RECORD'] === '1'

/** Milliseconds: a real Ironic plays some eight cells a minute. */
const ALL_CELLS_TIMEOUT = 7_200_000

test(
  'a real Ironic makes of every cell of the fault matrix what is recorded',
  async () => {
    const cells = MATRIX_CELLS.filter(({ title }) => WANTED.test(title))
    expect(cells).not.toEqual([])
    const played = await playForReal(cells)
    if (IS_RECORDING) await writeMatrixRecording(played)
    const recording = readMatrixRecording()
    for (const cell of cells)
      expect.soft(outcomeDifferences(recordedOutcome(recording, cell), played.get(cell.title)!), cell.title).toEqual({})
  },
  ALL_CELLS_TIMEOUT,
)
