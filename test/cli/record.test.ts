import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { readRecording } from '../../apps/recording/index.js'
import { command } from '../kit/commands/command.js'
import { IRONSTAGE } from '../kit/commands/up-process.js'

let folder: string
let ironic: Server
let upstream: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'record-'))
  ironic = createServer((request, response) => {
    if (request.url === '/long') return void response.writeHead(200, { 'content-length': 1000 }).write('the beginning')
    response.writeHead(200, { 'content-type': 'text/plain' }).end('x'.repeat(1000))
  })
  ironic.listen(0, '127.0.0.1')
  await once(ironic, 'listening')
  upstream = `http://127.0.0.1:${(ironic.address() as AddressInfo).port}`
})
afterAll(async () => {
  ironic.closeAllConnections()
  ironic.close()
  await rm(folder, { recursive: true, force: true })
})

/** The built command in a process of its own, by way of a shell. */
async function recorder(script: string, ...argv: string[]) {
  const child = spawn('bash', [
    '-c',
    `${script} "$@"`,
    'bash',
    process.execPath,
    IRONSTAGE,
    'record',
    '--port',
    '0',
    ...argv,
  ])
  const output = { stdout: '', stderr: '' }
  child.stdout.on('data', (text) => (output.stdout += String(text)))
  child.stderr.on('data', (text) => (output.stderr += String(text)))
  const gone = once(child, 'close').then(([code]) => code as number | null)
  const url = await new Promise<string>((resolve, reject) => {
    child.stdout.on('data', () => {
      const found = /http:\/\/[\d.]+:\d+/.exec(output.stdout)
      if (found) resolve(found[0])
    })
    void gone.then((code) => reject(new Error(`ended with ${code}: ${output.stdout}${output.stderr}`)))
  })
  return { child, output, gone, url, stop: () => (child.kill('SIGINT'), gone) }
}

test('SIGINT in the middle of a long answer ends the recording cleanly, with what there was', async () => {
  const file = join(folder, `it's "quoted".ndjson`)
  const { url, output, stop } = await recorder('exec', '--upstream', upstream, '-o', file)
  expect(await (await fetch(`${url}/v1/nodes`)).text()).toHaveLength(1000)
  const long = await fetch(`${url}/long`)
  const cut = expect(long.text()).rejects.toThrow()
  expect(await stop()).toBe(0)
  await cut
  expect(output.stderr).toBe('warn: exchange 2, GET /long: the recorder was stopped\n')
  expect(output.stdout.split('\n')[1]).toBe(`2 exchanges recorded in ${file}, 1 did not come to their end`)
  const { exchanges, isCut } = await readRecording(file)
  expect(isCut).toBe(false)
  expect(exchanges.map(({ target, failure }) => [target, failure])).toEqual([
    ['/v1/nodes', undefined],
    ['/long', 'the recorder was stopped'],
  ])
})

test('a kill loses no exchange whose answer a client has', async () => {
  const file = join(folder, 'killed.ndjson')
  const { url, child, gone } = await recorder('exec', '--upstream', upstream, '-o', file)
  for (let count = 0; count < 10; count++) await (await fetch(`${url}/v1/nodes`)).text()
  child.kill('SIGKILL')
  await gone
  expect((await readRecording(file)).exchanges).toHaveLength(10)
})

test('a file that cannot grow any more is said at once; requests pass, lines stay whole, the exit code is 1', async () => {
  const file = join(folder, 'full.ndjson')
  const { url, output, stop } = await recorder('ulimit -f 8; exec', '--upstream', upstream, '-o', file)
  for (let count = 0; count < 20; count++) expect((await fetch(`${url}/v1/nodes`)).status).toBe(200)
  expect(output.stderr).toMatch(
    /^error: requests are passed on and not recorded any more: .*full\.ndjson cannot be written: EFBIG/,
  )
  expect(await stop()).toBe(1)
  const { exchanges } = await readRecording(file)
  expect(exchanges.length).toBeGreaterThan(2)
  expect(exchanges.length).toBeLessThan(20)
  expect(output.stdout).toContain(
    `${exchanges.length} exchanges recorded in ${file}, ${20 - exchanges.length} were not recorded`,
  )
})

test('it ends in order when its output is closed, as by head', async () => {
  const file = join(folder, 'head.ndjson')
  const { url, output, child, stop } = await recorder('exec', '--upstream', upstream, '-o', file)
  await (await fetch(`${url}/v1/nodes`)).text()
  child.stdout.destroy()
  expect(await stop()).toBe(0)
  expect(output.stderr).toBe('')
  expect((await readRecording(file)).exchanges).toHaveLength(1)
})

test.each([
  [['--upstream', 'http://127.0.0.1:1'], /--output is missing.*\n  try: -o recording.ndjson/],
  [['-o', 'x.ndjson'], /--upstream is missing/],
  [['--upstream', 'ironic', '-o', 'x.ndjson'], /"ironic" is not a URL of an Ironic/],
  [['--upstream', 'http://127.0.0.1:1', '-o', 'EXISTING'], /EXISTING exists already\n.*--force/s],
  [['--upstream', 'http://127.0.0.1:1', '-o', 'x.ndjson', '--ca', 'nowhere.pem'], /nowhere.pem cannot be read/],
])('wrong usage is refused: %j', async (argv, message) => {
  const existing = join(folder, 'existing.ndjson')
  await writeFile(existing, 'mine')
  const run = command(['record', '--port', '0', ...argv.map((word) => (word === 'EXISTING' ? existing : word))])
  expect(await run.ended).toBe(2)
  expect(run.stderr.replaceAll(existing, 'EXISTING')).toMatch(message)
  expect(await readFile(existing, 'utf8')).toBe('mine')
})

test('a port in use and a missing folder are failures', async () => {
  const taken = command([
    'record',
    '--upstream',
    upstream,
    '-o',
    join(folder, 'a.ndjson'),
    '--port',
    new URL(upstream).port,
  ])
  expect(await taken.ended).toBe(1)
  expect(taken.stderr).toMatch(/already in use/)
  await expect(readFile(join(folder, 'a.ndjson'))).rejects.toThrow(/ENOENT/)
  const nowhere = command(['record', '--upstream', upstream, '-o', join(folder, 'no/a.ndjson'), '--port', '0'])
  expect(await nowhere.ended).toBe(1)
  expect(nowhere.stderr).toMatch(/no\/a.ndjson cannot be written\n  because: ENOENT/)
})
