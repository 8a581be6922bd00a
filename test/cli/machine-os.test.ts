import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, readdir, readFile, readlink, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { bytesSource } from '../../base/bytes/index.js'
import { documentText, openLiveIso, readInitramfs } from '../../coreos/index.js'
import { seededRandom, systemClock } from '../../base/runtime/index.js'
import { command } from '../kit/commands/command.js'
import { fileServer, sha256, type FileServer } from '../kit/images/image-files.js'
import { isoImage, LIVE_KARGS, liveFiles } from '../kit/images/live-iso.js'
import { published, type Published } from '../kit/published.js'

/** The image of CoreOS in a release, from stream metadata to the folder that Ironic's images are served from. */

const clock = systemClock()
const FILES = liveFiles()
const ISO = isoImage(FILES)
const CONFIG = '{"ignition":{"version":"3.4.0"}}'

let home: string
let server: FileServer
let build: Published
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'ironstage-machine-os-'))
  server = await fileServer({})
  build = published(
    {
      metal: { bytes: Buffer.from('a disk image') },
      'live-iso': { bytes: ISO },
      'live-kernel': { bytes: FILES['images/pxeboot/vmlinuz']! },
      'live-initramfs': { bytes: FILES['images/pxeboot/initrd.img']! },
      'live-rootfs': { bytes: FILES['images/pxeboot/rootfs.img']! },
    },
    {
      baseUrl: `${server.url('')}/prod/streams`,
      more: { 'base-oscontainer': { image: 'quay.io/os/base', digest: 'sha256:ba5e', tags: ['9'] } },
    },
  )
  Object.assign(server.files, build.files)
  await put('stream.json', build.stream)
})
afterEach(async () => {
  await server[Symbol.asyncDispose]()
  await rm(home, { recursive: true, force: true })
})

const at = (name: string) => join(home, name)
async function put(name: string, value: unknown): Promise<string> {
  await mkdir(dirname(at(name)), { recursive: true })
  await writeFile(at(name), typeof value === 'string' ? value : documentText(value))
  return at(name)
}
async function ran(argv: string[], variables: Record<string, string> = {}) {
  const run = command(argv, { variables: { HOME: home, ...variables } })
  const code = await run.ended
  return { code, stdout: run.stdout, stderr: run.stderr }
}
const machineOs = (...argv: string[]) => ran(['machine-os', ...argv])
const built = () => machineOs('build', at('coreos'), '-s', at('stream.json'), '-a', 'x86_64')

