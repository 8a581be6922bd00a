import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { JournalEntry } from '../../control/index.js'
import { readCursor } from './entry-cursor.js'
import { mergeEntries, type ProcessEntries } from './merge-entries.js'

const head = (id: number, ms: number) => ({
  id,
  node: 'node',
  name: null,
  machine: null,
  labTime: new Date(ms).toISOString(),
  wallTime: new Date(ms).toISOString(),
  fault: null,
})

const note = (id: number, ms: number): JournalEntry => ({ ...head(id, ms), kind: 'lab', what: `${id}` })

const state = (id: number, ms: number, revision: number): JournalEntry => ({
  ...head(id, ms),
  kind: 'state',
  state: 'active',
  was: null,
  target: null,
  power: null,
  lastError: null,
  revision,
})

const orderOf = (lists: readonly ProcessEntries[]) =>
  mergeEntries(lists, new Map()).map(({ process, id }) => `${process} ${id}`)

test('entries of two processes stand in the order of their times, and each process keeps its own order', () => {
  const first = { process: 'a', stream: 1, entries: [note(1, 10), note(2, 30), note(3, 20)] }
  const second = { process: 'b', stream: 2, entries: [note(1, 15), note(2, 25)] }
  expect(orderOf([first, second])).toEqual(['a 1', 'b 1', 'b 2', 'a 2', 'a 3'])
})

test('entries of the same moment are in the same order at any process', () => {
  const first = { process: 'a', stream: 1, entries: [note(1, 10), note(2, 10)] }
  const second = { process: 'b', stream: 2, entries: [note(1, 10)] }
  expect(orderOf([first, second])).toEqual(['a 1', 'a 2', 'b 1'])
  expect(orderOf([second, first])).toEqual(['a 1', 'a 2', 'b 1'])
})

test('states of a node stand in the order of its commits, whatever the clocks say', () => {
  const slow = { process: 'a', stream: 1, entries: [note(1, 5), state(2, 40, 3)] }
  const quick = { process: 'b', stream: 2, entries: [state(1, 20, 4), note(2, 21)] }
  expect(orderOf([slow, quick])).toEqual(['a 1', 'a 2', 'b 1', 'b 2'])
})

test('a node that was made again with the same uuid begins after the end of the first', () => {
  const first = { process: 'a', stream: 1, entries: [state(1, 0, 9)] }
  const again = { process: 'b', stream: 2, entries: [state(1, 60_000, 1)] }
  expect(orderOf([first, again])).toEqual(['a 1', 'b 1'])
})

test('whoever goes on behind any entry of a page reads the others, each once', () => {
  const anyList = fc.array(fc.record({ ms: fc.nat(50), revision: fc.option(fc.nat(9), { nil: undefined }) }), {
    maxLength: 12,
  })
  fc.assert(
    fc.property(fc.array(anyList, { minLength: 1, maxLength: 4 }), fc.nat(40), (made, cut) => {
      const lists = made.map((entries, index) => ({
        process: `p${index}`,
        stream: index + 1,
        entries: entries.map(({ ms, revision }, at) =>
          revision === undefined ? note(at + 1, ms) : state(at + 1, ms, revision),
        ),
      }))
      const all = mergeEntries(lists, new Map())
      const page = all.slice(0, cut)
      const cursor = readCursor(page.at(-1)?.cursor ?? '0', 'cursor')
      const left = lists.map((list) => ({
        ...list,
        entries: list.entries.filter(({ id }) => id > (cursor.get(list.stream) ?? 0)),
      }))
      const seen = [...page, ...mergeEntries(left, cursor)].map(({ process, id }) => `${process} ${id}`)
      expect(seen.toSorted()).toEqual(all.map(({ process, id }) => `${process} ${id}`).toSorted())
    }),
  )
})
