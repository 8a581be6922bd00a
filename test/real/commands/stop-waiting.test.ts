import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, readdir, readFile, readlink, rm, truncate, writeFile } from 'node:fs/promises'
import { createServer, type Server } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import ssh2, { type ParsedKey } from 'ssh2'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { REHEARSAL_LIVE_ISO } from '../../../lab/index.js'
import { stopped, STOP_TIME, type Ending } from '../../kit/commands/stop-time.js'
import { IRONSTAGE } from '../../kit/commands/up-process.js'
import { fileServer, sha256 } from '../../kit/images/image-files.js'
import { readImage } from '../../kit/installer.js'
import { newKey, SshHost } from '../../kit/ssh-host.js'
import { REAL_PEER_TIMEOUT } from '../limits.js'

/** SIGTERM and Ctrl-C end commands that wait: for a lock, for a password at a terminal, in the cache, for clients. */

let home: string
let running: Running[]
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'ironstage-waiting-'))
  running = []
})
afterEach(async () => {
  for (const { child } of running)
    if (child.exitCode === null && child.signalCode === null) {
      child.kill('SIGKILL')
      await once(child, 'close')
    }
  await rm(home, { recursive: true, force: true })
})

interface Running {
  child: ChildProcess
  out: string
  err: string
}

function start(argv: readonly string[], command: readonly string[] = [process.execPath, IRONSTAGE]): Running {
  const [program = '', ...before] = command
  const child = spawn(program, [...before, ...argv], {
    env: { PATH: process.env['PATH'], HOME: home, TMPDIR: home, TERM: 'xterm' },
    stdio: ['pipe', 'pipe', 'pipe'],
  })
  const run: Running = { child, out: '', err: '' }
  child.stdout.on('data', (text) => (run.out += String(text)))
  child.stderr.on('data', (text) => (run.err += String(text)))
  running.push(run)
  return run
}

const soon = (look: () => unknown) => expect.poll(look, { timeout: REAL_PEER_TIMEOUT, interval: 20 }).toBe(true)

/** True if a process has a file open whose path matches. */
async function holdsOpen(pid: number, pattern: RegExp): Promise<boolean> {
  const files = await readdir(`/proc/${pid}/fd`).catch(() => [])
  const paths = await Promise.all(files.map((fd) => readlink(`/proc/${pid}/fd/${fd}`).catch(() => '')))
  return paths.some((path) => pattern.test(path))
}

function expectInTime({ unhindered }: Ending, { err }: Running): void {
  expect(err).not.toContain('ended before everything was closed')
  expect(unhindered).toBeLessThan(STOP_TIME)
}

const SIGNALS: [signal: NodeJS.Signals, code: number][] = [
  ['SIGTERM', 143],
  ['SIGINT', 130],
]

