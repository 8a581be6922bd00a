import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { copyFile, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { gunzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openLiveIso } from '../../../coreos/index.js'
import { bytesSource } from '../../../base/bytes/index.js'
import { systemClock } from '../../../base/runtime/index.js'
import { isoImage, liveFiles, liveInitramfs, type LiveArchitecture, type LiveFiles } from '../../kit/images/live-iso.js'
import { IRONSTAGE } from '../../kit/commands/up-process.js'
import { realBinary } from '../coreos-installer.js'
import { debianProgram, tool } from '../peers.js'

const run = promisify(execFile)
const ARCHITECTURES: LiveArchitecture[] = ['x86_64', 'aarch64', 'ppc64le', 's390x']
let real: string
let scratch: string

beforeAll(async () => {
  await debianProgram('xorriso', 'xorriso')
  await debianProgram('cpio', 'cpio')
  await debianProgram('xz', 'xz-utils')
  real = await realBinary()
  scratch = await mkdtemp(join(tmpdir(), 'ironstage-live-real-'))
})
afterAll(() => rm(scratch, { recursive: true, force: true }))

/** With everything that a real tool makes of it: Rock Ridge, path tables, padding. */
async function xorriso(name: string, files: LiveFiles): Promise<string> {
  const folder = join(scratch, `${name}.files`)
  for (const [path, bytes] of Object.entries(files)) {
    await mkdir(dirname(join(folder, path)), { recursive: true })
    await writeFile(join(folder, path), bytes)
  }
  const image = join(scratch, `${name}.iso`)
  await run('xorriso', ['-as', 'mkisofs', '-quiet', '-V', 'fake-coreos-99', '-o', image, folder])
  return image
}

/** Runs a line of shell with each tool as `$TOOL`, in a folder of its own with the same files. */
async function both(files: Record<string, string>, line: string) {
  const results: { folder: string; code: number; stdout: string; stderr: string }[] = []
  for (const tool_ of [real, `${process.execPath} ${IRONSTAGE}`]) {
    const folder = await mkdtemp(join(scratch, 'run-'))
    for (const [name, path] of Object.entries(files)) await copyFile(path, join(folder, name))
    const quiet = 'unset RUST_BACKTRACE RUST_LIB_BACKTRACE; cd "$0"; '
    results.push({ folder, ...(await tool('sh', '-c', quiet + line.replaceAll('$TOOL', tool_), folder)) })
  }
  return results as [(typeof results)[0], (typeof results)[0]]
}

async function inputs(): Promise<Record<string, string>> {
  const texts = {
    'a.ign': '{"ignition":{"version":"3.4.0"},"passwd":{}}',
    'eth0.nmconnection': '[connection]\nid=eth0\n',
  }
  for (const [name, text] of Object.entries(texts)) await writeFile(join(scratch, name), text)
  await writeFile(join(scratch, 'initrd'), liveInitramfs())
  // Nothing makes this smaller, and it is the same every time.
  const noise = Array.from({ length: 5000 }, (_, index) => createHash('sha512').update(`${index}`).digest())
  await writeFile(join(scratch, 'big'), Buffer.concat(noise))
  return Object.fromEntries([...Object.keys(texts), 'initrd', 'big'].map((name) => [name, join(scratch, name)]))
}

const CHANGE =
  '$TOOL iso ignition embed -i a.ign x.iso && $TOOL iso network embed -k eth0.nmconnection x.iso && ' +
  '$TOOL iso kargs modify -a foo=bar -d mitigations=auto,nosmt -r foo=bar=baz x.iso'

/** The archive in the embed area, decompressed, and all bytes beside it. */
async function taken(path: string): Promise<{ archive: Buffer; rest: Buffer }> {
  const bytes = await readFile(path)
  const { area } = await openLiveIso(bytesSource(bytes), systemClock())
  const embedded = join(scratch, 'embedded.xz')
  // Without the zeros after it, which come in fours.
  let end = area.offset + area.size
  while (end > area.offset && bytes.readUInt32LE(end - 4) === 0) end -= 4
  await writeFile(embedded, bytes.subarray(area.offset, end))
  const { stdout } = await run('xz', ['-dc', embedded], { encoding: 'buffer' })
  return {
    archive: stdout,
    rest: Buffer.concat([bytes.subarray(0, area.offset), bytes.subarray(area.offset + area.size)]),
  }
}

describe.each(ARCHITECTURES)('a live ISO for %s', (architecture) => {
  test('is changed alike, each reads what the other embedded, and takes it away without a trace', async () => {
    const pristine = await xorriso(architecture, liveFiles(architecture))
    const [theirs, ours] = await both({ ...(await inputs()), 'x.iso': pristine }, CHANGE)
    for (const { code, stdout, stderr } of [theirs, ours])
      expect({ code, stdout, stderr }).toEqual({ code: 0, stdout: '', stderr: '' })
    const one = await taken(join(theirs.folder, 'x.iso'))
    const other = await taken(join(ours.folder, 'x.iso'))
    expect(other.archive.equals(one.archive)).toBe(true)
    expect(other.rest.equals(one.rest)).toBe(true)
    for (const { folder } of [theirs, ours]) {
      const show = '$TOOL iso ignition show x.iso; $TOOL iso network extract x.iso; $TOOL iso kargs show x.iso'
      const [a, b] = await both({ 'x.iso': join(folder, 'x.iso') }, show)
      expect({ ...b, folder: '' }).toEqual({ ...a, folder: '' })
      expect(b.stdout).toContain('foo=baz')
      const reset =
        '$TOOL iso reset -o r.iso x.iso; $TOOL iso ignition remove x.iso; $TOOL iso network remove x.iso; $TOOL iso kargs reset x.iso'
      for (const { folder: undone } of await both({ 'x.iso': join(folder, 'x.iso') }, reset))
        for (const name of ['r.iso', 'x.iso'])
          expect((await readFile(join(undone, name))).equals(await readFile(pristine)), name).toBe(true)
    }
  })
})

test.each([
  ['embedding twice', '$TOOL iso ignition embed -i a.ign x.iso; $TOOL iso ignition embed -i a.ign x.iso'],
  ['too much', '$TOOL iso ignition embed -i big x.iso'],
  ['nothing embedded', '$TOOL iso ignition show x.iso'],
  ['no network settings', '$TOOL iso network extract x.iso'],
  ['no ISO', '$TOOL iso kargs show a.ign'],
  ['an ISO that is cut short', 'head -c 60000 x.iso > y.iso; $TOOL iso reset y.iso'],
  ['an output that is there', '$TOOL iso reset -o a.ign x.iso'],
  ['kernel arguments that are too long', '$TOOL iso kargs modify -a $(head -c 1200 /dev/zero | tr "\\0" a) x.iso'],
  ['a replacement of another form', '$TOOL iso kargs modify -r y=2 x.iso'],
  ...[
    'ttyS0',
    'ttyS0 ttyS1',
    'ttyS0,115200n8 tty0',
    'ttyS0,115200n8 ttyS1,115200n8 tty0 hvc0',
    'ttyS256',
    'x ttyS0',
  ].map((consoles): [string, string] => [
    `the consoles ${consoles} among kernel arguments`,
    `$TOOL iso customize ${consoles
      .split(' ')
      .map((one) => `--dest-karg-append console=${one}`)
      .join(' ')} x.iso`,
  ]),
  [
    'kernel arguments that are too long, after a message',
    `$TOOL iso customize --dest-device /dev/sda --live-karg-append ${'x'.repeat(1200)} x.iso`,
  ],
  ['a PXE image that installs', '$TOOL pxe customize --dest-device /dev/sda --dest-console ttyS1 -o c initrd'],
  ['customised twice', '$TOOL iso customize --live-karg-append q x.iso; $TOOL iso customize x.iso'],
  ['what PXE needs', '$TOOL iso extract pxe -o p x.iso; $TOOL iso extract pxe -o p x.iso'],
  ['an initramfs that is none', '$TOOL pxe ignition unwrap a.ign'],
  ['a config that is not there', '$TOOL pxe ignition unwrap initrd'],
])('both say the same of %s', async (_, line) => {
  const pristine = await xorriso('words', liveFiles())
  const [theirs, ours] = await both({ ...(await inputs()), 'x.iso': pristine }, line)
  expect({ ...ours, folder: '' }).toEqual({ ...theirs, folder: '' })
})

test('both read an ISO that our tests make', async () => {
  const path = join(scratch, 'made.iso')
  await writeFile(path, isoImage(liveFiles()))
  const [theirs, ours] = await both({ ...(await inputs()), 'x.iso': path }, `${CHANGE}; $TOOL iso kargs show x.iso`)
  expect({ ...ours, folder: '' }).toEqual({ ...theirs, folder: '' })
  expect(theirs.stdout).toContain('foo=baz')
})

test('a minimal ISO comes out byte for byte, with its root filesystem', async () => {
  const { 'images/pxeboot/rootfs.img': rootfs, ...files } = liveFiles()
  const minimal = await xorriso('minimal', files)
  const full = await xorriso('full', {
    ...files,
    'images/pxeboot/rootfs.img': rootfs!,
    'coreos/miniso.dat': Buffer.alloc(65536),
  })
  expect((await tool(real, 'pack', 'minimal-iso', full, minimal)).code).toBe(0)
  for (const url of ['', '--rootfs-url http://h/r.img']) {
    const line = `$TOOL iso extract minimal-iso x.iso m.iso --output-rootfs r.img ${url}; $TOOL iso kargs show m.iso`
    const [theirs, ours] = await both({ 'x.iso': full }, line)
    expect({ ...ours, folder: '' }).toEqual({ ...theirs, folder: '' })
    for (const name of ['m.iso', 'r.img'])
      expect((await readFile(join(ours.folder, name))).equals(await readFile(join(theirs.folder, name))), name).toBe(
        true,
      )
  }
})

test('customised images hold the same files for the same options', async () => {
  const pristine = await xorriso('customised', liveFiles())
  const line =
    '$TOOL iso customize --dest-device /dev/sda --dest-ignition a.ign --dest-ignition a.ign --dest-console ttyS0 ' +
    '--dest-karg-append foo=bar --dest-karg-delete quiet --network-keyfile eth0.nmconnection --ignition-ca a.ign ' +
    '--pre-install initrd --live-ignition a.ign --live-karg-append q x.iso; $TOOL iso ignition show x.iso'
  const [theirs, ours] = await both({ ...(await inputs()), 'x.iso': pristine }, line)
  expect(ours.stderr).toBe(theirs.stderr)
  const shape = (text: string) =>
    JSON.parse(text, (key, value: unknown) =>
      value === null
        ? undefined
        : key === 'source'
          ? unzipped(String(value))
          : key === 'contents' && typeof value === 'string'
            ? value.replace(/^#.*/, '')
            : value,
    ) as unknown
  expect(shape(ours.stdout)).toEqual(shape(theirs.stdout))
})

function unzipped(source: string): unknown {
  const text = gunzipSync(Buffer.from(source.replace(/^.*,/, ''), 'base64')).toString()
  try {
    return JSON.parse(text, (key, value: unknown) => (key === 'source' ? unzipped(String(value)) : value))
  } catch {
    return text
  }
}

test('cpio and xz read a wrapped config, and each tool what the other wrapped', async () => {
  const line =
    '$TOOL pxe ignition wrap -i a.ign -o w; $TOOL pxe network wrap -k eth0.nmconnection -o n; $TOOL pxe customize --live-ignition a.ign -o c initrd'
  const [theirs, ours] = await both(await inputs(), line)
  expect({ ...ours, folder: '' }).toEqual({ ...theirs, folder: '' })
  const list = await tool(
    'sh',
    '-c',
    `xz -t "$0/w" && xz -dc "$0/w" | cpio -it --quiet && xz -dc "$0/w" | cpio -i --quiet --to-stdout`,
    ours.folder,
  )
  expect(list).toEqual({ code: 0, stdout: 'config.ign\n{"ignition":{"version":"3.4.0"},"passwd":{}}', stderr: '' })
  for (const name of ['w', 'n']) {
    const archive = async (folder: string) =>
      (await run('xz', ['-dc', '--format=xz', join(folder, name)], { encoding: 'buffer' })).stdout.toString('latin1')
    await copyFile(join(ours.folder, name), join(ours.folder, `${name}.xz`))
    expect(await archive(ours.folder)).toBe(await archive(theirs.folder))
  }
  for (const { folder } of [theirs, ours]) {
    const from = Object.fromEntries(['w', 'n', 'c'].map((name) => [name, join(folder, name)]))
    const [a, b] = await both(
      from,
      '$TOOL pxe ignition unwrap w; $TOOL pxe ignition unwrap c; $TOOL pxe network unwrap n',
    )
    expect({ ...b, folder: '' }).toEqual({ ...a, folder: '' })
    expect(b.code).toBe(0)
  }
})
