import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { documentText, type StreamMetadata } from '../../coreos/index.js'
import { buildMeta } from '../kit/builds.js'
import { command } from '../kit/commands/command.js'
import { sha256 } from '../kit/images/image-files.js'
import { published } from '../kit/published.js'
import { fedoraStream, rhelStream } from '../kit/streams.js'

/** Metadata of CoreOS and the files of it, by the command. */

let home: string
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'ironstage-stream-'))
  await put('stable.json', fedoraStream())
  await put('rhcos.json', rhelStream())
})
afterEach(() => rm(home, { recursive: true, force: true }))

async function put(name: string, value: unknown): Promise<string> {
  const path = join(home, name)
  await mkdir(dirname(path), { recursive: true })
  await writeFile(path, Buffer.isBuffer(value) ? value : typeof value === 'string' ? value : documentText(value))
  return path
}
const at = (name: string) => join(home, name)
async function ran(...argv: string[]) {
  const run = command(argv, { variables: { HOME: home } })
  const code = await run.ended
  return { code, stdout: run.stdout, stderr: run.stderr }
}

describe('row 38: stream validate and stream diff, as a pull request is checked', () => {
  test('good metadata of every kind', async () => {
    await put('meta.json', buildMeta('x86_64'))
    const { code, stdout } = await ran('stream', 'validate', at('stable.json'), at('rhcos.json'), at('meta.json'))
    expect({ code, stdout }).toEqual({
      code: 0,
      stdout: `${at('stable.json')}: valid, stream\n${at('rhcos.json')}: valid, stream\n${at('meta.json')}: valid, build\n`,
    })
  })

  test('all that is wrong is said, and the exit code is 1', async () => {
    const bad = structuredClone(fedoraStream())
    const formats = bad.architectures['x86_64']!.artifacts['metal']!.formats
    formats['iso']!.disk!.location = 'http://x.example.org/a.iso'
    delete formats['pxe']!.rootfs
    const text = await ran('stream', 'validate', await put('bad.json', bad))
    expect(text.code).toBe(1)
    expect(text.stdout).toMatch(/bad\.json: error: .*iso\.disk\.location is http, and must be https/)
    expect(text.stdout).toMatch(/bad\.json: error: .*formats\.pxe has no rootfs/)
    expect(text.stdout).toMatch(/bad\.json: refused, stream\n$/)
    const json = await ran('stream', 'validate', '--json', at('bad.json'))
    expect(JSON.parse(json.stdout)).toMatchObject({ kind: 'stream', valid: false, findings: [{}, {}] })
    await put('page.json', '<html>')
    expect(await ran('stream', 'validate', at('page.json'))).toMatchObject({ code: 1 })
    expect(await ran('stream', 'validate', at('nowhere.json'))).toMatchObject({ code: 2 })
  })

  test('a stream that goes back in time', async () => {
    const old = await put('old.json', rhelStream({ version: '10.1.20250101-0' }))
    const { code, stdout } = await ran('stream', 'validate', '--after', at('rhcos.json'), old)
    expect(code).toBe(1)
    expect(stdout).toMatch(/goes back in time: .*would be 10\.1\.20250101-0, and the latest is 10\.2\.20260715-0/)
  })

  test('two copies that have drifted apart', async () => {
    expect(await ran('stream', 'diff', at('stable.json'), at('stable.json'))).toEqual({
      code: 0,
      stdout: '',
      stderr: '',
    })
    const other = structuredClone(fedoraStream())
    other.architectures['x86_64']!.images!.aws!.regions!['us-east-1']!.image = 'ami-other'
    const { code, stdout } = await ran('stream', 'diff', at('stable.json'), await put('other.json', other))
    expect({ code, stdout }).toEqual({
      code: 1,
      stdout: 'architectures.x86_64.images.aws.regions.us-east-1.image: ami-x861 -> ami-other\n',
    })
  })
})

