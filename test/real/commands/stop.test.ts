import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readdir, readFile, writeFile } from 'node:fs/promises'
import { createServer, type Server } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { stopped, STOP_TIME } from '../../kit/commands/stop-time.js'
import { IRONSTAGE } from '../../kit/commands/up-process.js'

/** Takes connections and never says anything. */
let silent: Server
let url: string
/** A step that neither ends nor looks at its signal. */
let deafStep: string

beforeAll(async () => {
  silent = createServer((socket) => socket.on('error', () => {})).listen(0, '127.0.0.1')
  await once(silent, 'listening')
  url = `http://127.0.0.1:${(silent.address() as { port: number }).port}`
  deafStep = join(await mkdtemp(join(tmpdir(), 'deaf-')), 'deaf.mjs')
  await writeFile(
    deafStep,
    `import { defineStep } from ${JSON.stringify(new URL('../../../dist/bundle/index.js', import.meta.url).href)}
     export default defineStep({ name: 'deaf', interface: 'deploy', on: ['deploy'], run: async () => {
       console.log('deaf')
       await new Promise((resolve) => setTimeout(resolve, 3600_000))
     } })`,
  )
})
afterAll(() => silent.close())

interface Started {
  child: ChildProcess
  out: () => string
  err: () => string
  folder: string
}

async function start(argv: readonly string[]): Promise<Started> {
  const folder = await mkdtemp(join(tmpdir(), 's-'))
  const child = spawn(process.execPath, [IRONSTAGE, ...argv], {
    env: { PATH: process.env['PATH'], HOME: folder, TMPDIR: folder },
    stdio: ['pipe', 'pipe', 'pipe'],
  })
  let out = ''
  let err = ''
  child.stdout.on('data', (text) => (out += String(text)))
  child.stderr.on('data', (text) => (err += String(text)))
  return { child, out: () => out, err: () => err, folder }
}

/** Waits until the command prints something, calls the silent server, or reads more input than its pipe can hold. */
async function under({ child, out, err }: Started, pattern: RegExp | 'reads' | 'asks'): Promise<void> {
  if (pattern === 'asks') return void (await once(silent, 'connection'))
  if (pattern === 'reads') return new Promise((resolve) => child.stdin!.write(' '.repeat(1 << 20), () => resolve()))
  while (!pattern.test(out())) {
    if (child.exitCode !== null) throw new Error(`ended before ${pattern}: ${out()}${err()}`)
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}

async function ended({ child }: Started, signal: NodeJS.Signals): Promise<{ code: number | null; unhindered: number }> {
  const ending = await stopped(child, signal)
  return { code: ending.code ?? (ending.signal === 'SIGTERM' ? 143 : 130), unhindered: ending.unhindered }
}

const CASES: [name: string, argv: () => string[], when: RegExp | 'reads' | 'asks', ...codes: number[]][] = [
  ['reads its input', () => ['ignition', 'validate', '-'], 'reads', 143],
  // It may have started by then, and is stopped as a server is.
  ['waits for an Ironic', () => ['agent', '--ironic-url', url], 'asks', 143, 0],
  ['waits for a server', () => ['stream', 'print', 'stable', '--insecure', '--stream-base-url', url], 'asks', 143],
  ['downloads', () => ['download', '--insecure', '--stream-base-url', url], 'asks', 143],
  ['waits for an image', () => ['deploy', '--image', `${url}/image.raw`, '--no-cache'], 'asks', 143],
  ['waits for an Ironic that does not answer', () => ['deploy', '--ironic-url', url], 'asks', 143],
  ['serves streams', () => ['stream', 'serve', tmpdir()], /serving/, 0],
  ['serves', () => ['up', '--port', '0', '--nodes', '2'], /is ready/, 0],
  ['deploys slowly', () => ['deploy', '--realistic'], /stage|\.\.\./, 143],
  ['deploys fast', () => ['deploy', '--realistic', '--speed', '200'], /enroll/, 143],
]

test.each(CASES)('a command that %s ends soon after SIGTERM, and leaves nothing', async (_, argv, when, ...codes) => {
  const run = await start(argv())
  await under(run, when)
  const end = await ended(run, 'SIGTERM')
  expect(codes).toContain(end.code)
  expect(run.err()).not.toMatch(/defect|ended before everything was closed/)
  expect(end.unhindered).toBeLessThan(STOP_TIME)
  expect((await readdir(run.folder)).filter((name) => name.startsWith('ironstage'))).toEqual([])
})

test('a command that does not end in order is ended, which is said in a line', async () => {
  const run = await start(['step', 'run', 'deaf', '--steps', deafStep])
  await under(run, /deaf/)
  const end = await ended(run, 'SIGINT')
  expect(end.code).toBe(130)
  expect(run.err()).toMatch(/^ironstage: stopped by SIGINT, and ended before everything was closed: .*\n$/)
  expect(end.unhindered).toBeLessThan(STOP_TIME)
})

test('the second signal ends it at once', async () => {
  const run = await start(['step', 'run', 'deaf', '--steps', deafStep])
  await under(run, /deaf/)
  run.child.kill('SIGTERM')
  // Two signals that wait to be delivered are one.
  await expect.poll(() => waitingSignals(run.child.pid!)).toBe(0n)
  const end = await ended(run, 'SIGTERM')
  expect({ code: end.code, err: run.err() }).toEqual({ code: 143, err: '' })
  expect(end.unhindered).toBeLessThan(500)
})

/** Signals that the kernel has not delivered to a process yet, a bit each. */
async function waitingSignals(pid: number): Promise<bigint> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8')
  const masks = [...status.matchAll(/^(?:Sig|Shd)Pnd:\t([0-9a-f]+)$/gm)].map(([, mask]) => BigInt(`0x${mask}`))
  return masks.reduce((all, mask) => all | mask)
}

