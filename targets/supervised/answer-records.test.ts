import { expect, test } from 'vitest'
import type { Conversation } from './conversation.js'
import { taggedLines } from './tagged-lines.js'
import { readRecords, type Record } from './answer-records.js'

/** Limits of the answers of a target, so that no target decides how much memory is used. */

const MIB = 2 ** 20

async function* sent(...parts: readonly string[]): AsyncGenerator<Uint8Array> {
  for (const part of parts) yield Buffer.from(part)
}

async function all(stream: AsyncIterable<Uint8Array>): Promise<Record[]> {
  const found: Record[] = []
  for await (const record of readRecords(stream, 'hello', 'lab-7')) found.push(record)
  return found
}

test('records come after the greeting, whatever the parts in which they arrive', async () => {
  expect(await all(sent('motd\nhel', 'lo\nx a', ' b\no 3\nab', 'ck\n'))).toEqual([
    { kind: 'line', tag: 'h', text: '' },
    { kind: 'line', tag: 'x', text: 'a b' },
    { kind: 'output', stream: 'stdout', bytes: Buffer.from('abc') },
    { kind: 'line', tag: 'k', text: '' },
  ])
})

test('a piece of output that is announced as too long is refused before it is read', async () => {
  await expect(all(sent('hello\n', `e ${65 * MIB}\n`))).rejects.toMatchObject({
    code: 'target-says-too-much',
    message: 'lab-7 sent more than 64 MiB in one piece',
  })
})

test('a line without an end is refused', async () => {
  const endless = Array<string>(3).fill('x'.repeat(MIB))
  await expect(all(sent('hello\n', ...endless))).rejects.toMatchObject({
    message: 'lab-7 sent more than 1 MiB without a line break',
  })
})

test('an answer of lines without an end is refused', async () => {
  let lines = 0
  const conversation = {
    name: 'lab-7',
    ask: (_: () => string, take: (record: Record) => boolean) => {
      while (lines++ < 100) if (take({ kind: 'line', tag: 'f', text: 'x'.repeat(MIB / 2) })) break
      return Promise.resolve()
    },
  } as unknown as Conversation
  await expect(async () => taggedLines(conversation, 'ls', 'looking for disks')).rejects.toMatchObject({
    code: 'target-says-too-much',
    message: 'lab-7 sent more than 16 MiB while looking for disks',
  })
  expect(lines).toBeLessThan(40)
})
