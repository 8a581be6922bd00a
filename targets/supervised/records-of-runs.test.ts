import { spawn } from 'node:child_process'
import { mkdir, mkdtemp, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { systemClock, systemRandom } from '../../base/runtime/index.js'
import { runToEnd } from '../../steps/sdk/run-command.js'
import { localShell } from './local-shell.js'
import { SupervisedExecutor } from './supervised-executor.js'

const clock = systemClock()
const MIB = 2 ** 20
let place: string
let folder: string
beforeAll(async () => {
  place = await mkdtemp(join(tmpdir(), 'ironstage-records-'))
  folder = join(place, 'own')
})
afterAll(() => rm(place, { recursive: true, force: true }))

const target = (own = folder) =>
  new SupervisedExecutor({ shell: localShell(clock, process.env), clock, random: systemRandom, folder: own })

async function whole(executor: SupervisedExecutor, argv: readonly [string, ...string[]]): Promise<string> {
  const { stdout } = await runToEnd(executor, argv, { effect: 'reads' })
  return stdout
}

describe('records of runs', () => {
  test('are written under none of their names, and a run ends with the exit code of its command', async () => {
    await using executor = target()
    const { files } = executor
    const run = await executor.start({ argv: ['sh', '-c', 'sleep 2; exit 3'], effect: 'writes', id: 'attacked' })
    await symlink(folder, join(place, 'folder'))
    await symlink(join(folder, 'runs'), join(place, 'runs'))
    await symlink(join(folder, 'runs/attacked'), join(place, 'attacked'))
    await mkdir(join(folder, 'loops'))
    const own = [
      `${folder}/runs/attacked`,
      `/${folder}//runs/./attacked`,
      `${place}/folder/runs/attacked`,
      `${place}/runs/attacked`,
      `${place}/attacked`,
      `/proc/self/root${folder}/runs/attacked`,
      `/proc/${process.pid}/root${folder}/runs/attacked`,
    ]
    for (const name of own) {
      await expect(files.write(`${name}/exit`, Buffer.from('0\n')), name).rejects.toMatchObject({ code: 'EACCES' })
      await expect(files.remove(`${name}/pid`), name).rejects.toMatchObject({ code: 'EACCES' })
    }
    for (const name of ['runs/other/exit', 'runs/.new/other.1/run', 'loops/1-1'])
      await expect(files.write(`${folder}/${name}`, Buffer.from('0\n')), name).rejects.toMatchObject({ code: 'EACCES' })
    expect(await run.exit).toEqual({ kind: 'exited', code: 3 })
  })

  test('are not reached by the name that a file is written to first', async () => {
    await using executor = target()
    const run = await executor.start({ argv: ['sh', '-c', 'sleep 1; exit 4'], effect: 'writes', id: 'beside' })
    await mkdir(join(place, 'trap'))
    await symlink(join(folder, 'runs/beside/exit'), join(place, 'trap/.file.ironstage'))
    await executor.files.write(join(place, 'trap/file'), Buffer.from('0\n'))
    expect(await readFile(join(place, 'trap/file'), 'utf8')).toBe('0\n')
    expect(await run.exit).toEqual({ kind: 'exited', code: 4 })
  })

  test('do not make a process of another program the one that is ended', async () => {
    await using executor = target()
    const other = spawn('sleep', ['60'], { stdio: 'ignore', detached: true })
    const ended = new Promise((resolve) => other.once('exit', (_, signal) => resolve(signal)))
    try {
      const run = await executor.start({ argv: ['sleep', '3'], effect: 'writes', id: 'numbered' })
      const group = join(folder, 'runs/numbered/group')
      await expect.poll(() => readFile(group, 'utf8').catch(() => '')).toMatch(/^-\d+ \d+\n$/)
      const [, start] = (await readFile(group, 'utf8')).trim().split(' ')
      // As after the command has ended and its number has gone to another process.
      await writeFile(group, `-${other.pid} ${Number(start) - 1}\n`)
      await run.cancel()
      expect(await run.exit).toEqual({ kind: 'exited', code: 0 })
      expect(other.exitCode ?? other.signalCode).toBeNull()
    } finally {
      other.kill('SIGKILL')
      await ended
    }
  })

  test('of an earlier ironstage are taken over once, and never from where a step may write', async () => {
    const earlier = join(place, 'earlier')
    const record = async (id: string) => {
      await mkdir(join(earlier, id), { recursive: true, mode: 0o700 })
      for (const [name, text] of Object.entries({ pid: '1 1\n', out: 'done\n', err: '', exit: '6\n' }))
        await writeFile(join(earlier, id, name), text)
    }
    const exitOf = async (id: string) => {
      await using executor = target(earlier)
      const argv = ['touch', join(place, 'twice')] as const
      const run = await executor.start({ argv, effect: 'writes', id })
      return await run.exit
    }
    await record('before')
    await record('mnt')
    expect(await exitOf('before')).toEqual({ kind: 'exited', code: 6 })
    await expect(stat(join(place, 'twice'))).rejects.toThrow('ENOENT')
    await record('after')
    expect(await exitOf('after')).toEqual({ kind: 'exited', code: 0 })
    expect(await exitOf('mnt')).toEqual({ kind: 'exited', code: 0 })
  })

  test.each(['mnt', 'loops', 'images', 'runs', '.new', '.read'])('none is of a run with the id %s', async (id) => {
    await using executor = target()
    await executor.facts()
    await mkdir(join(folder, id), { recursive: true })
    for (const [name, text] of Object.entries({ pid: '1 1\n', group: '-1 1\n', out: '', err: '' }))
      await writeFile(join(folder, id, name), text)
    await expect(executor.attach(id, 0)).rejects.toMatchObject({ code: 'unknown-run' })
    await rm(join(folder, id), { recursive: true })
  })
})

describe('files', () => {
  test('are written where their path leads without links', async () => {
    await using executor = target()
    await mkdir(join(place, 'elsewhere/deep'), { recursive: true })
    await mkdir(join(place, 'here'))
    await symlink(join(place, 'elsewhere/deep'), join(place, 'here/link'))
    await executor.files.write(`${place}/here/link/../file`, Buffer.from('x'))
    expect(await readFile(join(place, 'here/file'), 'utf8')).toBe('x')
    await expect(stat(join(place, 'elsewhere/file'))).rejects.toThrow('ENOENT')
  })

  test('are read only when they are regular files: a pipe would hold the target up', async () => {
    await using executor = target()
    await whole(executor, ['mkfifo', join(place, 'pipe')])
    await expect(executor.files.read(join(place, 'pipe'))).rejects.toMatchObject({ code: 'EINVAL' })
    await expect(executor.files.read('/dev/zero')).rejects.toMatchObject({ code: 'EINVAL' })
  })
})

describe('the output of a command', () => {
  test.each([
    ['standard output', 'exec yes'],
    ['standard error', 'exec yes >&2'],
    [
      'an output that is written on after it was closed',
      'trap "" PIPE; while :; do printf "%65536s" x 2>/dev/null; done',
    ],
  ])('does not grow beyond the limit: %s', async (_, text) => {
    await using executor = target()
    const run = await executor.start({ argv: ['sh', '-c', text], effect: 'reads', id: 'flood' })
    let length = 0
    for await (const { bytes } of run.output) length += bytes.length
    await expect(run.exit).rejects.toMatchObject({
      code: 'too-much-output',
      message: 'sh printed more than 32 MiB on this host',
    })
    expect(length).toBe(32 * MIB)
    for (const name of ['out', 'err'])
      expect((await stat(join(folder, 'runs/flood', name))).size).toBeLessThanOrEqual(32 * MIB)
    await rm(join(folder, 'runs/flood'), { recursive: true })
  })

  test('is refused for steps too, and leaves nothing behind', async () => {
    const executor = target()
    await expect(runToEnd(executor, ['yes'], { effect: 'reads' })).rejects.toMatchObject({
      code: 'too-much-output',
      message: 'yes printed more than 32 MiB on this host',
    })
    await executor[Symbol.asyncDispose]()
    expect(await whole(target(), ['find', join(folder, 'runs'), '-name', 'out', '-size', '+1M'])).toBe('')
  })

  test('ends with the command, also when a process that it has left behind keeps it open', async () => {
    await using executor = target()
    const since = clock.now()
    const text = 'echo before; sleep 60 & echo $!'
    const [before, left] = (await whole(executor, ['sh', '-c', text])).split('\n')
    process.kill(Number(left), 'SIGKILL')
    expect(before).toBe('before')
    expect(clock.now() - since).toBeLessThan(30_000)
  })
})
