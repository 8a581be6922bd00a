import { expect, test } from 'vitest'
import { Journal, type JournalLine } from './system-journal.js'

const line = (at: number): JournalLine => ({
  at,
  from: 'systemd[1]',
  priority: at % 2 === 0 ? 'info' : 'err',
  message: `Started unit ${at % 7}.`,
})

test('the last 1500 lines are kept, as they were written', () => {
  const journal = new Journal()
  for (let at = 1; at <= 1600; at++) journal.add(line(at))
  expect(journal.lines).toEqual(Array.from({ length: 1500 }, (_, n) => line(n + 101)))
})

test('a journal is made again from its lines', () => {
  const lines = [line(1), line(2), line(3)]
  expect(new Journal(lines).lines).toEqual(lines)
})
