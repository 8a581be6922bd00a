import { describe, expect, test } from 'vitest'
import { scriptedTarget } from '../test/kit/scripted-target.js'
import { runCommand } from '../steps/sdk/run-command.js'
import { planTarget, type PlannedWrite } from './plan-target.js'

const bytes = (text: string) => new TextEncoder().encode(text)

function planned() {
  const real = scriptedTarget({ 'lsblk -J': '{}' }, { files: { '/etc/a': 'a', '/etc/b': 'b' } })
  const writes: PlannedWrite[] = []
  return { real, writes, target: planTarget(real, (write) => writes.push(write)) }
}

describe('a planned target', () => {
  test('runs commands that read, and lists commands that write, which succeed without output', async () => {
    const { real, writes, target } = planned()
    expect((await runCommand(target.executor, ['lsblk', '-J'], { effect: 'reads' })).stdout).toBe('{}')
    const wiped = await runCommand(target.executor, ['wipefs', '--all', '/dev/sda'], { effect: 'writes' })
    expect(wiped).toEqual({ stdout: '', stderr: '', exit: { kind: 'exited', code: 0 } })
    await runCommand(target.executor, ['dd'], { effect: 'writes', stdin: bytes('xyz') })
    expect(real.commands).toEqual(['lsblk -J'])
    expect(writes).toEqual([
      { kind: 'run', argv: ['wipefs', '--all', '/dev/sda'], stdin: null },
      { kind: 'run', argv: ['dd'], stdin: bytes('xyz') },
    ])
  })

  test('lists a command once however often its id is started or attached to', async () => {
    const { writes, target } = planned()
    for (let n = 0; n < 2; n++) await target.executor.start({ argv: ['dd'], effect: 'writes', id: 'one' })
    expect(await (await target.executor.attach('one', 0)).exit).toEqual({ kind: 'exited', code: 0 })
    expect(writes).toHaveLength(1)
    await expect(target.executor.attach('two', 0)).rejects.toThrow()
  })

  test('reads files as planned, and leaves the real ones unchanged', async () => {
    const { real, writes, target } = planned()
    const { files } = target.executor
    await files.write('/etc/a', bytes('new'), { mode: 0o600 })
    await files.write('/run/x/note', bytes('x'))
    await files.remove('/etc/b')
    await files.remove('/etc/b')
    await files.remove('/nothing')

    expect(Buffer.from(await files.read('/etc/a')).toString()).toBe('new')
    await expect(files.read('/etc/b')).rejects.toMatchObject({ code: 'ENOENT' })
    expect(await files.exists('/etc/b')).toBe(false)
    expect(await files.exists('/run/x')).toBe(true)
    expect(await files.list('/etc')).toEqual(['a'])
    expect(await files.list('/run/x')).toEqual(['note'])
    await expect(files.list('/nowhere')).rejects.toMatchObject({ code: 'ENOENT' })

    expect([...real.tree].map(([path, file]) => [path, Buffer.from(file.bytes).toString()])).toEqual([
      ['/etc/a', 'a'],
      ['/etc/b', 'b'],
    ])
    expect(writes).toEqual([
      { kind: 'write', path: '/etc/a', bytes: bytes('new'), mode: 0o600 },
      { kind: 'write', path: '/run/x/note', bytes: bytes('x'), mode: null },
      { kind: 'remove', path: '/etc/b' },
    ])
  })
})
