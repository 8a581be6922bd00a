import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, stat, symlink, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { seededRandom, systemClock, systemRandom } from '../../base/runtime/index.js'
import type { Executor } from '../executor.js'
import { runToEnd } from '../../steps/sdk/run-command.js'
import { cutAtRandom, runsOverCuts } from '../../test/kit/cut-shell.js'
import { localShell } from './local-shell.js'
import { LinkLost, type LoginShell } from './login-shell.js'
import { SupervisedExecutor, type SupervisedOptions } from './supervised-executor.js'

const clock = systemClock()
const text = (data: Uint8Array) => Buffer.from(data).toString('utf8')

/** Programs that can be a target's /bin/sh. */
const SHELLS = ['/bin/sh', '/bin/dash', '/bin/bash', '/bin/busybox', '/usr/bin/busybox'].filter((path) =>
  existsSync(path),
)

let place: string
beforeAll(async () => {
  place = await mkdtemp(join(tmpdir(), 'ironstage-runs-'))
})
afterAll(() => rm(place, { recursive: true, force: true }))

let count = 0
async function target(shell?: LoginShell, more: Partial<SupervisedOptions> = {}) {
  const folder = more.folder ?? join(place, `t${count++}`)
  const own = shell ?? localShell(clock, process.env)
  const executor = new SupervisedExecutor({ shell: own, clock, random: systemRandom, folder, ...more })
  return { executor, folder }
}

/** Reads the output and the exit of a run. */
async function whole(executor: Executor, id: string, offset = 0) {
  const run = await executor.attach(id, offset)
  let out = ''
  for await (const chunk of run.output) out += text(chunk.bytes)
  return { out, exit: await run.exit }
}

describe.each(SHELLS)('a target whose sh is %s', (program) => {
  let shell: LoginShell
  beforeAll(async () => {
    const bin = join(place, `bin${count++}`)
    await mkdir(bin)
    await symlink(program, join(bin, 'sh'))
    shell = localShell(clock, { ...process.env, PATH: `${bin}:${process.env['PATH']}` }, [join(bin, 'sh')])
  })
  const envelope = (script: Uint8Array) => Promise.resolve({ line: 'exec sh', stdin: script })

  test('passes arguments, input, outputs and exit code of a command unchanged', async () => {
    const { executor } = await target(shell, { envelope })
    await using _ = executor
    const odd = ['a b', "it's", '$HOME', '`id`', '!', '\\n', 'x\ny', '', '*', 'é']
    const printed = await runToEnd(executor, ['printf', '%s|', ...odd], { effect: 'reads' })
    expect(printed).toEqual({ stdout: `${odd.join('|')}|`, stderr: '', exit: { kind: 'exited', code: 0 } })

    const every = Uint8Array.from({ length: 10_000 }, (_, n) => n % 256)
    const run = await executor.start({ argv: ['cat'], effect: 'reads', stdin: every })
    const parts: Uint8Array[] = []
    for await (const chunk of run.output) parts.push(chunk.bytes)
    expect(Buffer.compare(Buffer.concat(parts), every)).toBe(0)

    const both = await runToEnd(executor, ['sh', '-c', 'echo out; echo err >&2; exit 3'], { effect: 'reads' })
    expect(both).toEqual({ stdout: 'out\n', stderr: 'err\n', exit: { kind: 'exited', code: 3 } })
    expect(await runToEnd(executor, ['sh', '-c', 'kill -9 $$'], { effect: 'reads' })).toMatchObject({
      exit: { kind: 'signalled', signal: 'SIGKILL' },
    })
    expect(await runToEnd(executor, ['no-such-program'], { effect: 'reads' })).toEqual({
      stdout: '',
      stderr: 'no-such-program: command not found\n',
      exit: { kind: 'exited', code: 127 },
    })
  })

  test('starts a run once for any number of starts with its id, and finds it again', async () => {
    const { executor, folder } = await target(shell, { envelope })
    const file = join(folder, 'count')
    const argv = ['sh', '-c', `echo x >>${file}; echo one; echo two >&2; sleep 0.1; echo three`] as const
    const runs = await Promise.all(Array.from({ length: 4 }, () => executor.start({ argv, effect: 'writes', id: 'a' })))
    for (const { exit } of runs) expect(await exit).toEqual({ kind: 'exited', code: 0 })
    expect(await readFile(file, 'utf8')).toBe('x\n')
    await executor[Symbol.asyncDispose]()

    await using later = (await target(shell, { envelope, folder })).executor
    const { out, exit } = await whole(later, 'a')
    expect(exit).toEqual({ kind: 'exited', code: 0 })
    expect([...out.split('\n')].sort()).toEqual(['', 'one', 'three', 'two'])
    await expect(later.attach('b', 0)).rejects.toThrow('does not know the run b')
  })

  test('cancels the whole group of the command', async () => {
    const { executor, folder } = await target(shell, { envelope })
    await using _ = executor
    const argv = ['sh', '-c', `sleep 30 & echo $! >${folder}/inner; wait`] as const
    const run = await executor.start({ argv, effect: 'writes', id: 'long' })
    const inner = async () => Number(await readFile(join(folder, 'inner'), 'utf8').catch(() => '0'))
    while (!(await inner())) await clock.sleep(10)
    await run.cancel()
    expect(await run.exit).toEqual({ kind: 'signalled', signal: 'SIGTERM' })
    const pid = await inner()
    while (existsSync(`/proc/${pid}`) && !/\) Z /.test(await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => ') Z ')))
      await clock.sleep(10)
  })

  test('reads, writes, lists and removes files', async () => {
    const { executor, folder } = await target(shell, { envelope })
    await using _ = executor
    const { files } = executor
    const every = Uint8Array.from({ length: 5000 }, (_, n) => (n * 7) % 256)
    await files.write(`${folder}/x/it's a file`, every, { mode: 0o600 })
    expect(Buffer.compare(await files.read(`${folder}/x/it's a file`), every)).toBe(0)
    expect((await stat(`${folder}/x/it's a file`)).mode & 0o7777).toBe(0o600)
    await files.write(`${folder}/x/empty`, new Uint8Array())
    expect((await files.read(`${folder}/x/empty`)).length).toBe(0)
    expect(await files.list(`${folder}/x`)).toEqual(['empty', "it's a file"])
    await files.remove(`${folder}/x/empty`)
    await files.remove(`${folder}/x/empty`)
    expect([await files.exists(`${folder}/x/empty`), await files.exists(`${folder}/x`)]).toEqual([false, true])
    await expect(files.read(`${folder}/x/empty`)).rejects.toMatchObject({ code: 'ENOENT' })
    await expect(files.read(`${folder}/x`)).rejects.toMatchObject({ code: 'EISDIR' })
    expect(text(await files.read('/proc/sys/kernel/ostype'))).toBe('Linux\n')
  })
})

