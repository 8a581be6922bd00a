import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { scriptedTarget } from '../../test/kit/scripted-target.js'
import { errorChain } from '../../base/runtime/index.js'
import { LineSplitter } from './line-splitter.js'
import { runToEnd, runCommand, printCommand } from './run-command.js'

const lines = (...pieces: string[]): string[] => {
  const found: string[] = []
  const splitter = new LineSplitter((line) => found.push(line))
  for (const piece of pieces) splitter.push(new TextEncoder().encode(piece))
  splitter.end()
  return found
}

describe('lines', () => {
  test.each([
    ['a\nb\n', ['a', 'b']],
    ['a\n\nb', ['a', '', 'b']],
    ['a\r\nb\r\n', ['a', 'b']],
    ['> 1%   \r> 2%   \r\r\nend\r\n', ['> 1%   ', '> 2%   ', 'end']],
    ['', []],
  ])('of %j', (text, expected) => expect(lines(text)).toEqual(expected))

  test('do not depend on the pieces in which the output arrives', () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom('a', 'é', '\n', '\r\n', '\r', '  ')), (parts) => {
        const bytes = new TextEncoder().encode(parts.join(''))
        const found: string[] = []
        const splitter = new LineSplitter((line) => found.push(line))
        for (const byte of bytes) splitter.push(Uint8Array.of(byte))
        splitter.end()
        expect(found).toEqual(lines(parts.join('')))
      }),
    )
  })
})

describe('a command', () => {
  const target = scriptedTarget({
    good: { stdout: 'out\n', stderr: 'err\n' },
    bad: { code: 3, stderr: '\nbad: it broke\nusage: bad\n' },
    killed: { exit: { kind: 'signalled', signal: 'SIGKILL' } },
  })

  test('delivers its output, and its lines as they come', async () => {
    const seen: string[] = []
    const { stdout, stderr } = await runCommand(target.executor, ['good'], {
      effect: 'reads',
      onLine: (line, stream) => seen.push(`${stream} ${line}`),
    })
    expect([stdout, stderr]).toEqual(['out\n', 'err\n'])
    expect(seen).toEqual(['stdout out', 'stderr err'])
  })

  test.each([
    [['bad', '-x y'], "running bad '-x y': it ended with exit code 3: bad: it broke"],
    [['killed'], 'running killed: it was ended by SIGKILL'],
    [['nosuch'], 'running nosuch: it ended with exit code 127: nosuch: command not found'],
  ])('%j fails with a chain of causes', async (argv, sentence) => {
    const error: unknown = await runCommand(target.executor, argv as [string], { effect: 'reads' }).catch(
      (e: unknown) => e,
    )
    expect(errorChain(error).join(': ')).toBe(sentence)
  })

  test('may end with another accepted exit code', async () => {
    expect((await runCommand(target.executor, ['bad'], { effect: 'reads', accept: [0, 3] })).stdout).toBe('')
    expect((await runToEnd(target.executor, ['killed'], { effect: 'reads' })).exit.kind).toBe('signalled')
  })

  test('is no longer awaited once the agent stops', async () => {
    const stop = new AbortController()
    const forever = scriptedTarget({})
    forever.executor.start = () =>
      Promise.resolve({
        id: '1',
        output: (async function* () {
          await new Promise(() => {})
          yield* []
        })(),
        exit: new Promise(() => {}),
        cancel: () => Promise.reject(new Error('must not be cancelled')),
      })
    const waiting = runToEnd(forever.executor, ['slow'], { effect: 'reads', signal: stop.signal })
    stop.abort(new Error('stopped'))
    await expect(waiting).rejects.toThrow('stopped')
  })
})

test('a command line is shown quoted, without passwords', () => {
  expect(printCommand(['dd', 'if=/dev/zero', "it's", 'https://me:secret@host/x'])).toBe(
    "dd if=/dev/zero 'it'\\''s' https://me:******@host/x",
  )
})
