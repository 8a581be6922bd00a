import { describe, expect, test } from 'vitest'
import { systemClock } from '../../base/runtime/index.js'
import { newDirectory, newFile, newLink, RootTree } from '../root/root-tree.js'
import { withBootVolume } from './boot-volume.js'
import { describedDisk } from './described-disk.js'
import { writeExt4 } from './ext4-image.js'
import { writeFat32 } from './fat-image.js'
import { FatVolume } from './fat-volume.js'
import { probeFilesystem } from './filesystem-probe.js'

const MIB = 2 ** 20
const UUID = '11111111-2222-4333-8444-555555555555'

const disk = (size = 1024 * MIB, sectorSize = 512) => describedDisk({ name: 'sda', size, sectorSize })

describe('a new ext4 filesystem', () => {
  test('has files, folders, links, owners and holes', async () => {
    const tree = new RootTree()
    const shared = newFile(Buffer.from('shared'))
    const large = newFile(new Uint8Array())
    tree.put('/etc', newDirectory({ mode: 0o750, uid: 7000, gid: 5 }))
    tree.put('/etc/a', shared)
    tree.put('/etc/b', shared)
    tree.put('/etc/big', newFile(Buffer.alloc(3 * MIB, 'x'), { mode: 0o600, uid: 1000 }))
    tree.put('/etc/hole', large)
    tree.put('/short', newLink('etc/a'))
    tree.put('/long', newLink(`/${'x'.repeat(80)}`))
    for (let n = 0; n < 300; n++) tree.put(`/etc/file-${n}-${'n'.repeat(40)}`, newFile(Buffer.from(String(n))))
    const device = disk()
    const holes = new Map([[large, 50 * MIB]])
    await writeExt4(device, { offset: MIB, length: 512 * MIB }, { label: 'root', uuid: UUID, time: 1, tree, holes })
    expect(await probeFilesystem(device, MIB, 512 * MIB)).toEqual({ type: 'ext4', label: 'root', uuid: UUID })
    await withBootVolume(device, MIB, systemClock(), async (volume) => {
      expect((await volume.list('/')).sort()).toEqual(['etc', 'long', 'lost+found', 'short'])
      expect(await volume.stat('/etc')).toMatchObject({ kind: 'directory', mode: 0o750, uid: 7000, gid: 5 })
      expect((await volume.read('/etc/b')).toString()).toBe('shared')
      expect(await volume.stat('/etc/hole')).toMatchObject({ size: 50 * MIB })
      expect(await volume.stat('/etc/big')).toMatchObject({ size: 3 * MIB, mode: 0o600, uid: 1000 })
      expect((await volume.read('/etc/big')).equals(Buffer.alloc(3 * MIB, 'x'))).toBe(true)
      expect(await volume.readlink('/short')).toBe('etc/a')
      expect(await volume.readlink('/long')).toBe(`/${'x'.repeat(80)}`)
      expect((await volume.list('/etc')).length).toBe(304)
      await volume.write('/etc/new', Buffer.from('later'))
      expect((await volume.read('/etc/new')).toString()).toBe('later')
    })
  })

  test('refuses more than fits', async () => {
    const tree = new RootTree()
    tree.put('/a', newFile(Buffer.alloc(8 * MIB, 1)))
    const write = (length: number) =>
      writeExt4(disk(), { offset: 0, length }, { label: 'root', uuid: UUID, time: 1, tree })
    await expect(write(8 * MIB)).rejects.toMatchObject({ code: 'ENOSPC' })
    await write(16 * MIB)
  })
})

test.each([512, 4096])('a new FAT filesystem has its label and its files with sectors of %i bytes', async (size) => {
  const device = disk(1024 * MIB, size)
  const files = [
    { path: ['EFI', 'BOOT', 'BOOTX64.EFI'], bytes: Buffer.from('MZ') },
    { path: ['EFI', 'FEDORA', 'SHIMX64.EFI'], bytes: Buffer.from('MZ2') },
  ]
  await writeFat32(device, { offset: MIB, length: 512 * MIB }, { label: 'EFI-SYSTEM', serial: 0xabcd1234, files })
  expect(await probeFilesystem(device, MIB, 512 * MIB)).toEqual({
    type: 'vfat',
    label: 'EFI-SYSTEM',
    uuid: 'ABCD-1234',
  })
  const volume = await FatVolume.open(device, MIB)
  expect(await volume.label()).toBe('EFI-SYSTEM')
  expect(await volume.list('/EFI')).toEqual(['BOOT', 'FEDORA'])
  expect((await volume.read('/efi/fedora/shimx64.efi')).toString()).toBe('MZ2')
})