test('what is read at the same time is read by one script, and fails alone', async () => {
  const own = localShell(clock, process.env)
  let opened = 0
  const cutOnce: LoginShell = {
    ...own,
    open: async (line, options) => {
      const channel = await own.open(line, options)
      if (++opened !== 2) return channel
      const exit = channel.exit.then(() => Promise.reject(new LinkLost('the link is cut')))
      exit.catch(() => {})
      return { ...channel, stdout: firstAnswer(channel.stdout), exit }
    },
  }
  const { executor, folder } = await target(cutOnce)
  await using _ = executor
  const { files } = executor
  await executor.facts()
  for (const name of ['a', 'b']) await writeFile(join(folder, name), name)
  const answers = await Promise.allSettled([
    files.read(join(folder, 'a')).then(text),
    files.read(join(folder, 'none')),
    files.exists(join(folder, 'none')),
    files.read(join(folder, 'b')).then(text),
  ])
  expect(answers).toMatchObject([{ value: 'a' }, { reason: { code: 'ENOENT' } }, { value: false }, { value: 'b' }])
  expect(opened).toBe(3)
})

/** Ends after the first file. */
async function* firstAnswer(stream: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  const all: Uint8Array[] = []
  for await (const bytes of stream) all.push(bytes)
  const bytes = Buffer.concat(all)
  yield bytes.subarray(0, bytes.indexOf('k\n') + 2)
}

test('loses no exit code and runs no command twice while the link is cut', async () => {
  const shell = cutAtRandom(localShell(clock, process.env), { clock, random: seededRandom(7), cuts: 8 })
  await runsOverCuts(shell, { folder: join(place, `cuts${count++}`), clock, random: systemRandom })
})

