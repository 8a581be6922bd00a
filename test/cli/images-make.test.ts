import { createHash } from 'node:crypto'
import { copyFile, mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { bytesSource } from '../../base/bytes/index.js'
import { checkStream, openLiveIso, readMetadata, type StreamMetadata } from '../../coreos/index.js'
import { inspectDisk } from '../../machine/index.js'
import { systemClock, temporaryFolder, type TemporaryFolder } from '../../base/runtime/index.js'
import { parsePlace } from '../../base/registry/index.js'
import { executeBootcInstall } from '../../steps/bootc/execute-bootc-install.js'
import { command } from '../kit/commands/command.js'
import { images } from '../kit/registry/images.js'
import { registryServer } from '../kit/registry/registry-server.js'
import { stepMachine, testDisk } from '../kit/step-machine.js'

const clock = systemClock()
const A = '44.20260707.3.1'
const R = '9.6.20260112-0'

/** Images of R, as they are made. */
let madeOnce: TemporaryFolder
let folder: TemporaryFolder
beforeAll(async () => {
  madeOnce = await temporaryFolder()
  expect((await make(R, '-C', madeOnce.path)).code).toBe(0)
}, 60_000)
afterAll(() => madeOnce[Symbol.asyncDispose]())
beforeEach(async () => {
  folder = await temporaryFolder()
})
afterEach(() => folder[Symbol.asyncDispose]())

const at = (name: string): string => join(folder.path, name)
async function ran(...argv: string[]) {
  const run = command(argv, { variables: { HOME: (folder ?? madeOnce).path } })
  const code = await run.ended
  return { code, stdout: run.stdout, stderr: run.stderr }
}
const make = (version: string, ...argv: string[]) => ran('images', 'make', '--version', version, ...argv)
async function streamIn(path: string): Promise<StreamMetadata> {
  const found = readMetadata(await readFile(join(path, 'stream.json'), 'utf8'), path)
  if (found.kind !== 'stream') throw new Error(found.kind)
  return found.value
}

describe('images make', () => {
  test('--stream names the stream, also in the label of a container', async () => {
    expect(await make('10.2.20260820-0', '-C', at('a'), '--stream', 'rhel-10')).toMatchObject({ code: 0, stderr: '' })
    expect((await streamIn(at('a'))).stream).toBe('rhel-10')
    const made = await make('10.2.20260820-0', '--bootc', `oci:${at('os')}`, '--stream', 'rhel-10')
    expect(made).toMatchObject({ code: 0, stderr: '' })
    const blobs = await readdir(at('os/blobs/sha256'))
    const texts = await Promise.all(blobs.map((name) => readFile(at(`os/blobs/sha256/${name}`), 'latin1')))
    expect(texts.some((text) => text.includes('"io.openshift.os.streamclass":"rhel-10"'))).toBe(true)
    expect(await make('10.2.20260820-0', '--stream', 'RHEL 10')).toMatchObject({ code: 2 })
  })

  test('makes the images of a version for each architecture, and stream metadata with their digests', async () => {
    const made = await make(A, '-C', at('a'), '--arch', 'x86_64', '-a', 's390x')
    expect(made).toMatchObject({ code: 0, stderr: '' })
    const files = made.stdout.trim().split('\n')
    expect(files).toHaveLength(11)
    expect((await readdir(at('a'))).map((name) => at(`a/${name}`))).toEqual([...files].sort())
    const stream = await streamIn(at('a'))
    expect(checkStream(stream)).toEqual([])
    expect(stream.stream).toBe('stable')
    for (const architecture of ['x86_64', 's390x']) {
      const { release, formats } = stream.architectures[architecture]!.artifacts['metal']!
      expect(release).toBe(A)
      expect(Object.keys(formats)).toEqual(['iso', 'pxe', 'raw.xz'])
      for (const { location, sha256 } of Object.values(formats).flatMap((one) => Object.values(one))) {
        const bytes = await readFile(at(`a/${location.replace('https://images.invalid/', '')}`))
        expect(createHash('sha256').update(bytes).digest('hex')).toBe(sha256)
      }
      const iso = await openLiveIso(
        bytesSource(await readFile(at(`a/fedora-coreos-${A}-live-iso.${architecture}.iso`))),
        clock,
      )
      expect(iso.filesystem.volume).toBe(`fedora-coreos-${A}`)
      expect(iso.kargs!.current).toContain(`coreos.liveiso=fedora-coreos-${A} `)
    }
  }, 60_000)

  test('a machine is deployed from them, and machine-os is built of them, without a download', async () => {
    const stream = await streamIn(madeOnce.path)
    expect(Object.keys(stream.architectures['x86_64']!.artifacts['metal']!.formats)).toContain('raw.gz')
    const deployed = await ran(
      ...['deploy', '--image', `stream:${join(madeOnce.path, 'stream.json')}`, '--disk-file', at('disk.img'), '--json'],
    )
    expect(deployed).toMatchObject({ code: 0, stderr: '' })
    const { boot } = await inspectDisk({ path: at('disk.img') }, clock)
    expect(boot?.entry?.title).toBe(`Red Hat Enterprise Linux CoreOS ${R} (ostree:0)`)
    const built = await ran('machine-os', 'build', at('os'), '-s', join(madeOnce.path, 'stream.json'), '-a', 'x86_64')
    expect(built).toEqual({ code: 0, stdout: `${at('os/coreos-x86_64.iso')}\n`, stderr: '' })
    expect((await ran('machine-os', 'verify', at('os'))).code).toBe(0)
  }, 60_000)

  test('replaces nothing without --force', async () => {
    await mkdir(at('a'))
    const first = at(`a/rhcos-${R}-live-kernel.x86_64`)
    await writeFile(first, 'mine')
    const refused = await make(R, '-C', at('a'))
    expect(refused).toEqual({
      code: 1,
      stdout: '',
      stderr: `ironstage: ${first} exists\n  try: replace it with --force, or name another folder with -C\n`,
    })
    expect(await readdir(at('a'))).toHaveLength(1)
    expect((await make(R, '-C', at('a'), '--force')).code).toBe(0)
    expect(await readFile(first, 'utf8')).not.toBe('mine')
  }, 60_000)

  test.each<[string, string[], number, string]>([
    ['no version', ['--version', '4'], 2, '"4" is not a version of CoreOS'],
    ['a version of another system', ['--version', A, '--name', 'rhcos'], 2, 'is not a version of Red Hat Enterprise'],
    ['an architecture without CoreOS', ['--version', A, '-a', 'riscv64'], 2, 'there is no CoreOS for riscv64'],
    ['no URL', ['--version', A, '--base-url', 'here'], 2, 'here is not a URL of a folder'],
    ['a place that is a file', ['--version', A, '-C', '/dev/null/x'], 1, '/dev/null/x cannot be written'],
    ['a place that is a file itself', ['--version', A, '-C', '/dev/null'], 1, '/dev/null is not a folder'],
  ])('refuses %s in a sentence', async (_, argv, code, sentence) => {
    const refused = await ran('images', 'make', ...argv)
    expect(refused.code).toBe(code)
    expect(refused.stderr).toContain(`ironstage: `)
    expect(refused.stderr.split('\n')[0]).toContain(sentence)
  })

  test('--version elsewhere is still that of ironstage', async () => {
    expect((await ran('images', '--version')).stdout).toMatch(/^\d+\.\d+\.\d+\n$/)
  })
})

test('an ISO whose kernel arguments were changed boots with them, and is known by its own version', async () => {
  const iso = at('changed.iso')
  await copyFile(join(madeOnce.path, `rhcos-${R}-live-iso.x86_64.iso`), iso)
  const changed = await ran('iso', 'kargs', 'modify', '-a', 'console=ttyS1', '-d', 'mitigations=auto,nosmt', iso)
  expect(changed).toEqual({ code: 0, stdout: '', stderr: '' })
  const up = command(['up', '--port', '0', '--nodes', '1', '--live-iso', iso, '--json'], {
    variables: { IRONIC_USE_COREOS_IPA: 'true' },
  })
  const [line] = await up.printed(/.*"ready".*/)
  const { images } = JSON.parse(line) as { images: { live: [{ iso: string }] } }
  const [{ iso: url }] = images.live
  const served = await openLiveIso(bytesSource(new Uint8Array(await (await fetch(url)).arrayBuffer())), clock)
  expect(served.kargs!.current).toContain(' console=ttyS1')
  up.stop()
  expect(await up.ended).toBe(0)
})

test('an ISO with a config of its own is refused: the one that is served would replace it', async () => {
  const iso = at('customized.iso')
  await copyFile(join(madeOnce.path, `rhcos-${R}-live-iso.x86_64.iso`), iso)
  await writeFile(at('c.ign'), '{"ignition":{"version":"3.4.0"}}')
  expect((await ran('iso', 'ignition', 'embed', '-i', at('c.ign'), iso)).code).toBe(0)
  const up = await ran('up', '--port', '0', '--live-iso', iso)
  expect(up.code).toBe(2)
  expect(up.stderr).toContain(`the ISO ${iso} is already customized: config.ign`)
})

describe('images make --bootc', () => {
  const container = (dest: string, ...argv: string[]) => make(R, '--bootc', dest, ...argv)

  test('makes a container in a folder, for each architecture, that a machine installs from a registry', async () => {
    const made = await container(`oci:${at('os')}`, '-a', 'x86_64', '-a', 'aarch64')
    expect(made).toMatchObject({ code: 0, stderr: '' })
    const [name, digest] = made.stdout.trim().split(' ')
    expect(name).toBe(`oci:${at('os')}:${R}`)
    const opened = await images().open(parsePlace(name!))
    expect(opened).toMatchObject({ digest, architectures: ['aarch64', 'x86_64'] })
    const image = await opened.image('x86_64')
    expect(image.labels).toMatchObject({ 'containers.bootc': '1', 'org.opencontainers.image.version': R })

    await using registry = await registryServer()
    const pushed = await container(`${registry.host}/os:1`, '--json')
    expect(JSON.parse(pushed.stdout)).toEqual({ image: `${registry.host}/os:1`, digest: expect.any(String) as string })
    await using scene = await stepMachine([testDisk('sda', 20)])
    const step = await scene.run(executeBootcInstall, { image_source: `oci://${registry.host}/os:1` })
    expect(step).toBe(`Container image (oci://${registry.host}/os:1) written to device /dev/sda`)
  })

  test('is the same container each time, whatever the order of architectures and the time', async () => {
    const digestOf = async (dest: string, ...archs: string[]): Promise<string> => {
      const argv = archs.flatMap((arch) => ['-a', arch])
      return (await container(`oci:${at(dest)}`, ...argv)).stdout.trim().split(' ')[1]!
    }
    vi.useFakeTimers({ toFake: ['Date'], now: Date.parse('2031-02-03T04:05:06Z') })
    const later = await digestOf('later', 'x86_64', 'aarch64').finally(() => vi.useRealTimers())
    expect(await digestOf('now', 'aarch64', 'x86_64', 'aarch64')).toBe(later)
    expect(await readFile(at('now/index.json'))).toEqual(await readFile(at('later/index.json')))
    const image = await (await images().open(parsePlace(`oci:${at('now')}`))).image()
    expect(image.created).toBe('2026-01-12T00:00:00Z')
  })

  test.each<[string, string, string[], RegExp]>([
    ['a digest', `oci:os@sha256:${'a'.repeat(64)}`, [], /names a digest, which a container has only when it is made/],
    ['an option of files', 'oci:os', ['-C', 'x'], /--bootc and --directory do not go together/],
    ['an option of URLs', 'oci:os', ['--base-url', 'https://x/'], /--bootc and --base-url do not go together/],
    ['no registry', 'localhost:1/os', [], /the registry localhost:1 cannot be reached/],
    ['no name', 'oci:', [], /names no image: the folder is missing/],
    ['another architecture', 'oci:os', ['-a', 'vax'], /there is no CoreOS for vax/],
  ])('refuses %s', async (_, dest, argv, message) => {
    const refused = await container(dest, ...argv)
    expect(refused.code).not.toBe(0)
    expect(refused.stderr).toMatch(message)
    expect(await readdir(folder.path)).toEqual([])
  })

  test('replaces its tag, and keeps the others', async () => {
    await container(`oci:${at('os')}:1`)
    await container(`oci:${at('os')}:2`)
    expect(await container(`oci:${at('os')}:1`)).toMatchObject({ code: 0 })
    expect((await images().layoutTags(at('os'))).sort()).toEqual(['1', '2'])
    await writeFile(at('file'), '')
    expect((await container(`oci:${at('file')}`)).stderr).toMatch(/file/)
  })
})
