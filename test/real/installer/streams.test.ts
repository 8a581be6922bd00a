import { chmod, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { createMessage, generateKey, readPrivateKey, sign } from 'openpgp'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { documentText, serveStreams, type StreamServer } from '../../../coreos/index.js'
import { silent, systemClock, systemRandom } from '../../../base/runtime/index.js'
import { command } from '../../kit/commands/command.js'
import { sha256 } from '../../kit/images/image-files.js'
import { BUILDS, published } from '../../kit/published.js'
import { realBinary } from '../coreos-installer.js'
import { tool } from '../peers.js'

/** The real coreos-installer as a client of `ironstage stream serve`. */

// The real one reads a MiB before it writes anything.
const ISO = Buffer.from('a live system '.repeat(150_000))
const GZ = gzipSync(Buffer.alloc(2 ** 20))
const asFedora = { name: 'fedora-coreos', version: '38.20230718.3.0', streamName: 'practice', signatures: true }

let real: string
let home: string
let server: StreamServer
beforeAll(async () => {
  real = await realBinary()
  home = await mkdtemp(join(tmpdir(), 'ironstage-real-streams-'))
  const contents = { 'live-iso': { bytes: ISO }, 'live-kernel': { bytes: Buffer.alloc(2 ** 20, 'kernel') } }
  const signed = published({ ...contents, 'live-rootfs': { bytes: Buffer.alloc(2 ** 20, 'rootfs') } }, asFedora)
  const unsigned = published({ metal: { bytes: GZ }, 'live-iso': { bytes: ISO } }, { streamName: 'rhcos-4.22' })
  await put('mirror/streams/practice.json', documentText(signed.stream))
  await put('mirror/dependencies/rhcos/stream-4.22.json', documentText(unsigned.stream))
  const { privateKey, publicKey } = await generateKey({ userIDs: [{ name: 'Publisher' }], format: 'armored' })
  const signingKeys = await readPrivateKey({ armoredKey: privateKey })
  for (const [path, bytes] of Object.entries({ ...signed.files, ...unsigned.files })) {
    await put(`mirror${path}`, bytes)
    const message = await createMessage({ binary: new Uint8Array(bytes) })
    const signature = await sign({ message, signingKeys, detached: true, format: 'binary' })
    if (path.includes('live-iso') && signed.files[path]) await put(`mirror${path}.sig`, signature as Uint8Array)
    // One of something else.
    if (path.includes('live-rootfs')) await put(`mirror${path}.sig`, 'no signature')
  }
  await trustToo(publicKey)
  server = await serveStreams({
    folder: join(home, 'mirror'),
    clock: systemClock(),
    random: systemRandom,
    logger: silent,
  })
})
afterAll(async () => {
  await server?.[Symbol.asyncDispose]()
  if (home) await rm(home, { recursive: true, force: true })
})

async function put(path: string, bytes: string | Uint8Array): Promise<void> {
  await mkdir(dirname(join(home, path)), { recursive: true })
  await writeFile(join(home, path), bytes)
}

/** The keys of Fedora are in the program; where it hands them to gpg, one more comes with them. */
async function trustToo(publicKey: string): Promise<void> {
  await put('publisher.asc', publicKey)
  const { stdout } = await tool('sh', '-c', 'command -v gpg')
  const gpg = stdout.trim()
  const key = join(home, 'publisher.asc')
  await put(
    'bin/gpg',
    `#!/bin/sh\nfor a in "$@"; do [ "$a" = --import ] && { { cat -; echo; cat '${key}'; } | ${gpg} "$@"; exit $?; }; done\nexec ${gpg} "$@"\n`,
  )
  await chmod(join(home, 'bin/gpg'), 0o755)
}

async function theirs(...args: string[]) {
  const path = `PATH=${join(home, 'bin')}:${process.env['PATH']}`
  return tool('env', '-u', 'RUST_BACKTRACE', '-u', 'RUST_LIB_BACKTRACE', path, real, ...args)
}
async function ours(...args: string[]) {
  const run = command(args, { variables: { HOME: home } })
  return { code: await run.ended, stdout: run.stdout, stderr: run.stderr }
}
const at = () => ['--stream-base-url', `${server.url}/streams/`]
const download = (format: string, folder: string, ...more: string[]) =>
  theirs('download', '-s', 'practice', '-f', format, '-a', 'x86_64', '-C', join(home, folder), ...at(), ...more)

describe('row 36: the real coreos-installer reads what stream serve serves', () => {
  test('list-stream prints what our lookup prints', async () => {
    const listed = await theirs('list-stream', '-s', 'practice', ...at())
    expect(listed).toMatchObject({ code: 0, stderr: '' })
    expect((await ours('stream', 'lookup', 'practice', ...at())).stdout).toBe(listed.stdout)
  })

  test('download takes a signed file from us, and our download takes the same', async () => {
    await mkdir(join(home, 'there'))
    const done = await download('iso', 'there')
    expect(done.code, done.stderr).toBe(0)
    const path = done.stdout.trim()
    expect(sha256(await readFile(path))).toBe(sha256(ISO))
    expect(done.stderr).toContain('Publisher')
    const key = ['--image-key', join(home, 'publisher.asc')]
    const same = await ours(
      'download',
      '-s',
      'practice',
      '-f',
      'iso',
      '-a',
      'x86_64',
      '-C',
      join(home, 'here'),
      ...at(),
      ...key,
    )
    expect(same).toMatchObject({ code: 0, stderr: '' })
    expect(await readFile(same.stdout.trim())).toEqual(await readFile(path))
    expect((await readdir(join(home, 'here')))[0]).toBe(path.split('/').at(-1))
  })

  test('both refuse a network boot whose signatures are missing or bad, and neither leaves a file', async () => {
    await mkdir(join(home, 'bad'))
    expect((await download('pxe', 'bad')).code).toBe(1)
    expect(await readdir(join(home, 'bad'))).toEqual([])
    const mine = await ours('download', '-s', 'practice', '-f', 'pxe', '-a', 'x86_64', '-C', join(home, 'bad'), ...at())
    expect(mine).toMatchObject({ code: 1, stderr: expect.stringMatching(/signature/) as string })
    expect(await readdir(join(home, 'bad'))).toEqual([])
  })

  test('unsigned metadata of RHEL CoreOS is nothing to the real one, and our download takes it by its digest', async () => {
    const refused = await theirs('list-stream', '-s', 'rhcos-4.22', ...at())
    expect(refused.code).toBe(1)
    expect(refused.stderr).toMatch(/decoding stream metadata[\s\S]*missing field `signature`/)
    const taken = await ours(
      'download',
      '-s',
      'rhcos-4.22',
      '-a',
      'x86_64',
      '-C',
      join(home, 'rhcos'),
      '--mirror',
      server.url,
    )
    expect(taken).toMatchObject({ code: 0, stderr: '' })
    expect(sha256(await readFile(taken.stdout.trim()))).toBe(sha256(GZ))
  })

  test('a file that is not here is told where it is', async () => {
    const answer = await fetch(`${server.url}/streams/practice.json`)
    expect(await answer.text()).not.toContain(BUILDS)
  })
})
