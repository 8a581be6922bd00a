import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { MATRIX_CELLS, type MatrixCell } from '../kit/fault-matrix/cells.js'
import { outcomeDifferences, type OutcomeDifferences } from '../kit/fault-matrix/compare-outcomes.js'
import { openOwnMatrix, type OwnMatrix } from '../kit/fault-matrix/own-side.js'
import { readMatrixRecording, recordedOutcome } from '../kit/fault-matrix/recording.js'
import { MATRIX_SETTINGS } from '../kit/fault-matrix/settings.js'
import { fidelityRows } from '../kit/fidelity/fidelity-rows.js'

/**
 * Faults in every flow, on our Ironic and as recorded of a real one: the same end state, the same kind of error, the same time
 * limit that passed.
 */

interface KnownDifference {
  /** A row of docs/fidelity/ is named by this. */
  readonly title: string
  /** All cells that differ so, by their titles, with the members of the outcome that differ. */
  readonly cells: Readonly<Record<string, readonly string[]>>
}

/** Differences that are on purpose, or not mended yet: a cell that no longer differs so fails. */
const KNOWN_DIFFERENCES: readonly KnownDifference[] = [
  {
    title: 'a failed flow keeps its last_error when the machine is powered off after it',
    cells: {
      'deploy, power switch is a lie': ['last_error'],
      'inspect, agent silent': ['last_error'],
      'inspect, inspection data refused': ['last_error'],
      'deploy, second command garbled': ['last_error'],
      'direct, second command garbled': ['last_error'],
      'deploy, image missing': ['last_error'],
      'deploy, image busy': ['last_error'],
      'deploy, image cut off': ['last_error'],
      'deploy, image spoilt': ['last_error'],
      'deploy, image server resets': ['last_error'],
      'deploy, partitions late': ['last_error'],
      'direct, image missing': ['last_error'],
      'direct, image cut off': ['last_error'],
      'direct, image spoilt': ['last_error'],
      'direct, image server resets': ['last_error'],
      'inspect, power lost as the agent starts': ['last_error'],
      'deploy, disk broken': ['last_error'],
      'direct, disk broken': ['last_error'],
      'deploy, disk full': ['last_error'],
      'direct, disk full': ['last_error'],
      'deploy, disk lies': ['last_error'],
      'deploy, installer fails': ['last_error'],
      'deploy, power switch fails': ['last_error'],
      'deploy, power switch fails once': ['last_error'],
      'deploy, power switch busy': ['last_error'],
      'deploy, power switch reset': ['last_error'],
    },
  },
  {
    title: 'a failed reboot names the request that failed',
    cells: {
      'clean, power switch fails': ['last_error'],
      'teardown, power switch fails': ['last_error'],
      'manual clean, power switch fails': ['last_error'],
      'clean, power switch fails once': ['last_error'],
      'teardown, power switch fails once': ['last_error'],
      'clean, power switch busy': ['last_error'],
      'teardown, power switch busy': ['last_error'],
      'clean, power switch reset': ['last_error'],
      'teardown, power switch reset': ['last_error'],
      'deploy, power switch fails': ['failure', 'last_error'],
      'deploy, power switch fails once': ['failure', 'last_error'],
      'deploy, power switch busy': ['failure', 'last_error'],
      'deploy, power switch reset': ['failure', 'last_error'],
    },
  },
  {
    title: 'an error of the Redfish library has the sentence of Ironic’s own errors',
    cells: {
      'rescue, power switch fails': ['last_error'],
      'unrescue, power switch fails': ['last_error'],
      'rescue, power switch fails once': ['last_error'],
      'rescue, power switch busy': ['last_error'],
      'deploy, power state garbled': ['last_error'],
    },
  },
  {
    title: 'a power change whose read fails has the sentence of a failed change',
    cells: {
      'power on, bmc silent': ['last_error'],
      'power on, power state refused': ['last_error'],
      'power on, power state garbled': ['last_error'],
    },
  },
  {
    title: 'a boot device that is refused fails the flow where the machine boots',
    cells: {
      'inspect, boot device refused': ['last_error'],
      'deploy, boot device refused': ['last_error'],
      'teardown, boot device refused': ['last_error', 'provision_state', 'target_provision_state'],
    },
  },
  {
    title: 'no medium is built for a ramdisk, so that none can be refused',
    cells: {
      'inspect, media service broken': ['failure', 'last_error', 'provision_state', 'struck', 'target_provision_state'],
      'clean, media service broken': ['failure', 'last_error', 'provision_state', 'struck', 'target_provision_state'],
      'service, media service broken': ['failure', 'last_error', 'provision_state', 'struck', 'target_provision_state'],
      'teardown, media service broken': [
        'failure',
        'last_error',
        'provision_state',
        'struck',
        'target_provision_state',
      ],
      'rescue, media service broken': ['failure', 'last_error', 'provision_state', 'struck', 'target_provision_state'],
      'deploy, media service broken': [
        'failure',
        'last_error',
        'power_state',
        'provision_state',
        'struck',
        'target_provision_state',
      ],
    },
  },
]

const rowTests = fidelityRows().map((row) => row.test)
const recording = readMatrixRecording()

const knownMembers = (title: string): string[] =>
  [...new Set(KNOWN_DIFFERENCES.flatMap(({ cells }) => cells[title] ?? []))].sort()

/** Differences of each cell that was played, by its title. */
const differences = new Map<string, OutcomeDifferences>()
let own: OwnMatrix
beforeAll(async () => {
  own = await openOwnMatrix()
})
afterAll(() => own[Symbol.asyncDispose]())

async function differencesOf(cell: MatrixCell): Promise<OutcomeDifferences> {
  const known = differences.get(cell.title)
  if (known) return known
  const found = outcomeDifferences(recordedOutcome(recording, cell), await own.play(cell))
  differences.set(cell.title, found)
  return found
}

async function expectKnownDifferences(cell: MatrixCell): Promise<void> {
  const found = await differencesOf(cell)
  expect(Object.keys(found).sort(), JSON.stringify(found, null, 1)).toEqual(knownMembers(cell.title))
}

describe('the fault matrix', () => {
  test('was recorded of a real Ironic cell by cell, with the options that ours has', () => {
    expect(Object.keys(recording.cells)).toEqual(MATRIX_CELLS.map(({ title }) => title))
    expect(recording.settings).toEqual(MATRIX_SETTINGS)
    expect(MATRIX_CELLS.length).toBeGreaterThan(120)
  })

  test.each(MATRIX_CELLS)('$title', expectKnownDifferences)
})

describe('what differs in the fault matrix', () => {
  // By its whole title: `$title` would be cut.
  test.each(KNOWN_DIFFERENCES.map((known) => [known.title, known.cells] as const))('%s', async (title, cells) => {
    expect(rowTests).toContainEqual({ file: 'test/contract/fault-matrix.test.ts', title })
    const differing = MATRIX_CELLS.filter((cell) => cell.title in cells)
    expect(differing.map((cell) => cell.title).sort()).toEqual(Object.keys(cells).sort())
    expect(differing).not.toEqual([])
    for (const cell of differing) await expectKnownDifferences(cell)
  })
})