describe('row 35: stream convert', () => {
  test('builds become a release, releases and builds become a stream, with a target', async () => {
    await put('x.json', buildMeta('x86_64'))
    await put('a.json', buildMeta('aarch64'))
    const args = ['--base-url', 'https://b.example.org', '--to', 'release', '-o', at('release.json')]
    expect(await ran('stream', 'convert', ...args, at('x.json'), at('a.json'))).toMatchObject({ code: 0, stdout: '' })
    const made = await ran('stream', 'convert', at('release.json'))
    const stream = JSON.parse(made.stdout) as StreamMetadata
    expect(Object.keys(stream.architectures)).toEqual(['aarch64', 'x86_64'])
    expect(stream.metadata.generator).toMatch(/^ironstage /)

    const next = buildMeta('s390x', { name: 'rhcos', version: '10.2.20260715-0' })
    const update = ['--target', at('stable.json'), '--no-signatures', '--name', 'mixed']
    const updated = JSON.parse(
      (await ran('stream', 'convert', ...update, await put('s.json', next))).stdout,
    ) as StreamMetadata
    expect(updated.stream).toBe('mixed')
    expect(updated.architectures['s390x']!.artifacts['metal']!.release).toBe('10.2.20260715-0')
    expect(updated.architectures['x86_64']).toEqual(fedoraStream().architectures['x86_64'])
  })

  test('releases become the index of their stream, oldest first', async () => {
    await put('new.json', buildMeta('x86_64', { version: '38.20230806.3.0' }))
    await put('old.json', buildMeta('x86_64'))
    const index = await ran('stream', 'convert', '--to', 'index', at('new.json'), at('old.json'))
    const path = await put('releases.json', index.stdout)
    expect(await ran('stream', 'validate', path)).toMatchObject({ code: 0, stdout: `${path}: valid, index\n` })
    const third = await put('third.json', buildMeta('x86_64', { version: '38.20230819.3.0' }))
    const { stdout } = await ran('stream', 'convert', '--to', 'index', '--target', path, third)
    expect((JSON.parse(stdout) as { releases: object[] }).releases).toMatchObject([
      {
        version: '38.20230718.3.0',
        metadata: expect.stringMatching(/stable\/builds\/38.20230718.3.0\/release.json$/) as string,
      },
      { version: '38.20230806.3.0' },
      { version: '38.20230819.3.0' },
    ])
    const other = await put('other.json', buildMeta('x86_64', { stream: 'next' }))
    expect(await ran('stream', 'convert', '--to', 'index', '--target', path, other)).toMatchObject({ code: 2 })
  })

  test('one architecture twice, and builds that are not of one release', async () => {
    await put('x.json', buildMeta('x86_64'))
    await put('y.json', buildMeta('x86_64', { version: '38.20230806.3.0' }))
    expect(await ran('stream', 'convert', at('x.json'), at('y.json'))).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('Duplicate architecture x86_64') as string,
    })
    expect(await ran('stream', 'convert', '--to', 'release', at('x.json'), at('y.json'))).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('Input Files do not appear to be for the same release') as string,
    })
    expect(await ran('stream', 'convert', at('stable.json'))).toMatchObject({ code: 2 })
  })
})

test('row 37: streams become a ConfigMap, and print takes one out again', async () => {
  const ten = at('rhcos.json')
  const args = ['--to', 'config-map', '--release-version', '4.22.0', '-o', at('map.yaml')]
  expect(await ran('stream', 'convert', ...args, at('stable.json'), ten)).toMatchObject({ code: 0 })
  expect(await ran('stream', 'validate', at('map.yaml'))).toMatchObject({ code: 0 })
  expect((await ran('stream', 'print', at('map.yaml'))).stdout).toBe(await readFile(at('stable.json'), 'utf8'))
  expect((await ran('stream', 'print', `${at('map.yaml')}#rhcos-4.22`)).stdout).toBe(await readFile(ten, 'utf8'))
  const release = 'release/release-manifests/0000_50_installer_coreos-bootimages.yaml'
  await put(release, await readFile(at('map.yaml'), 'utf8'))
  expect((await ran('stream', 'print', `${at('release')}#rhcos-4.22`)).stdout).toBe(await readFile(ten, 'utf8'))
  expect(await ran('stream', 'print', `${at('release')}#rhel-8`)).toMatchObject({ code: 2 })
  expect(await ran('stream', 'print', home)).toMatchObject({ code: 2 })
})