test('a run outlives the process that started it, and the next process finds its exit code', async () => {
  const { executor, folder } = await target()
  await using _ = executor
  await executor.facts()
  // Starts the run from another process, which is killed at once.
  const body = join(place, 'launch.mjs')
  const dist = new URL('../../dist/targets/supervised/', import.meta.url).href
  const runtime = new URL('../../dist/base/runtime/index.js', import.meta.url).href
  if (!existsSync(new URL(`${dist}supervised-executor.js`))) return
  await writeFile(
    body,
    `import { SupervisedExecutor } from '${dist}supervised-executor.js'
import { localShell } from '${dist}local-shell.js'
import { systemClock, systemRandom } from '${runtime}'
const clock = systemClock()
const executor = new SupervisedExecutor({ shell: localShell(clock, process.env), clock, random: systemRandom, folder: '${folder}' })
await executor.start({ argv: ['sh', '-c', 'sleep 0.7; echo late; echo err >&2; exit 5'], effect: 'writes', id: 'outlives' })
process.kill(process.pid, 'SIGKILL')
`,
  )
  const signal = await new Promise((resolve) =>
    spawn(process.execPath, [body], { stdio: 'inherit' }).once('exit', (_code, name) => resolve(name)),
  )
  expect(signal).toBe('SIGKILL')
  const { out, exit } = await whole(executor, 'outlives')
  expect(exit).toEqual({ kind: 'exited', code: 5 })
  expect(out).toContain('late')
})

test('attach continues at an offset of the output that this session has delivered', async () => {
  const { executor } = await target()
  await using _ = executor
  const run = await executor.start({
    argv: ['sh', '-c', 'echo abc; sleep 0.1; echo DEF >&2; sleep 0.1; echo ghi'],
    effect: 'writes',
    id: 'x',
  })
  // The order in which the two streams are delivered depends on when each was read.
  const handedOut: { stream: 'stdout' | 'stderr'; letter: string }[] = []
  for await (const { stream, bytes } of run.output) for (const letter of text(bytes)) handedOut.push({ stream, letter })
  expect(handedOut).toHaveLength(12)
  const expected = { stdout: '', stderr: '' }
  for (const { stream, letter } of handedOut.slice(6)) expected[stream] += letter
  const rest = { stdout: '', stderr: '' }
  for await (const { stream, bytes } of (await executor.attach('x', 6)).output) rest[stream] += text(bytes)
  expect(rest).toEqual(expected)
})

test('the exit of a run whose supervisor was killed is unknown, and its command does not run again', async () => {
  const { executor, folder } = await target()
  await using _ = executor
  const argv = ['sh', '-c', `echo x >>${folder}/count; sleep 0.4`] as const
  const run = await executor.start({ argv, effect: 'writes', id: 'x' })
  process.kill(Number((await readFile(join(folder, 'runs/x/pid'), 'utf8')).split(' ')[0]), 'SIGKILL')
  expect(await run.exit).toEqual({ kind: 'unknown', why: 'its supervisor on the target was killed' })
  const again = await executor.start({ argv, effect: 'writes', id: 'x' })
  expect(await again.exit).toMatchObject({ kind: 'unknown' })
  expect(await readFile(join(folder, 'count'), 'utf8')).toBe('x\n')
})

test('a reboot is not a lost link: the exit of a run is unknown, and no command starts', async () => {
  const { executor, folder } = await target()
  await using _ = executor
  await executor.facts()
  // A target whose boot id changes with the second script.
  let scripts = 0
  const plain = localShell(clock, process.env)
  const rebooting: LoginShell = {
    ...plain,
    open: (line, options) => {
      const script = Buffer.from(options?.stdin ?? []).toString('latin1')
      const changed = scripts++ > 0 ? script.replace('random/boot_id', 'ostype') : script
      return plain.open(line, { ...options, stdin: Buffer.from(changed, 'latin1') })
    },
  }
  await using changed = (await target(rebooting, { folder })).executor
  await changed.facts()
  await expect(changed.start({ argv: ['touch', join(folder, 'never')], effect: 'writes', id: 'y' })).rejects.toThrow(
    'has rebooted since',
  )
  expect(existsSync(join(folder, 'never'))).toBe(false)
})

test('a script that arrives in part runs no command', async () => {
  const plain = localShell(clock, process.env)
  const folder = join(place, `partial${count++}`)
  let short = 0
  const cutting: LoginShell = {
    ...plain,
    open: (line, options) => {
      const all = options?.stdin ?? new Uint8Array()
      // The first attempts end normally but too early, at all kinds of places.
      const part = short < 40 ? all.subarray(0, Math.floor((all.length * short++) / 40)) : all
      return plain.open(line, { ...options, stdin: part })
    },
  }
  await using whole = (await target(plain, { folder })).executor
  await whole.facts()
  await using executor = (await target(cutting, { folder, timeout: 1 })).executor
  await expect(executor.start({ argv: ['touch', join(folder, 'never')], effect: 'writes' })).rejects.toThrow()
  expect(await readdir(folder, { recursive: true })).toEqual(['runs', 'runs/.new'])
})

