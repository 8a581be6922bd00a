import { expect, test } from 'vitest'
import { waitsFor, WaitReports } from './first-boot-wait.js'

const lines = (...messages: string[]) => messages.map((message) => ({ from: 'ignition[713]', message }))

test.each([
  ['nothing without a journal', [], null],
  [
    'the server that is asked',
    lines('fetch: op(1): GET http://a.example/x?token=s: attempt #1'),
    'Ignition asks http://a.example/x?token=****** (attempt 1)',
  ],
  [
    'the server, with what came',
    lines('GET http://a.example/x: attempt #4', 'GET error: Get "http://a.example/x": dial tcp: i/o timeout'),
    'Ignition asks http://a.example/x (attempt 4; the last answer: dial tcp: i/o timeout)',
  ],
  [
    'the server, with what came before',
    lines('GET http://a/x: attempt #1', 'GET result: Bad Gateway', 'GET http://a/x: attempt #2'),
    'Ignition asks http://a/x (attempt 2; the last answer: Bad Gateway)',
  ],
  [
    'another thing, by its last line',
    lines('GET http://a/x: attempt #1', 'GET result: OK', 'disks: op(2): [started]  waiting for devices [/dev/sdz]'),
    'disks: op(2): [started]  waiting for devices [/dev/sdz]',
  ],
  [
    'nothing of other programs',
    [{ from: 'systemd[1]', message: 'Starting' }, ...lines('GET http://a/x: attempt #1')],
    'Ignition asks http://a/x (attempt 1)',
  ],
])('a first boot waits for %s', (_, journal, words) => {
  expect(waitsFor(journal)).toBe(words)
})

test('a wait is reported after ten seconds and every half minute', () => {
  const reports = new WaitReports(5000)
  const due = [5000, 14_999, 15_000, 16_000, 44_000, 45_100, 60_000, 76_000].map((now) => reports.due(now))
  expect(due).toEqual([null, null, 10, null, null, 40, null, 71])
})