describe('row 39: stream lookup', () => {
  const lookup = (...args: string[]) => ran('stream', 'lookup', at('rhcos.json'), ...args)
  test('a field, a whole entry, an AMI, and all there is', async () => {
    const meta = buildMeta('s390x', { name: 'rhcos', version: '10.2.20260715-0' })
    expect((await lookup('-a', 's390x', '-f', 'iso', '--field', 'sha256')).stdout).toBe(
      `${meta.images!['live-iso']!.sha256}\n`,
    )
    expect(JSON.parse((await lookup('-f', 'pxe', '--file', 'rootfs')).stdout)).toMatchObject({
      release: '10.2.20260715-0',
    })
    expect((await lookup('--region', 'eu-west-1', '--field', 'image')).stdout).toBe('ami-x862\n')
    expect((await lookup()).stdout).toMatch(/^Architecture  Platform   Format\naarch64       aws        vmdk\.gz\n/)
  })
  test.each([
    [['-a', 'riscv64', '-f', 'iso'], "stream:rhcos-4.22 does not have architecture 'riscv64'"],
    [['-f', 'raw.xz'], "rhcos-4.22/x86_64: artifact 'metal' format 'raw.xz' disk not found"],
    [['-f', 'pxe'], "rhcos-4.22/x86_64: artifact 'metal' format 'pxe' disk not found"],
    [['--region', 'mars-1'], 'rhcos-4.22/x86_64: No AWS images in region mars-1'],
    [['-f', 'iso', '--field', 'colour'], 'there is no colour'],
  ])('refuses %j with the sentence of coreos-installer', async (args, message) => {
    expect(await lookup(...args)).toMatchObject({
      code: 2,
      stdout: '',
      stderr: expect.stringContaining(message) as string,
    })
  })
  test('row 34: a published copy by its date', async () => {
    const shelf = at('dependencies/rhcos/stream-4.22')
    const { stdout } = await ran('stream', 'publish', at('rhcos.json'), shelf, '--json')
    const { path, sha256: digest } = JSON.parse(stdout) as { path: string; sha256: string }
    expect(path).toBe(`${shelf}-20260716.json`)
    const pinned = ['stream', 'lookup', shelf, '--pin', '20260716', '-f', 'iso', '--field', 'release']
    expect((await ran(...pinned, '--pin-sha256', digest)).stdout).toBe('10.2.20260715-0\n')
    expect(await ran(...pinned, '--pin-sha256', 'a'.repeat(64))).toMatchObject({ code: 1 })
  })
})

describe('row 36: stream serve and download', () => {
  const bytes = Buffer.from('a live system '.repeat(1000))

  test('served images are fetched by digest from the mirror alone', async () => {
    const { files, stream } = published({ 'live-iso': { bytes } })
    for (const [path, content] of Object.entries(files)) await put(join('mirror', path), content)
    await put('mirror/dependencies/rhcos/stream-4.22.json', stream)
    const server = command(['stream', 'serve', at('mirror'), '--json'])
    const [, url] = await server.printed(/"url":"([^"]+)"/)
    const args = ['download', '-s', 'rhcos-4.22', '-a', 'x86_64', '-f', 'iso', '-C', at('here'), '--mirror', url!]
    const done = await ran(...args)
    expect(done).toMatchObject({ code: 0, stderr: '' })
    expect(sha256(await readFile(done.stdout.trim()))).toBe(sha256(bytes))
    expect(JSON.parse((await ran(...args, '--json')).stdout)).toMatchObject({ sha256: sha256(bytes), already: true })
    await rm(at('here'), { recursive: true })
    server.stop()
    expect(await server.ended).toBe(0)
    expect(server.stdout).toContain('"path":"/streams/rhcos-4.22.json","status":200')
    expect(await ran(...args, '--offline')).toMatchObject({ code: 0 })
    expect(sha256(await readFile(done.stdout.trim()))).toBe(sha256(bytes))
  })

  test('an architecture, a format and a stream that are missing', async () => {
    const download = (...args: string[]) => ran('download', '-s', at('rhcos.json'), ...args)
    expect(await download('-a', 'riscv64')).toMatchObject({ code: 2 })
    expect((await download('-a', 'x86_64', '-f', 'ova')).stderr).toMatch(/artifact 'metal' format 'ova' not found/)
    expect(await ran('download', '-s', at('none.json'))).toMatchObject({ code: 2 })
    expect(await ran('download', '-s', 'stable', '--offline')).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/is needed, and --offline forbids downloads/) as string,
    })
    expect(await ran('download', '-s', 'stable', '--mirror', 'http://mirror.example.org')).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/uses http, but https is required/) as string,
    })
  })
})
