import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { mkdtemp, rm, truncate, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { inspectDisk } from '../../machine/index.js'
import { VirtualClock } from '../../base/runtime/index.js'
import { command } from '../kit/commands/command.js'
import { imagePath } from '../kit/installer.js'

const MIB = 2 ** 20
let folder: string
let disk: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'ironstage-installer-'))
  disk = join(folder, 'disk.img')
  await writeFile(disk, '')
  await truncate(disk, 64 * MIB)
})
afterEach(() => rm(folder, { recursive: true }))

const run = (...args: string[]) => runWith({}, ...args)

async function runWith(variables: Record<string, string>, ...args: string[]) {
  const run = command(['coreos-installer', ...args], { variables })
  const code = await run.ended
  return { code, stdout: run.stdout, stderr: run.stderr }
}

test('installs to a plain file, with the arguments and the words of coreos-installer', async () => {
  const config = join(folder, 'options.yaml')
  await writeFile(config, `image-file: ${imagePath}\ninsecure: true\nappend-karg: [rehearsal]\n`)
  const { code, stdout, stderr } = await run('install', '-c', config, disk)
  expect(code).toBe(0)
  expect(stdout).toBe(`Running with arguments: --image-file ${imagePath} --append-karg rehearsal --insecure ${disk}\n`)
  expect(stderr).toMatch(/^Copying image from .*\nReading signature from (.|\n)*\nInstall complete\.\n$/)
  const { partitions, boot } = await inspectDisk({ path: disk }, new VirtualClock())
  expect(partitions.map(({ name }) => name)).toEqual(['BIOS-BOOT', 'EFI-SYSTEM', 'boot', 'root'])
  expect(boot?.entry?.kernelArguments).toContain('rehearsal')
})

test('keeps partitions of the file, also when the installation fails', async () => {
  await run('install', disk, '-f', imagePath, '--insecure')
  const failed = await run('install', disk, '-f', imagePath, '--insecure', '--save-partlabel', 'ro*')
  expect(failed.code).toBe(1)
  expect(failed.stderr).toContain('collision with partition 4 ("root") at offset 31457280\n')
  const { partitions } = await inspectDisk({ path: disk }, new VirtualClock())
  expect(partitions.map(({ name, number }) => [number, name])).toEqual([[4, 'root']])
})

test.each([
  [['install', '--frob'], 2, "error: unexpected argument '--frob' found\n"],
  [['install', '/dev/null'], 1, 'Error: getting sector size of /dev/null\n\nCaused by:\n    "/dev/null" is not'],
  [['--sector-size', '1024', 'install'], 2, 'ironstage: --sector-size 1024: a disk has sectors of 512 or 4096 bytes\n'],
])('%j ends with %i', async (args, code, start) => {
  const ended = await run(...args)
  expect(ended.code).toBe(code)
  expect(ended.stderr.slice(0, start.length)).toBe(start)
})

test('sectors have the size that is requested', async () => {
  const { code, stderr } = await run('--sector-size=4096', 'install', disk, '-f', imagePath, '--insecure')
  expect(code).toBe(1)
  expect(stderr).toContain('Error: source has sector size 512 but destination has sector size 4096\n')
})

/**
 * A proxy that knows one config, and reaches nothing else. It keeps what it was asked for.
 *
 * @param refusal status line of its answer to CONNECT
 */
async function narrowProxy(refusal = '502 Bad Gateway') {
  const asked: string[] = []
  const server = createServer((request, response) => {
    asked.push(`${request.method} ${request.url}`)
    const known = request.url?.endsWith('/a.ign')
    response
      .writeHead(known ? 200 : 502, known ? 'OK' : 'Bad Gateway')
      .end(known ? '{"ignition":{"version":"3.0.0"}}' : '')
  })
  server.on('connect', (request, socket) => {
    asked.push(`CONNECT ${request.url}`)
    socket.end(`HTTP/1.1 ${refusal}\r\n\r\n`)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return { url, asked, [Symbol.dispose]: () => void server.close() }
}

test.each(['http_proxy', 'HTTP_PROXY', 'all_proxy', 'ALL_PROXY'])(
  'an image comes through the proxy of %s',
  async (name) => {
    using proxy = await narrowProxy()
    const url = 'http://images.example/m.raw.xz'
    const { code, stderr } = await runWith({ [name]: proxy.url }, 'install', disk, '--insecure', '-u', url)
    expect(code).toBe(1)
    expect(proxy.asked).toContain(`GET ${url}`)
    expect(stderr).toContain('HTTP 502 Bad Gateway')
  },
)

test.each([
  ['502 Bad Gateway', 'unsuccessful'],
  ['407 Proxy Authentication Required', 'proxy authorization required'],
])(
  'an Ignition config comes through the proxy too, and an image by https through a tunnel of it: %s',
  async (refusal, why) => {
    using proxy = await narrowProxy(refusal)
    const config = ['--insecure-ignition', '-I', 'http://configs.example/a.ign']
    const image = ['--insecure', '-u', 'https://images.example/m.raw.xz']
    const { code, stderr } = await runWith({ ALL_PROXY: proxy.url }, 'install', disk, ...config, ...image)
    expect(code).toBe(1)
    expect(proxy.asked.slice(0, 2)).toEqual(['GET http://configs.example/a.ign', 'CONNECT images.example:443'])
    expect(stderr).toContain(`tunnel error: ${why}`)
  },
)

test('a host of no_proxy is asked directly', async () => {
  using proxy = await narrowProxy()
  const variables = { http_proxy: proxy.url, NO_PROXY: '127.0.0.1' }
  const { stderr } = await runWith(variables, 'install', disk, '--insecure', '-u', 'http://127.0.0.1:9/m.raw')
  expect(proxy.asked).toEqual([])
  expect(stderr).toContain('Connection refused')
})
