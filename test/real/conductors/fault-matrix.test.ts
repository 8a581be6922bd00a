import { expect, test } from 'vitest'
import { MATRIX_CELLS } from '../../kit/fault-matrix/cells.js'
import { outcomeDifferences } from '../../kit/fault-matrix/compare-outcomes.js'
import { readMatrixRecording, recordedOutcome } from '../../kit/fault-matrix/recording.js'
import { playForReal } from '../fault-matrix.js'

/** One of each side and most flows; `test/soak/fault-matrix.test.ts` has all cells. */
const TEN_CELLS = [
  'verify, power state refused',
  'inspect, agent silent',
  'clean, commands reset',
  'manual clean, disk broken',
  'deploy, installer fails',
  'direct, image missing',
  'rescue, commands fail',
  'service, command status fails',
  'teardown, power switch is a lie',
  'power on, bmc silent',
]

test('ten cells of the fault matrix end on a real Ironic as they are recorded', async () => {
  const cells = MATRIX_CELLS.filter(({ title }) => TEN_CELLS.includes(title))
  expect(cells).toHaveLength(TEN_CELLS.length)
  const played = await playForReal(cells)
  const recording = readMatrixRecording()
  for (const cell of cells)
    expect.soft(outcomeDifferences(recordedOutcome(recording, cell), played.get(cell.title)!), cell.title).toEqual({})
}, 1_800_000)