describe.runIf(process.platform === 'linux').each(SIGNALS)('%s ends', (signal, code) => {
  test('a command that waits for the lock of an image that another process fetches', async () => {
    const silent: Server = createServer((socket) => socket.on('error', () => {})).listen(0, '127.0.0.1')
    await once(silent, 'listening')
    const { port } = silent.address() as { port: number }
    const asked = once(silent, 'connection')
    const deploy = () => start(['deploy', '--image', `http://127.0.0.1:${port}/image.raw`])
    const first = deploy()
    await asked
    let connections = 0
    silent.on('connection', () => connections++)
    const second = deploy()
    await soon(() => second.err.includes('another process fetches'))
    const ending = await stopped(second.child, signal)
    expect(ending.code).toBe(code)
    expectInTime(ending, second)
    expect(connections).toBe(0)
    expectInTime(await stopped(first.child, signal), first)
    silent.close()
  })

  test('cache verify in the middle of a large image, which is kept', async () => {
    const image = readImage()
    await using server = await fileServer({ '/coreos.raw.xz': image })
    const url = server.url('/coreos.raw.xz')
    const install = start(['step', 'run', 'install_coreos', '--args', JSON.stringify({ image_url: url })])
    await once(install.child, 'close')
    const folder = join(home, '.cache/ironstage/images/images', sha256(image))
    const files = await readdir(folder)
    const file = join(
      folder,
      files.find((name) => name.startsWith('image'))!,
    )
    // Zeros that take some seconds to read, and no room.
    const size = 64 * 2 ** 30
    await truncate(file, size)
    for (const name of files.filter((each) => each.endsWith('.json'))) {
      const record = JSON.parse(await readFile(join(folder, name), 'utf8')) as object
      await writeFile(join(folder, name), JSON.stringify({ ...record, size }))
    }
    const verify = start(['cache', 'verify'])
    await soon(() => holdsOpen(verify.child.pid!, new RegExp(file)))
    const ending = await stopped(verify.child, signal)
    expect({ code: ending.code, out: verify.out, err: verify.err }).toEqual({ code, out: '', err: '' })
    expectInTime(ending, verify)
    expect(existsSync(file)).toBe(true)
  })

  test('images serve, also while a client takes an image slowly', async () => {
    const serve = start([
      'images',
      'serve',
      '--image-port',
      '0',
      '--live-iso',
      REHEARSAL_LIVE_ISO,
      '--base-url',
      'http://127.0.0.1:6385',
      '--json',
    ])
    await soon(() => serve.out.includes('"ready"'))
    const [url = ''] = /http:\/\/[^"]*\.iso/.exec(serve.out) ?? []
    const answer = await fetch(url)
    const reader = answer.body!.getReader()
    expect((await reader.read()).done).toBe(false)
    const ending = await stopped(serve.child, signal)
    expect({ code: ending.code, err: serve.err }).toEqual({ code: 0, err: '' })
    expectInTime(ending, serve)
    await reader.cancel().catch(() => {})
  })
})

test('a state folder that another process uses is refused at once, not waited for', async () => {
  const folder = join(home, 'state')
  const up = start(['up', '--port', '0', '--state-dir', folder])
  await soon(() => up.out.includes('is ready'))
  for (const argv of [
    ['up', '--port', '0'],
    ['state', 'check'],
    ['state', 'repair'],
    ['state', 'export'],
  ]) {
    const second = start([...argv, '--state-dir', folder])
    await once(second.child, 'close')
    expect({ code: second.child.exitCode, out: second.out }).toEqual({ code: 1, out: '' })
    expect(second.err).toMatch(/^ironstage: the state folder \S+ is in use by another ironstage\n/)
  }
  expectInTime(await stopped(up.child, 'SIGTERM'), up)
})

/** `script` of util-linux gives a program a terminal. */
describe.runIf(existsSync('/usr/bin/script'))('at a terminal, a question for a password', () => {
  /** The process that runs below `script`. */
  async function below(pid: number): Promise<number> {
    const [child] = (await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8')).split(' ')
    return Number(child)
  }

  test.each<[string, (input: Running, pid: number) => unknown, number]>([
    ['SIGTERM', (_, pid) => process.kill(pid, 'SIGTERM'), 143],
    ['SIGINT', (_, pid) => process.kill(pid, 'SIGINT'), 130],
    ['Ctrl-C', ({ child }) => child.stdin!.write('\x03'), 130],
  ])('is ended by %s, and the terminal shows what is typed again', async (_, stop, code) => {
    const hostKey = newKey().private
    await using host = await SshHost.open({
      hostKeys: [hostKey],
      authenticate: (context) => context.reject(['password']),
    })
    const known = `* ssh-ed25519 ${(ssh2.utils.parseKey(hostKey) as ParsedKey).getPublicSSH().toString('base64')}\n`
    await mkdir(join(home, '.ssh'), { mode: 0o700 })
    await writeFile(join(home, '.ssh', 'known_hosts'), known)
    const target = `ssh://core@127.0.0.1:${host.port}`
    const line = `"${process.execPath}" "${IRONSTAGE}" deploy --target ${target} --device X; echo "code $?"; stty -a`
    const terminal = start(['--quiet', '--flush', '--command', line, '/dev/null'], ['/usr/bin/script'])
    await soon(() => /password.*: $/i.test(terminal.out))
    const shell = await below(terminal.child.pid!)
    const command = await below(shell)
    const ending = await stopped(terminal.child, () => stop(terminal, command))
    expect(terminal.out).toContain(`code ${code}`)
    expect(terminal.out).not.toContain('refuses the login')
    expect(terminal.out).toMatch(/ echo /)
    expect(terminal.out).toMatch(/ icanon /)
    expect(terminal.out).not.toContain('ended before everything was closed')
    expect(ending.unhindered).toBeLessThan(STOP_TIME)
  })
})
