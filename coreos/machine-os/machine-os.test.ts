import { mkdir, mkdtemp, readdir, readFile, readlink, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gunzipSync, gzipSync } from 'node:zlib'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { systemClock } from '../../base/runtime/index.js'
import { isoImage, LIVE_KARGS, liveFiles, type LiveArchitecture } from '../../test/kit/images/live-iso.js'
import { published, type Published } from '../../test/kit/published.js'
import { sha256 } from '../../test/kit/images/image-files.js'
import { openFileSource } from '../../base/bytes/file-source.js'
import { openLiveIso } from '../live/live-iso.js'
import { IGNITION_FILE } from '../live/contents.js'
import { documentText } from '../metadata/metadata-document.js'
import type { StreamMetadata } from '../metadata/stream-metadata.js'
import { buildContradictions } from './build-match.js'
import { copyIso, type CopyOptions } from './copy-iso.js'
import { copyMetal, type CopyMetalOptions } from './copy-metal.js'
import { copyPxe } from './copy-pxe.js'
import { verifyMachineOs, type VerifiedFile } from './verify.js'

const clock = systemClock()

/** A live ISO with its stream metadata. */
function live(architecture: LiveArchitecture, packed = false): Published & { iso: Buffer } {
  const files = liveFiles(architecture)
  if (packed) files['images/pxeboot/vmlinuz'] = gzipSync(files['images/pxeboot/vmlinuz']!)
  const iso = isoImage(files)
  const of = published(
    {
      'live-iso': { bytes: iso },
      'live-kernel': { bytes: files['images/pxeboot/vmlinuz']! },
      'live-initramfs': { bytes: files['images/pxeboot/initrd.img']! },
      'live-rootfs': { bytes: files['images/pxeboot/rootfs.img']! },
    },
    { architecture },
  )
  return { ...of, iso }
}

const x86 = live('x86_64')
const arm = live('aarch64', true)
const stream: StreamMetadata = {
  ...x86.stream,
  architectures: { ...x86.stream.architectures, ...arm.stream.architectures },
}

let home: string
let source: string
let destination: string
let reported: string[]
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'ironstage-machine-os-'))
  source = await mkdtemp(join(home, 'source-'))
  destination = join(home, 'html/images')
  reported = []
  await writeFile(join(source, 'coreos-stream.json'), documentText(stream))
  for (const [architecture, { iso }] of [['x86_64', x86] as const, ['aarch64', arm] as const]) {
    await writeFile(join(source, `coreos-${architecture}.iso`), iso)
    await writeFile(join(source, `coreos-${architecture}.iso.sha256`), sha256(iso))
  }
})
afterEach(() => rm(home, { recursive: true, force: true }))

const options = (more: Partial<CopyOptions> = {}): CopyOptions => ({
  source,
  destination,
  clock,
  onFile: (path, what) => void reported.push(`${path.slice(destination.length + 1)} ${what}`),
  ...more,
})
const metal = (more: Partial<CopyMetalOptions> = {}) => copyMetal({ ...options(), architecture: 'x86_64', ...more })
const contentsOf = async (folder: string): Promise<Record<string, string>> => {
  const names = await readdir(folder)
  return Object.fromEntries(
    await Promise.all(names.map(async (name) => [name, sha256(await readFile(join(folder, name)))] as const)),
  )
}
const at = (name: string) => readFile(join(destination, name))
const verdicts = async (folder = destination): Promise<Record<string, string>> =>
  Object.fromEntries(
    (await verifyMachineOs({ folder, streams: { '9': stream }, clock })).map(({ path, ok, what }: VerifiedFile) => [
      path.slice(folder.length + 1),
      `${ok ? 'ok' : 'WRONG'}: ${what}`,
    ]),
  )

