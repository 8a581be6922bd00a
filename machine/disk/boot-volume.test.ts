import { beforeAll, describe, expect, test } from 'vitest'
import { systemClock } from '../../base/runtime/index.js'
import { imagePath } from '../../test/kit/installer.js'
import { withBootVolume } from './boot-volume.js'
import { describedDisk, type AdoptingDevice } from './described-disk.js'
import { DiskError } from './disk-error.js'
import { inspectDisk } from './inspect-disk.js'
import { imageCache, type LoadedImage } from './image-contents.js'
import { partitionsLabelled, readLayout } from './disk-partitions.js'

const clock = systemClock()
let image: LoadedImage
let offset: number

beforeAll(async () => {
  image = await imageCache.load(imagePath, clock)
  offset = (await partitionsLabelled(await installed(), 'boot'))[0]!.offset
})

async function installed(): Promise<AdoptingDevice> {
  const disk = describedDisk({ name: 'nvme0n1', size: image.size, sectorSize: 512 })
  await disk.adopt(0, image.size, image)
  return disk
}

test("the committed image has CoreOS's partitions and filesystems", async () => {
  const { table, gpt, partitions } = await readLayout(await installed())
  expect([table, gpt?.diskGuid]).toEqual(['gpt', '00000000-0000-4000-a000-000000000001'])
  expect(partitions.map(({ name, gpt, filesystem }) => [name, gpt?.name, filesystem])).toEqual([
    ['nvme0n1p1', 'BIOS-BOOT', undefined],
    ['nvme0n1p2', 'EFI-SYSTEM', { type: 'vfat', label: 'EFI-SYSTEM', uuid: '7B77-95E7' }],
    ['nvme0n1p3', 'boot', { type: 'ext4', label: 'boot', uuid: '96d15588-3596-4b3c-adca-a2ff7279ea63' }],
    ['nvme0n1p4', 'root', { type: 'ext4', label: 'root', uuid: '910678ff-f77e-4a7d-8d53-86f2ac47a823' }],
  ])
})

describe('the boot volume', () => {
  test('can be read through its symlinks', async () => {
    const disk = await installed()
    await withBootVolume(disk, offset, clock, async (volume) => {
      expect(await volume.list('/loader/entries')).toEqual(['ostree-1-fedora-coreos.conf'])
      expect(await volume.readlink('/loader')).toBe('loader.1')
      expect(await volume.stat('/loader', { follow: false })).toMatchObject({ kind: 'symlink' })
      expect(await volume.stat('/loader')).toMatchObject({ kind: 'directory', mode: 0o755, uid: 0, gid: 0 })
      expect(await volume.stat('/boot/grub2/grub.cfg')).toMatchObject({ kind: 'file', mode: 0o644 })
      expect((await volume.read('/loader/entries/ostree-1-fedora-coreos.conf')).toString()).toContain(
        'ironstage rehearsal CoreOS',
      )
    })
  })

  test('can be listed any number of times, although the library never frees the memory of a listing', async () => {
    const disk = await installed()
    for (let mounts = 0; mounts < 4; mounts++)
      await withBootVolume(disk, offset, clock, async (volume) => {
        for (let listings = 0; listings < 300; listings++) expect(await volume.list('/loader/entries')).not.toEqual([])
      })
  })

  test('has written files, with modes and owners, at the next mount', async () => {
    const disk = await installed()
    const long = Buffer.alloc(300_000, 'long ')
    await withBootVolume(disk, offset, clock, async (volume) => {
      await volume.mkdir('/ignition', { mode: 0o700 })
      await volume.create('/ignition/config.ign', Buffer.from('{}'), { mode: 0o600, uid: 7, gid: 8 })
      await volume.write('/long', long)
      await volume.write('/ignition.firstboot', Buffer.from('set x=1\n'))
    })
    await withBootVolume(disk, offset, clock, async (volume) => {
      await volume.write('/long', Buffer.from('short'))
      await volume.remove('/efi')
    })
    await withBootVolume(disk, offset, clock, async (volume) => {
      expect(await volume.stat('/ignition')).toMatchObject({ kind: 'directory', mode: 0o700 })
      expect(await volume.stat('/ignition/config.ign')).toEqual({ kind: 'file', mode: 0o600, uid: 7, gid: 8, size: 2 })
      expect((await volume.read('/long')).toString()).toBe('short')
      expect((await volume.read('/ignition.firstboot')).toString()).toBe('set x=1\n')
      expect(await volume.exists('/efi')).toBe(false)
    })
  })

  test('reports errors by errno name', async () => {
    const disk = await installed()
    await withBootVolume(disk, offset, clock, async (volume) => {
      await expect(volume.read('/nothing')).rejects.toMatchObject({ code: 'ENOENT', message: '/nothing: ENOENT' })
      await expect(volume.read('/grub2')).rejects.toMatchObject({ code: 'EISDIR' })
      await expect(volume.create('/grub2/grub.cfg', Buffer.from(''))).rejects.toMatchObject({ code: 'EEXIST' })
      await expect(volume.mkdir('/grub2')).rejects.toMatchObject({ code: 'EEXIST' })
      expect(await volume.exists('/grub2/grub.cfg/below')).toBe(false)
      await expect(volume.write('/big', Buffer.alloc(25 * 1024 * 1024, 1))).rejects.toMatchObject({ code: 'ENOSPC' })
    })
  })

  test('an error of the disk is reported as such, and nothing is written after it', async () => {
    const disk = await installed()
    let writes = 0
    const failing = {
      ...disk,
      read: disk.read.bind(disk),
      write: () => {
        writes++
        return Promise.reject(new DiskError('EIO', 'sda', 1))
      },
    } as unknown as AdoptingDevice
    await expect(
      withBootVolume(failing, offset, clock, (volume) => volume.create('/x', Buffer.from('x'))),
    ).rejects.toMatchObject({ name: 'DiskError', code: 'EIO' })
    expect(writes).toBe(1)
  })

  test('mounts of one process run one after another', async () => {
    const disks = await Promise.all([1, 2, 3].map(() => installed()))
    await Promise.all(
      disks.map((disk, index) =>
        withBootVolume(disk, offset, clock, (volume) => volume.create('/mine', Buffer.from(`${index}`))),
      ),
    )
    for (const [index, disk] of disks.entries())
      expect(
        (await withBootVolume(disk, offset, clock, (volume) => volume.read('/mine'), { readOnly: true })).toString(),
      ).toBe(`${index}`)
  })

  test('a partition without a filesystem cannot be mounted', async () => {
    const disk = describedDisk({ name: 'sda', size: 64 * 1024 * 1024, sectorSize: 512 })
    await expect(withBootVolume(disk, 0, clock, () => Promise.resolve())).rejects.toMatchObject({ code: 'EINVAL' })
  })

  test('the library leaves the handlers of the process alone', () => {
    const meddling = process
      .listeners('uncaughtException')
      .map(String)
      .filter((text) => text.includes('ExitStatus'))
    expect(meddling).toEqual([])
  })
})

