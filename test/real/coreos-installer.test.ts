import { createHash } from 'node:crypto'
import { mkdtemp, open, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { REHEARSAL_IMAGE } from '../../lab/index.js'
import { inspectDisk, openFileDisk } from '../../machine/index.js'
import { systemClock } from '../../runtime/index.js'
import { insideWith, readImage, runInstaller } from '../kit/installer.js'
import { filesIn, realInstaller, type RealInstaller } from './coreos-installer.js'

const MIB = 2 ** 20
const CONFIG = JSON.stringify({
  ignition: { version: '3.4.0' },
  storage: { files: [{ path: '/etc/hostname', mode: 420, contents: { source: 'data:,node-0' } }] },
})
const clock = systemClock()

let folder: string
let real: RealInstaller
beforeAll(async () => {
  real = await realInstaller()
  folder = await mkdtemp(join(tmpdir(), 'ironstage-installer-'))
  await writeFile(join(folder, 'c.ign'), CONFIG)
  await writeFile(join(folder, 'broken.xz'), readImage().subarray(0, 7000))
})
afterAll(async () => {
  await real[Symbol.asyncDispose]()
  await rm(folder, { recursive: true, force: true })
})

/** A disk on which something stood before. */
async function usedDisk(name: string, size: number): Promise<string> {
  const path = join(folder, name)
  await rm(path, { force: true })
  const file = await open(path, 'w')
  await file.truncate(size)
  for (let at = 0; at < size; at += 8 * MIB) await file.write(Buffer.alloc(4096, 0xa5), 0, 4096, at)
  await file.close()
  return path
}

async function ours(disk: string, args: readonly string[]) {
  await using device = await openFileDisk({ path: disk, name: 'sda', sectorSize: 512, clock })
  const files = { [REHEARSAL_IMAGE]: readImage(), '/c.ign': CONFIG, '/broken.xz': readImage().subarray(0, 7000) }
  const ended = await runInstaller(insideWith({ disks: [device], files }), ['install', '/dev/sda', ...args])
  const named = (text: string) => text.replaceAll('/dev/sda', '/dev/DISK')
  return { code: ended.code, stdout: named(ended.stdout), stderr: named(ended.stderr) }
}

/** What is there for both: the look at the host's own disks is left out, and where files of the test are. */
function said(stderr: string): string[] {
  return stderr
    .replaceAll(`${folder}/`, '/')
    .replace(/^blkid: error: (.|\n)*?^\} failed with exit status: \d+\n/m, '')
    .split('\n')
}

/** All of a disk that an installation decides. */
async function written(disk: string) {
  const report = await inspectDisk({ path: disk }, clock)
  const boot = report.partitions.find(({ filesystem }) => filesystem?.label === 'boot')
  const bytes = async ({ offset, length }: { offset: number; length: number }) => {
    const file = await open(disk)
    const { buffer } = await file.read(Buffer.alloc(length), 0, length, offset)
    await file.close()
    return createHash('sha256').update(buffer).digest('hex')
  }
  const others = report.partitions.filter((partition) => partition !== boot)
  return {
    // A table that the installer made itself, after a failure, has a GUID at random.
    table: { ...report, boot: null, diskGuid: report.partitions.length > 0 ? report.diskGuid : null },
    files: boot ? await filesIn(disk, boot) : null,
    others: await Promise.all(others.map(bytes)),
  }
}

describe.each<[string, { size?: number; code?: number }, string[]]>([
  ['an installation', {}, ['--image-file', REHEARSAL_IMAGE, '--insecure']],
  [
    'an installation with a config and everything that changes the boot files',
    {},
    [
      ...['--image-file', REHEARSAL_IMAGE, '--insecure', '--ignition-file', '/c.ign'],
      ...['--append-karg', 'a=b', '--append-karg', 'c', '--delete-karg', 'rw'],
      ...['--platform', 'qemu', '--console', 'ttyS0,115200n8'],
    ],
  ],
  [
    'a config that is fetched at the first boot',
    {},
    ['--image-file', REHEARSAL_IMAGE, '--insecure', '--firstboot-args', 'rd.neednet=1 ip=dhcp'],
  ],
  ['a disk that is too small', { size: 16 * MIB, code: 1 }, ['--image-file', REHEARSAL_IMAGE, '--insecure']],
  ['an image that ends early', { code: 1 }, ['--image-file', '/broken.xz', '--insecure']],
  [
    'the same with what was written left on the disk',
    { code: 1 },
    ['--image-file', '/broken.xz', '--insecure', '--preserve-on-error'],
  ],
])('%s', (_, { size = 256 * MIB, code = 0 }, args) => {
  test('says and leaves the same with the real coreos-installer and with ours', async () => {
    const [theirDisk, ourDisk] = [await usedDisk('theirs.img', size), await usedDisk('ours.img', size)]
    const theirs = await real.install(
      theirDisk,
      args.map((arg) => arg.replace(/^\/(c\.ign|broken\.xz)$/, `${folder}/$1`)),
    )
    const mine = await ours(ourDisk, args)

    expect(said(mine.stderr)).toEqual(said(theirs.stderr))
    expect(mine).toMatchObject({ code, stdout: theirs.stdout })
    expect(theirs.code).toBe(code)
    const left = await written(theirDisk)
    expect(await written(ourDisk)).toEqual(left)
    if (code === 0) expect(Object.keys(left.files ?? {})).toContain('/ignition.firstboot')
    if (args.includes('/c.ign'))
      expect(left.files?.['/ignition/config.ign']).toMatchObject({ mode: '100600', bytes: CONFIG })
  })
})
