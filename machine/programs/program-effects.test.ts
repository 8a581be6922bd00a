import { describe, expect, test } from 'vitest'
import { GUID, image, installedMachine, programMachines, run } from '../../test/kit/program-machines.js'

const { ramdisk } = programMachines()
const installed = installedMachine(ramdisk)

describe('what a program changes', () => {
  test('files of a mounted boot partition are read from the disk, and written only with a writable mount', async () => {
    const machine = await ramdisk()
    await run(machine, 'dd of=/dev/sda status=none', await image)
    await run(machine, 'mount -o ro /dev/sda3 /mnt')
    expect((await run(machine, 'mount')).stdout).toBe('/dev/sda3 on /mnt type ext4 (ro,relatime)\n')
    expect((await run(machine, 'ls /mnt/loader/entries')).stdout).toBe('ostree-1-fedora-coreos.conf\n')
    expect(await run(machine, 'rm /mnt/ignition.firstboot')).toMatchObject({
      stderr: "rm: cannot remove '/mnt/ignition.firstboot': Read-only file system\n",
    })
    expect(await run(machine, 'blockdev --rereadpt /dev/sda')).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('Device or resource busy'),
    })
    await run(machine, 'umount /mnt')
    await run(machine, 'mount LABEL=boot /mnt')
    expect(await run(machine, 'rm /mnt/ignition.firstboot')).toMatchObject({ code: 0 })
    await machine.executor.files.write('/mnt/deep/er/file', Buffer.from('x'), { mode: 0o600 })
    await run(machine, 'umount /dev/sda3')
    expect(await machine.executor.files.list('/mnt')).toEqual([])
    await run(machine, 'mount -r /dev/disk/by-partlabel/boot /mnt')
    expect((await run(machine, 'stat -c %a:%s /mnt/deep/er/file')).stdout).toBe('600:1\n')
    expect((await run(machine, 'test -e /mnt/ignition.firstboot')).code).toBe(1)
  })

  test('files of the EFI system partition can be read', async () => {
    await run(installed.machine, 'mkdir -p /run/esp')
    await run(installed.machine, 'mount -o ro /dev/sda2 /run/esp')
    expect((await run(installed.machine, 'ls /run/esp/EFI')).stdout).toBe('BOOT\nfedora\n')
    expect((await run(installed.machine, 'ls /run/esp/EFI/fedora')).stdout).toBe('shimx64.efi\n')
    expect((await run(installed.machine, 'cat /run/esp/efi/boot/bootx64.efi')).stdout).toMatch(
      /^ironstage rehearsal image/,
    )
    expect((await run(installed.machine, 'stat -c %s /run/esp/EFI/BOOT/BOOTX64.EFI')).stdout).toBe('512\n')
    await run(installed.machine, 'umount /run/esp')
  })

  test('new boot entries are first in the order, can be deleted, and outlive a reboot', async () => {
    const machine = await ramdisk()
    await run(machine, 'dd of=/dev/sda status=none', await image)
    const create = (label: string) =>
      run(machine, `efibootmgr -v -c -w -d /dev/sda -p 2 -L ${label} -l \\EFI\\fedora\\shimx64.efi`)
    await create('one')
    expect((await create('two')).stdout).toBe(
      `Timeout: 0 seconds
BootOrder: 0001,0000
Boot0000* one\tHD(2,GPT,${GUID}2,0x1000,0x2000)/File(\\EFI\\fedora\\shimx64.efi)
Boot0001* two\tHD(2,GPT,${GUID}2,0x1000,0x2000)/File(\\EFI\\fedora\\shimx64.efi)
`,
    )
    expect((await create('two')).stderr).toBe('efibootmgr: ** Warning ** : Boot0001 has same label two\n')
    await run(machine, 'efibootmgr -b 2 -B')
    await run(machine, 'efibootmgr -b 0000 -B')
    await machine.setPower('reboot')
    while (!machine.boot()) await new Promise((resolve) => setTimeout(resolve, 1))
    expect((await run(machine, 'efibootmgr')).stdout).toContain('BootOrder: 0001\nBoot0001* two\t')
  })

  test('a BIOS machine has no EFI variables', async () => {
    const machine = await ramdisk({ firmware: 'bios' })
    expect(await run(machine, 'efibootmgr')).toEqual({
      stdout: '',
      stderr: 'EFI variables are not supported on this system.\n',
      code: 2,
    })
    expect(await machine.executor.files.exists('/sys/firmware/efi')).toBe(false)
  })

  test('wipefs erases signatures at both ends, sgdisk -Z the rest of a table', async () => {
    const machine = await ramdisk()
    await run(machine, 'sgdisk -o /dev/sdb')
    expect((await run(machine, 'sgdisk -v /dev/sdb')).stdout).toBe(
      '\nNo problems found. 536870845 free sectors (256.0 GiB) available in 1\nsegments, the largest of which is 536870845 (256.0 GiB) in size.\n',
    )
    expect((await run(machine, 'wipefs --force --all /dev/sdb')).stdout).toBe(
      `/dev/sdb: 8 bytes were erased at offset 0x00000200 (gpt): 45 46 49 20 50 41 52 54
/dev/sdb: 8 bytes were erased at offset 0x3ffffffe00 (gpt): 45 46 49 20 50 41 52 54
/dev/sdb: 2 bytes were erased at offset 0x000001fe (PMBR): 55 aa
/dev/sdb: calling ioctl to re-read partition table: Success
`,
    )
    expect(await run(machine, 'wipefs /dev/sdb')).toEqual({ stdout: '', stderr: '', code: 0 })
    expect((await run(machine, 'sgdisk -Z /dev/sdb')).stdout).toContain('GPT data structures destroyed!')
    expect((await run(machine, 'blkid -p /dev/sdb')).code).toBe(2)
  })

  test.each([
    'shred --force --zero --verbose --iterations 1 /dev/sda',
    'blkdiscard /dev/sda',
    'dd if=/dev/zero of=/dev/sda bs=1M',
  ])('%s leaves zeros', async (line) => {
    const machine = await ramdisk()
    await run(machine, 'dd of=/dev/sda status=none', await image)
    await run(machine, line)
    expect((await run(machine, 'lsblk -n -o NAME /dev/sda')).stdout).toBe('sda\n')
  })

  test('a hostname that was set is read back', async () => {
    const machine = await ramdisk()
    await run(machine, 'hostnamectl set-hostname node-7')
    expect((await run(machine, 'hostname')).stdout).toBe('node-7\n')
    expect((await run(machine, 'cat /etc/hostname')).stdout).toBe('node-7\n')
    await run(machine, 'systemctl stop chronyd')
    expect(await run(machine, 'systemctl is-active chronyd')).toMatchObject({ stdout: 'inactive\n', code: 3 })
  })
})