/** Changes bytes of the boot filesystem of a disk. */
async function damagedVolume(at: number, bytes: readonly number[]): Promise<AdoptingDevice> {
  const disk = await installed()
  await disk.write(offset + at, Buffer.from(bytes))
  return disk
}

const SUPERBLOCK = 1024
/** Inode 22, the folder of boot entries, in the inode table from block 36 on. */
const ENTRIES = 36 * 4096 + 256 * 21

test.each<[string, number, readonly number[], string, string]>([
  ['magic number', SUPERBLOCK + 56, [0, 0], 'EINVAL', 'the superblock has another magic number'],
  ['checksum', SUPERBLOCK + 12, [1, 2, 3, 4], 'EUCLEAN', 'the superblock does not match its checksum'],
  // The features for reading and for writing, the latter without checksums.
  ['feature', SUPERBLOCK + 96, [0xff, 0xff, 0xff, 0xff, 0x6b, 0, 0, 0], 'EUCLEAN', 'features that are not known'],
  ['block size', SUPERBLOCK + 24, [9, 0, 0, 0], 'EUCLEAN', 'the superblock'],
])(
  'a boot filesystem with another %s is reported as damaged, with the reason',
  async (_, at, bytes, code, sentence) => {
    const disk = await damagedVolume(at, bytes)
    const look = withBootVolume(disk, offset, clock, (volume) => volume.list('/loader/entries'))
    await expect(look).rejects.toMatchObject({ code, message: expect.stringContaining(sentence) as string })
  },
)

test('a file of an impossible size is not read', async () => {
  const disk = await damagedVolume(SUPERBLOCK + 100, [0x6b, 0, 0, 0])
  // The boot entry, inode 23: 4 GiB.
  await disk.write(offset + ENTRIES + 256 + 4, Buffer.from([0, 0xf0, 0xff, 0xff]))
  const read = withBootVolume(disk, offset, clock, (volume) =>
    volume.read('/loader/entries/ostree-1-fedora-coreos.conf'),
  )
  await expect(read).rejects.toMatchObject({ code: 'EFBIG', message: expect.stringContaining('4294963200') as string })
})

test('a disk with a damaged boot filesystem is an error with a remedy', async () => {
  const disk = await damagedVolume(SUPERBLOCK + 12, [1, 2, 3, 4])
  await expect(inspectDisk(disk, clock)).rejects.toMatchObject({
    code: 'boot-filesystem-damaged',
    message: expect.stringContaining('the superblock does not match its checksum') as string,
  })
})