describe('row 1: the image of a release provides what machines boot', () => {
  test('copy-iso copies every ISO with its digest, for other architectures than the host’s too', async () => {
    await copyIso(options())
    expect((await readdir(destination)).sort()).toEqual(
      ['aarch64', 'x86_64'].flatMap((one) => [`coreos-${one}.iso`, `coreos-${one}.iso.sha256`]),
    )
    expect(await at('coreos-aarch64.iso')).toEqual(arm.iso)
    expect((await at('coreos-aarch64.iso.sha256')).toString()).toBe(sha256(arm.iso))
  })

  test('a second run copies nothing, a new ISO is copied', async () => {
    await copyIso(options())
    const before = (await stat(join(destination, 'coreos-x86_64.iso'))).ino
    reported = []
    await copyIso(options())
    expect(reported).toEqual(['coreos-aarch64.iso up to date', 'coreos-x86_64.iso up to date'])
    expect((await stat(join(destination, 'coreos-x86_64.iso'))).ino).toBe(before)
    const next = isoImage({ ...liveFiles(), 'version.txt': Buffer.from('2') })
    await writeFile(join(source, 'coreos-x86_64.iso'), next)
    await writeFile(join(source, 'coreos-x86_64.iso.sha256'), sha256(next))
    reported = []
    await copyIso(options())
    expect(reported).toEqual(['coreos-aarch64.iso up to date', 'coreos-x86_64.iso written'])
    expect(await at('coreos-x86_64.iso')).toEqual(next)
  })

  test('an interrupted copy has no digest yet, and is made again', async () => {
    await copyIso(options())
    await rm(join(destination, 'coreos-x86_64.iso.sha256'))
    await writeFile(join(destination, 'coreos-x86_64.iso'), x86.iso.subarray(0, 1000))
    await copyIso(options())
    expect(await at('coreos-x86_64.iso')).toEqual(x86.iso)
  })

  test('more kernel arguments go into the live system, and the digest stays the published one', async () => {
    await copyIso(options({ kargs: ['ip=dhcp6', 'fips=1'] }))
    await using file = await openFileSource(join(destination, 'coreos-x86_64.iso'), clock)
    const { kargs } = await openLiveIso(file, clock)
    expect(kargs!.current).toBe(`${LIVE_KARGS} ip=dhcp6 fips=1`)
    expect((await at('coreos-x86_64.iso.sha256')).toString()).toBe(sha256(x86.iso))
  })

  test('row 2: copy-pxe extracts the three files byte for byte, and unpacks the kernel of arm machines', async () => {
    await copyPxe(options())
    const files = liveFiles()
    for (const [name, path] of [
      ['vmlinuz', 'vmlinuz'],
      ['initrd.img', 'initrd.img'],
      ['rootfs.img', 'rootfs.img'],
    ] as const)
      expect(await at(`coreos-x86_64-${name}`)).toEqual(files[`images/pxeboot/${path}`])
    const packed = arm.files[Object.keys(arm.files).find((path) => path.includes('live-kernel'))!]!
    expect(await at('coreos-aarch64-vmlinuz')).toEqual(gunzipSync(packed))
    expect((await at('coreos-x86_64.pxe.sha256')).toString()).toBe(sha256(x86.iso))
    reported = []
    await copyPxe(options())
    expect(reported).toHaveLength(6)
    expect(reported.every((line) => line.endsWith('up to date'))).toBe(true)
    await rm(join(destination, 'coreos-x86_64-rootfs.img'))
    await copyPxe(options())
    expect(reported).toContain('coreos-x86_64-rootfs.img written')
  })

  test.each(['vmlinuz', 'initrd.img', 'rootfs.img'])(
    'copy-pxe that cannot write a new %s, as on a full disk, leaves all files of before',
    async (name) => {
      await copyPxe(options())
      const before = await contentsOf(destination)
      const newer = live('x86_64', true)
      await writeFile(join(source, 'coreos-x86_64.iso'), newer.iso)
      await writeFile(join(source, 'coreos-x86_64.iso.sha256'), sha256(newer.iso))
      const partFolder = join(destination, `coreos-x86_64-${name}.part`)
      await mkdir(partFolder)
      await expect(copyPxe(options())).rejects.toMatchObject({ code: 'EISDIR' })
      await rm(partFolder, { recursive: true, force: true })
      expect(await contentsOf(destination)).toEqual(before)
      await copyPxe(options())
      expect(await verdicts()).not.toEqual({})
      expect(await at('coreos-x86_64.pxe.sha256').then(String)).toBe(sha256(newer.iso))
    },
  )

  test('copy-pxe --initrd-only', async () => {
    await copyPxe(options({ initrdOnly: true } as Partial<CopyOptions>))
    expect((await readdir(destination)).filter((name) => name.includes('x86_64'))).toEqual([
      'coreos-x86_64-initrd.img',
      'coreos-x86_64.pxe.sha256',
    ])
  })

  const links = async () => {
    const names = (await readdir(destination)).filter((name) => name.startsWith('ironic-python-agent')).sort()
    return Object.fromEntries(
      await Promise.all(names.map(async (name) => [name, await readlink(join(destination, name))])),
    )
  }

  test('copy-metal links everything by the names that Ironic’s images have', async () => {
    await metal()
    const kinds = { initramfs: '-initrd.img', iso: '.iso', kernel: '-vmlinuz', rootfs: '-rootfs.img' }
    const linked = (name: string, target: string) =>
      Object.entries(kinds).map(([kind, ending]) => [`ironic-python-agent${name}.${kind}`, `${target}${ending}`])
    expect(await links()).toEqual(
      Object.fromEntries(
        ['', '-rhel-9'].flatMap((stream) => [
          ...linked(stream, 'coreos-x86_64'),
          ...linked(`${stream}_x86_64`, 'coreos-x86_64'),
          ...linked(`${stream}_aarch64`, 'coreos-aarch64'),
        ]),
      ),
    )
    await metal()
    expect(await at('ironic-python-agent.iso')).toEqual(x86.iso)
  })

  test('copy-metal links each stream by its name, and those of one version without it', async () => {
    await writeFile(join(source, 'coreos10-stream.json'), documentText(stream))
    await writeFile(join(source, 'coreos10-x86_64.iso'), x86.iso)
    await writeFile(join(source, 'coreos10-x86_64.iso.sha256'), sha256(x86.iso))
    await metal({ version: '10' })
    expect(await links()).toMatchObject({
      'ironic-python-agent.iso': 'coreos10-x86_64.iso',
      'ironic-python-agent-rhel-10_x86_64.iso': 'coreos10-x86_64.iso',
      'ironic-python-agent-rhel-9_x86_64.rootfs': 'coreos-x86_64-rootfs.img',
      'ironic-python-agent-rhel-9_aarch64.iso': 'coreos-aarch64.iso',
    })
    expect(await links()).not.toHaveProperty(['ironic-python-agent_aarch64.iso'])
  })

  test('copy-metal --pxe copies no ISO; --image-build copies only the ISO and the initramfs', async () => {
    await metal({ what: 'pxe' })
    expect((await readdir(destination)).filter((name) => name.includes('iso'))).toEqual([])
    await metal({ what: 'image-build' })
    expect((await readdir(destination)).filter((name) => /^coreos.*(vmlinuz|rootfs)/.test(name))).toEqual([])
    expect(Object.keys(await links())).toContain('ironic-python-agent.iso')
  })

  test('a CoreOS version that is not in the image is refused', async () => {
    await expect(metal({ version: '10' })).rejects.toThrow(
      /^CoreOS version 10 is not bundled in this image \(missing .*coreos10-stream\.json\)$/,
    )
  })

  test.each(['copy-iso', 'copy-iso with arguments', 'copy-pxe'])('%s refuses a flipped byte', async (what) => {
    const flipped = Buffer.from(x86.iso)
    flipped[flipped.length - 1000]! ^= 1
    await writeFile(join(source, 'coreos-x86_64.iso'), flipped)
    const work =
      what === 'copy-pxe' ? copyPxe(options()) : copyIso(options(what === 'copy-iso' ? {} : { kargs: ['fips=1'] }))
    await expect(work).rejects.toThrow(/^Invalid checksum of .*coreos-x86_64\.iso: expected=/)
    expect((await readdir(destination)).filter((name) => name.includes('x86_64') && name.endsWith('.sha256'))).toEqual(
      [],
    )
  })

  test.each(['copy-iso', 'copy-iso with arguments', 'copy-pxe'])(
    '%s keeps the good copy of before when the next ISO is refused',
    async (what) => {
      const copy = () => {
        if (what === 'copy-pxe') return copyPxe(options())
        if (what === 'copy-iso') return copyIso(options())
        return copyIso(options({ kargs: ['fips=1'] }))
      }
      const copies = async () => {
        const names = (await readdir(destination)).sort()
        return Promise.all(names.map(async (name) => [name, sha256(await at(name))] as const))
      }
      await copy()
      const before = await copies()
      const next = isoImage({ ...liveFiles(), 'version.txt': Buffer.from('2') })
      await writeFile(join(source, 'coreos-x86_64.iso.sha256'), sha256(next))
      next[next.length - 1000]! ^= 1
      await writeFile(join(source, 'coreos-x86_64.iso'), next)

      await expect(copy()).rejects.toThrow(/^Invalid checksum of .*coreos-x86_64\.iso: expected=/)

      expect(await copies()).toEqual(before)
    },
  )

  test('a missing folder, and an ISO without digest, are errors', async () => {
    await expect(copyIso(options({ source: join(home, 'nowhere') }))).rejects.toMatchObject({
      code: 'machine-os-folder',
    })
    await rm(join(source, 'coreos-x86_64.iso.sha256'))
    await expect(copyIso(options())).rejects.toThrow(/coreos-x86_64\.iso has no digest beside it/)
  })
})

