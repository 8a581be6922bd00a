import { execFileSync, spawnSync } from 'node:child_process'
import { gunzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { VirtualClock } from '../../runtime/index.js'
import { exited, FakeTarget } from '../../../test/kit/fake-target.js'
import { systemLogs } from '../../../agent/log-collection.js'
import { makeTar } from './tar.js'

/** The files of an archive by name, taken from the format's description: name at 0, octal size at 124. */
function files(archive: Uint8Array): Record<string, string> {
  const bytes = Buffer.from(archive)
  const found: Record<string, string> = {}
  for (let at = 0; bytes[at] !== 0;) {
    const field = (from: number, length: number) =>
      bytes
        .subarray(at + from, at + from + length)
        .toString()
        .replace(/\0.*$/s, '')
    const size = parseInt(field(124, 12), 8)
    found[field(0, 100)] = bytes.subarray(at + 512, at + 512 + size).toString()
    at += 512 + Math.ceil(size / 512) * 512
  }
  return found
}

const gnuTar = spawnSync('tar', ['--version']).stdout?.includes('GNU tar') ?? false

test.skipIf(!gnuTar)('GNU tar reads what is written', () => {
  const archive = makeTar(
    [
      { name: 'empty', content: Buffer.alloc(0) },
      { name: 'var/log/exactly-one-block', content: Buffer.alloc(512, 'x') },
      { name: 'text', content: Buffer.from('grün\n') },
    ],
    1_767_225_600.5,
  )
  expect(archive.length % 512).toBe(0)
  expect(
    execFileSync('tar', ['-tvf', '-', '--utc', '--full-time'], { input: archive })
      .toString()
      .trim()
      .split('\n')
      .map((line) => line.replace(/\s+/g, ' ')),
  ).toEqual([
    '-rw-r--r-- root/root 0 2026-01-01 00:00:00 empty',
    '-rw-r--r-- root/root 512 2026-01-01 00:00:00 var/log/exactly-one-block',
    '-rw-r--r-- root/root 6 2026-01-01 00:00:00 text',
  ])
  expect(files(archive)).toMatchObject({ empty: '', text: 'grün\n' })
})

test('a name that the format cannot hold is refused', () => {
  expect(() => makeTar([{ name: 'x'.repeat(101), content: Buffer.alloc(0) }], 0)).toThrow(RangeError)
})

describe('collecting', () => {
  test('takes what the target can say, leaves out programs it lacks, and shows what went wrong', async () => {
    const clock = new VirtualClock()
    const target = new FakeTarget(clock)
    target.programs = {
      journalctl: () => exited(0, 'the journal\n'),
      mount: () => Promise.reject(new Error('the link broke')),
    }
    const logs = await systemLogs({ target, clock, signal: new AbortController().signal, ownLog: ['one', 'two'] })
    const collected = files(gunzipSync(Buffer.from(logs, 'base64')))
    expect(collected).toMatchObject({
      journal: 'the journal\n',
      mount: 'mount: the link broke\n',
      'agent.log': 'one\ntwo\n',
    })
    expect(collected).not.toHaveProperty('lsblk')
  })
})