/** Runs a line of shell in which IRONSTAGE is the command; the exit codes of a pipe's parts. */
async function shell(line: string): Promise<{ codes: string; stderr: string }> {
  const child = spawn(
    'bash',
    ['-c', `IRONSTAGE() { "${process.execPath}" "${IRONSTAGE}" "$@"; }; ${line}; echo "\${PIPESTATUS[*]}" >&3`],
    {
      stdio: ['ignore', 'ignore', 'pipe', 'pipe'],
    },
  )
  let stderr = ''
  let codes = ''
  child.stderr!.on('data', (text) => (stderr += String(text)))
  child.stdio[3]!.on('data', (text) => (codes += String(text)))
  await once(child, 'close')
  return { codes: codes.trim(), stderr }
}

test.each([
  ['IRONSTAGE openapi | head -n 1', '141 0'],
  ['IRONSTAGE deploy --json --realistic --speed 20 | head -n 1', '141 0'],
  ['IRONSTAGE up --port 0 --nodes 400 --json | head -n 1', '141 0'],
])('%s ends quietly', async (line, codes) => {
  expect(await shell(line)).toEqual({ codes, stderr: '' })
})

test.each(['--help', 'step list', 'openapi'])('ironstage %s into a closed pipe ends quietly', async (argv) => {
  const { codes, stderr } = await shell(`IRONSTAGE ${argv} | exec true`)
  expect(codes).toMatch(/^(0|141) 0$/)
  expect(stderr).toBe('')
})

test.each(['--help', 'step list'])('ironstage %s onto a full disk says so', async (argv) => {
  expect(await shell(`IRONSTAGE ${argv} > /dev/full`)).toEqual({
    codes: '1',
    stderr: 'ironstage: standard output cannot be written (no space left on device)\n',
  })
})

test.each([
  ['IRONSTAGE step list >&-', '0'],
  ['IRONSTAGE deploy --nope 2>&-', '2'],
  ['IRONSTAGE deploy --nope 2>/dev/full', '2'],
  ['IRONSTAGE ignition validate - <&-', '1'],
])('%s ends with its exit code', async (line, codes) => {
  expect(await shell(line)).toEqual({ codes, stderr: '' })
})