describe('row 4: live images are compared with stream metadata at run time', () => {
  test('ISO, kernel, initramfs and root filesystem, as they were published', async () => {
    await metal()
    const all = await verdicts()
    expect(Object.keys(all)).toHaveLength(8)
    expect(all).toMatchObject({
      'coreos-x86_64.iso': 'ok: as published',
      'coreos-x86_64-rootfs.img': 'ok: as published',
      'coreos-aarch64-vmlinuz': 'ok: as published, unpacked',
    })
  })

  test('row 5: a customised ISO is checked in its published form, bit for bit', async () => {
    await copyIso(options({ kargs: ['ip=dhcp'] }))
    await using file = await openFileSource(join(destination, 'coreos-x86_64.iso'), clock, true)
    const iso = await openLiveIso(file, clock)
    await file.replace([await iso.embed(new Map([[IGNITION_FILE, Buffer.from('{}')]]))])
    expect((await verdicts())['coreos-x86_64.iso']).toBe('ok: as published, customised since')
    await file.replace((await openLiveIso(file, clock)).pristine())
    expect(sha256(await at('coreos-x86_64.iso'))).toBe(sha256(x86.iso))
  })

  test.each(['coreos-x86_64.iso', 'coreos-x86_64-vmlinuz', 'coreos-x86_64-initrd.img', 'coreos-x86_64-rootfs.img'])(
    'a flipped byte in %s is found',
    async (name) => {
      await metal({ kargs: ['fips=1'] })
      const bytes = await at(name)
      bytes[bytes.length - 10]! ^= 1
      await writeFile(join(destination, name), bytes)
      const all = await verdicts()
      expect(all[name]).toMatch(/^WRONG: checksum mismatch: expected=[0-9a-f]{64} found=[0-9a-f]{64}/)
      expect(Object.values(all).filter((one) => one.startsWith('WRONG'))).toHaveLength(1)
    },
  )

  test('half an ISO, and a digest of another one', async () => {
    await copyIso(options())
    await writeFile(join(destination, 'coreos-x86_64.iso'), x86.iso.subarray(0, 100_000))
    await writeFile(join(destination, 'coreos-x86_64.iso.sha256'), 'a'.repeat(64))
    expect(await verdicts()).toMatchObject({
      'coreos-x86_64.iso': expect.stringMatching(/^WRONG: checksum mismatch.*\(/) as string,
      'coreos-x86_64.iso.sha256': expect.stringMatching(/^WRONG: is of another ISO/) as string,
    })
  })

  test('an architecture that the stream does not have, and a folder with nothing in it', async () => {
    await copyIso(options())
    await writeFile(join(destination, 'coreos-riscv64.iso'), 'x')
    await expect(verdicts()).rejects.toThrow("stream:rhcos-4.22 does not have architecture 'riscv64'")
    await expect(verdicts(source + '/..')).rejects.toMatchObject({ code: 'machine-os-empty' })
  })
})

describe('row 4: disk images and container of one build', () => {
  const oscontainer = { image: 'quay.io/os/rhel-coreos-base', digest: 'sha256:ba5e' }
  const build = { ...x86.build, 'base-oscontainer': oscontainer }
  const Labels = {
    'org.opencontainers.image.version': build['ostree-version'],
    'ostree.commit': build['ostree-commit'],
  }
  const container = { Digest: 'sha256:ba5e', Architecture: 'amd64', Labels }

  test('match', () => {
    expect(buildContradictions(build, { stream, container })).toEqual([])
  })
  test.each([
    [
      'another digest',
      { container: { ...container, Digest: 'sha256:0' } },
      /^digest of the container image: .*sha256:ba5e/,
    ],
    [
      'another version',
      { container: { ...container, Labels: { version: '9.2.20220510.1' } } },
      /^version of the container image/,
    ],
    ['another tree', { container: { ...container, Labels: { 'ostree.commit': '0' } } }, /^tree of the container image/],
    ['another architecture', { container: { ...container, Architecture: 'arm64' } }, /amd64, and here it is arm64$/],
    [
      'other disk images',
      { stream: { ...stream, architectures: { x86_64: stream.architectures['aarch64']! } } },
      /^digest/,
    ],
  ])('a contradiction is found in %s', (_, documents, message) => {
    const found = buildContradictions(build, documents)
    expect(found.length).toBeGreaterThan(0)
    expect(found[0]).toMatch(message)
  })
})