test('folders have mode 0700 and input 0600, and the input is removed in the end', async () => {
  const { executor, folder } = await target()
  await using _ = executor
  const large = Buffer.alloc(600_000, 'secret ')
  const run = await executor.start({
    argv: ['sh', '-c', 'cat >/dev/null; sleep 0.2'],
    effect: 'writes',
    id: 'z',
    stdin: large,
  })
  expect((await stat(folder)).mode & 0o777).toBe(0o700)
  expect((await stat(join(folder, 'runs/z'))).mode & 0o777).toBe(0o700)
  const beside = join(folder, 'runs/.new')
  const [own] = await readdir(beside)
  expect((await stat(beside)).mode & 0o777).toBe(0o700)
  expect((await stat(join(beside, own!, 'in'))).mode & 0o777).toBe(0o600)
  await run.exit
  // The exit code is there a moment before the input is gone.
  await expect.poll(() => readdir(beside)).toEqual([])
  expect((await readdir(join(folder, 'runs/z'))).sort()).toEqual(['err', 'exit', 'group', 'out', 'pid'])
  expect((await readdir(folder, { recursive: true })).filter((name) => name.includes('staged'))).toEqual([])
})

test('files of killed processes are removed once they are too old to be used', async () => {
  const folder = join(place, `left${count++}`)
  const days = (n: number) => new Date(clock.now() - n * 86_400_000)
  const left = async (path: string, age: number) => {
    await mkdir(dirname(join(folder, path)), { recursive: true })
    await writeFile(join(folder, path), '')
    await utimes(join(folder, path), days(age), days(age))
  }
  await left('runs/ended-long-ago/exit', 8)
  await left('runs/ended/exit', 2)
  await left('runs/at-work/out', 8)
  await left('old.ign', 2)
  await left('new.ign', 0.5)
  await left('runs/.read/4711', 2)
  for (const name of ['run-1', 'staged-1']) {
    await mkdir(join(folder, 'runs/.new', name), { recursive: true })
    await utimes(join(folder, 'runs/.new', name), days(2), days(2))
  }
  // Files that an earlier ironstage has left, and those of a disk that is mounted there.
  await left('staged-1', 2)
  await left('.new/run-1/in', 2)
  await utimes(join(folder, '.new/run-1'), days(2), days(2))
  await left('mnt/sda1/exit', 8)
  await left('mnt/sda1/prod.ign', 8)
  await left('mnt/old.ign/file', 8)
  await utimes(join(folder, 'mnt/old.ign'), days(8), days(8))
  await chmod(folder, 0o700)
  await using executor = (await target(undefined, { folder })).executor
  await executor.facts()
  expect((await readdir(folder, { recursive: true })).sort()).toEqual(
    [
      '.new',
      'mnt',
      'mnt/old.ign',
      'mnt/old.ign/file',
      'mnt/sda1',
      'mnt/sda1/exit',
      'mnt/sda1/prod.ign',
      'new.ign',
      'runs',
      'runs/.new',
      'runs/.read',
      'runs/at-work',
      'runs/at-work/out',
      'runs/ended',
      'runs/ended/exit',
    ].sort(),
  )
})

test('files with secrets are removed once the command has succeeded, but no other file at their path', async () => {
  const folder = join(place, `secrets${count++}`)
  const secret = join(folder, 'x.ign')
  const prepare = (command: { argv: readonly [string, ...string[]] }) => ({ argv: command.argv, secrets: [secret] })
  await using executor = (await target(undefined, { folder, prepare })).executor
  const gone = async () => {
    for (let n = 0; n < 100 && existsSync(secret); n++) await clock.sleep(10)
    return !existsSync(secret)
  }
  await executor.files.write(secret, Buffer.from('{}'), { mode: 0o600 })
  expect((await runToEnd(executor, ['cat', secret], { effect: 'writes' })).stdout).toBe('{}')
  expect(await gone()).toBe(true)

  await executor.files.write(secret, Buffer.from('old'))
  await runToEnd(executor, ['sh', '-c', `mv ${secret} ${secret}.old; echo new >${secret}`], { effect: 'writes' })
  await clock.sleep(200)
  expect(await gone()).toBe(false)
})

test('a target whose /proc shows another PID namespace is refused: every run there would look ended', async () => {
  // In a subshell $$ is not the number that /proc/self has, as in a namespace without a /proc of its own.
  const envelope = (script: Uint8Array) =>
    Promise.resolve({ line: 'exec /bin/sh', stdin: Buffer.concat([Buffer.from('(\n'), script, Buffer.from('\n)\n')]) })
  const { executor } = await target(undefined, { envelope })
  await using _ = executor
  await expect(runToEnd(executor, ['true'], { effect: 'reads' })).rejects.toMatchObject({
    code: 'foreign-proc',
    message: expect.stringContaining('/proc shows the processes of another PID namespace'),
    remedy: expect.stringContaining('unshare --mount-proc'),
  })
})