describe('row 1: machine-os, as an init container runs it', () => {
  test('build fetches the ISO of the stream behind its checksum, copy-metal serves it, verify agrees', async () => {
    expect(await built()).toMatchObject({ code: 0, stdout: `${at('coreos/coreos-x86_64.iso')}\n` })
    expect((await readdir(at('coreos'))).sort()).toEqual([
      'coreos-stream.json',
      'coreos-x86_64.iso',
      'coreos-x86_64.iso.sha256',
    ])
    const copy = ['machine-os', 'copy-metal', at('html'), '--source', at('coreos'), '-a', 'x86_64', '--fips']
    const copied = await ran(copy, { IP_OPTIONS: 'ip=dhcp6' })
    expect(copied).toMatchObject({ code: 0, stderr: '' })
    expect(copied.stdout.split('\n').filter((line) => line.endsWith(' written'))).toHaveLength(4)
    expect((await ran(copy)).stdout).not.toContain('written')
    expect(await readlink(at('html/ironic-python-agent.iso'))).toBe('coreos-x86_64.iso')
    const { kargs } = await openLiveIso(bytesSource(await readFile(at('html/coreos-x86_64.iso'))), clock)
    expect(kargs!.current).toBe(`${LIVE_KARGS} ip=dhcp6 fips=1`)
    expect(await machineOs('verify', at('html'), '-s', at('stream.json'))).toEqual({
      code: 0,
      stderr: '',
      stdout: [
        `good   ${at('html/coreos-x86_64.iso')}  as published, customised since`,
        ...['vmlinuz', 'initrd.img', 'rootfs.img'].map(
          (name) => `good   ${at(`html/coreos-x86_64-${name}`)}  as published`,
        ),
        '',
      ].join('\n'),
    })
  })

  test('row 4: verify refuses a flipped byte', async () => {
    await built()
    const path = at('coreos/coreos-x86_64.iso')
    const bytes = await readFile(path)
    bytes[bytes.length - 2000]! ^= 4
    await writeFile(path, bytes)
    const { code, stdout } = await machineOs('verify', at('coreos'), '--json')
    expect(code).toBe(1)
    expect(JSON.parse(stdout)).toMatchObject({
      path,
      ok: false,
      what: expect.stringMatching(/^checksum mismatch/) as string,
    })
    expect(await machineOs('copy-iso', at('html'), '--source', at('coreos'))).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/Invalid checksum of /) as string,
    })
  })

  test('an ISO with another digest is not built in', async () => {
    const path = Object.keys(server.files).find((name) => name.includes('live-iso'))!
    server.files[path] = Buffer.concat([ISO, Buffer.from('x')])
    expect(await built()).toMatchObject({ code: 1, stdout: '' })
    expect(await readdir(at('coreos'))).toEqual([])
    expect(await machineOs('build', at('x'), '-s', at('stream.json'), '-a', 'riscv64')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("does not have architecture 'riscv64'") as string,
    })
  })

  test('disk images and container of one build', async () => {
    await built()
    const meta = await put('meta.json', build.build)
    const inspect = (digest: string) => put('inspect.json', { Digest: digest, Architecture: 'amd64', Labels: {} })
    const verify = async (digest: string) =>
      machineOs('verify', at('coreos'), '--build', meta, '--container', await inspect(digest))
    expect(await verify('sha256:ba5e')).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/disk images and container are of this build\n$/) as string,
    })
    expect(await verify('sha256:0123')).toMatchObject({
      code: 1,
      stdout: expect.stringMatching(/WRONG .*has sha256:ba5e, and here it is sha256:0123/) as string,
    })
  })

  test.each([
    [['copy-metal', 'not-made', '--pxe', '--image-build'], {}, /cannot be used with/],
    [['copy-metal', 'not-made', '--source', '.'], { COREOS_VERSION: '8' }, /Unknown COREOS_VERSION: 8/],
    [
      ['copy-metal', 'not-made', '--source', '.'],
      { COREOS_VERSION: '10' },
      /CoreOS version 10 is not bundled in this image/,
    ],
    [['copy-iso', 'not-made', '--source', '/nowhere'], {}, /the folder \/nowhere cannot be read/],
    [['verify', '.'], {}, /CoreOS version 9 is not bundled/],
    [['build', 'not-made'], {}, /required option/],
  ])('wrong use: %j', async (argv, variables, message) => {
    expect(await ran(['machine-os', ...argv], variables)).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(message) as string,
    })
    // Wrong use makes no folder.
    expect(await readdir('.')).not.toContain('not-made')
  })
})

describe('row 1: the Containerfile', () => {
  const text = () => readFile(new URL('../../images/machine-os/Containerfile', import.meta.url), 'utf8')

  /** Arguments that its RUN line passes to ironstage, as a shell reads it. */
  async function asked(variables: Record<string, string>): Promise<string[][]> {
    const [, line = ''] = /^RUN (set -e; [\s\S]*?)\n\n/m.exec(await text()) ?? []
    const script = `ironstage() { printf '%s\\n' "$@" --END--; }\n${line.replaceAll('\\\n', '\n')}`
    const { stdout } = await promisify(execFile)('sh', ['-c', script], {
      env: { PATH: process.env['PATH'], ...variables },
    })
    return stdout
      .split('--END--\n')
      .slice(0, -1)
      .map((words) => words.trimEnd().split('\n'))
  }

  test('its command fills the folder, and only the mirror is asked', async () => {
    server.files['/streams/rhcos-4.22.json'] = Buffer.from(documentText(build.stream))
    const runs = await asked({
      STREAM: 'rhcos-4.22',
      ARCHITECTURES: 'x86_64',
      COREOS_VERSION: '9',
      MIRROR: server.url(''),
      STREAM_BASE_URL: '',
    })
    expect(runs).toHaveLength(2)
    for (const argv of runs) {
      const here = argv.map((word) => (word === '/coreos' ? at('coreos') : word))
      expect(await ran(here)).toMatchObject({ code: 0, stderr: '' })
    }
    expect(await readdir(at('coreos'))).toContain('coreos-x86_64.iso')
    const [, entry = '', command_ = ''] = /ENTRYPOINT (.*)\nCMD (.*)/.exec(await text()) ?? []
    const argv = [...(JSON.parse(entry) as string[]), ...(JSON.parse(command_) as string[])].slice(1)
    const local = argv.map((word) => (word === '/shared/html/images' ? at('html') : word))
    expect(await ran([...local, '--source', at('coreos')])).toMatchObject({ code: 0 })
  })
})

