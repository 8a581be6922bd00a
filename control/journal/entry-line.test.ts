import { expect, test } from 'vitest'
import { entryLine } from './entry-line.js'
import type { MachineEntry } from './entry.js'

const HEAD = {
  id: 1,
  node: null,
  name: null,
  machine: 'machine-1',
  fault: null,
  labTime: '2026-01-01T12:00:00.000Z',
  wallTime: '2026-01-01T12:00:00.000Z',
}

test.each<[Pick<MachineEntry, 'kind' | 'what' | 'error'>, string]>([
  [{ kind: 'power', what: 'on', error: null }, 'power on'],
  [{ kind: 'power', what: 'request: on', error: null }, 'power request: on'],
  [{ kind: 'boot', what: 'ramdisk', error: null }, 'boots: ramdisk'],
  [
    { kind: 'boot', what: 'no bootable device', error: 'disk: no bootable system' },
    'boots: no bootable device: disk: no bootable system',
  ],
])('the entry %j is shown as one line', (entry, line) => {
  expect(entryLine({ ...HEAD, ...entry })).toBe(`12:00:00.000  machine-1  ${line}`)
})