describe('row 13: boot-image generate', () => {
  const release = async () => {
    await put('release/machine-os-content/x86_64/bootimage.json', build.build)
    return at('release')
  }
  const generate = async (...argv: string[]) =>
    ran([
      'boot-image',
      'generate',
      await release(),
      ...argv,
      '-a',
      'x86_64',
      '--base-url',
      `${server.url('')}/prod/streams`,
    ])

  test('a reference, or the file', async () => {
    const { metal } = build.build.images!
    expect(JSON.parse((await generate('metal')).stdout)).toMatchObject({
      release: '10.2.20260715-0',
      format: 'raw.gz',
      disk: { sha256: metal!.sha256, location: server.url(Object.keys(build.files)[0]!) },
    })
    const { stdout } = await generate('metal', '-C', at('here'))
    expect(sha256(await readFile(stdout.trim()))).toBe(metal!.sha256)
  })

  test('aws: AMIs for installations by hand', async () => {
    expect(JSON.parse((await generate('aws')).stdout)).toEqual({
      amis: { 'us-east-1': { hvm: 'ami-x861' }, 'eu-west-1': { hvm: 'ami-x862' } },
    })
  })

  test('baremetal-iso: the live ISO with a config in it, which stays where a later one does not fit', async () => {
    const config = await put('live.ign', CONFIG)
    const { code, stdout } = await generate('baremetal-iso', '--ignition', config, '-C', at('here'))
    expect(code).toBe(0)
    const iso = await openLiveIso(bytesSource(await readFile(stdout.trim())), clock)
    expect(Buffer.from(iso.files.get('config.ign')!).toString()).toBe(CONFIG)
    expect((await generate('baremetal-iso', '--ignition', config, '-C', at('here'))).code).toBe(0)

    const source = `data:,${Buffer.from(seededRandom(1).bytes(400_000)).toString('hex')}`
    const storage = { files: [{ path: '/etc/large', contents: { source } }] }
    const large = await put('large.ign', JSON.stringify({ ignition: { version: '3.4.0' }, storage }))
    expect((await generate('baremetal-iso', '--ignition', large, '-C', at('here'))).code).not.toBe(0)
    const after = await openLiveIso(bytesSource(await readFile(stdout.trim())), clock)
    expect(Buffer.from(after.files.get('config.ign')!).toString()).toBe(CONFIG)
  })

  test('baremetal-pxe: three files, and the config wrapped as a fourth', async () => {
    const config = await put('live.ign', CONFIG)
    const { stdout, stderr } = await generate('baremetal-pxe', '--ignition', config, '-C', at('here'))
    const paths = stdout.trim().split('\n')
    expect(paths).toHaveLength(4)
    const wrapped = await readInitramfs(await readFile(paths[3]!), clock)
    expect(Buffer.from(wrapped.get('config.ign')!).toString()).toBe(CONFIG)
    expect(stderr).toContain('ignition.firstboot ignition.platform.id=metal')
  })

  test.each([
    [['azure'], /there is no boot image for azure/],
    [['metal', '--ignition', 'x'], /the Ignition config x cannot be read/],
    [['metal', '--runtime', 'kvm'], /does not build images with kvm/],
    [['vmware'], /artifact 'vmware' not found/],
  ])('row 14: refused: %j', async (argv, message) => {
    expect(await generate(...argv)).toMatchObject({ code: 2, stderr: expect.stringMatching(message) as string })
  })

  test('from a stream where there is no release', async () => {
    const { stdout } = await ran(['boot-image', 'generate', 'metal', '-s', at('stream.json'), '-a', 'x86_64'])
    expect(JSON.parse(stdout)).toMatchObject({ format: 'raw.gz' })
    expect(await ran(['boot-image', 'generate', at('nowhere'), 'metal'])).toMatchObject({ code: 2 })
  })

  test('info prints what is in a release; two sources that have drifted apart end with 1', async () => {
    const folder = await release()
    const info = await ran(['boot-image', 'info', folder])
    expect(info).toMatchObject({ code: 0 })
    expect(info.stdout).toMatch(/^x86_64 {2}10\.2\.20260715-0\n {2}base image {5}quay\.io\/os\/base@sha256:ba5e\n/)
    const other = published({ metal: { bytes: Buffer.from('another') } }, { version: '10.2.20260101-0' })
    const map = await ran(['stream', 'convert', '--to', 'config-map', await put('other.json', other.stream)])
    await put('release/release-manifests/0000_50_installer_coreos-bootimages.yaml', map.stdout)
    const drifted = await ran(['boot-image', 'info', folder])
    expect(drifted.code).toBe(1)
    expect(drifted.stdout).toMatch(
      /DRIFT: .*metal\.release is 10\.2\.20260715-0 in bootimage\.json and 10\.2\.20260101-0/,
    )
  })
})
