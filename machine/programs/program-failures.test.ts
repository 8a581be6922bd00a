import { describe, expect, test } from 'vitest'
import { installedMachine, programMachines, run } from '../../test/kit/program-machines.js'

const { probe, ramdisk } = programMachines()
const installed = installedMachine(ramdisk)

describe('how a program fails', () => {
  const cases: [line: string, code: number, stderr: string][] = [
    ['lsblk /dev/nope', 32, 'lsblk: /dev/nope: not a block device\n'],
    ['lsblk -o FOO', 1, 'lsblk: unknown column: FOO\n'],
    ['lsblk --foo', 1, "lsblk: unrecognized option '--foo'\n"],
    ['blkid -p /dev/sdb', 2, ''],
    ['blkid -p /dev/nope', 2, 'blkid: error: /dev/nope: No such file or directory\n'],
    ['cat /nope', 1, 'cat: /nope: No such file or directory\n'],
    ['ls /nope', 2, "ls: cannot access '/nope': No such file or directory\n"],
    ['stat /nope', 1, "stat: cannot statx '/nope': No such file or directory\n"],
    ['rm /tmp', 1, "rm: cannot remove '/tmp': Is a directory\n"],
    ['mkdir /tmp', 1, 'mkdir: cannot create directory ‘/tmp’: File exists\n'],
    ['mkdir /a/b', 1, 'mkdir: cannot create directory ‘/a/b’: No such file or directory\n'],
    ['mount /dev/sda9 /mnt', 32, 'mount: /mnt: special device /dev/sda9 does not exist.\n'],
    ['mount /dev/sda2 /mnt', 32, 'mount: /mnt: cannot mount /dev/sda2 read-write.\n'],
    ['mount /dev/sda3 /nope', 32, 'mount: /nope: mount point does not exist.\n'],
    ['umount /mnt', 32, 'umount: /mnt: not mounted.\n'],
    ['wipefs /dev/nope', 1, 'wipefs: error: /dev/nope: probing initialization failed: No such file or directory\n'],
    ['efibootmgr -b 7 -B', 5, 'efibootmgr: Boot entry 7 not found\n'],
    [
      'efibootmgr -c -d /dev/sda -p 9 -L x',
      5,
      'efibootmgr: Could not prepare Boot variable: No such file or directory\n',
    ],
    ['mdadm --stop /dev/md0', 1, 'mdadm: error opening /dev/md0: No such file or directory\n'],
    ['mdadm --create /dev/md0 -l 1 -n 2 /dev/sda', 2, 'mdadm: You have listed 1 devices but 2 are needed.\n'],
    ['mdadm --create /dev/md0 -l 5 -n 2 /dev/sda /dev/sdb', 2, 'mdadm: at least 3 raid-devices needed for level 5\n'],
    ['mdadm --assemble --scan', 2, 'mdadm: No arrays found in config file or automatically\n'],
    ['sgdisk --delete=9 /dev/sda', 4, ''],
    ['nvme id-ctrl /dev/sda', 1, 'nvme: /dev/sda: No such file or directory\n'],
    ['chmod x /tmp', 1, 'chmod: invalid mode: ‘x’\n'],
    ['mdadm --examine /dev/sda', 1, 'mdadm: No md superblock detected on /dev/sda.\n'],
    ['systemctl start nope', 5, 'Failed to start nope.service: Unit nope.service not found.\n'],
    ['udevadm info --name=/dev/nope', 1, 'udevadm: Unknown device "/dev/nope": No such device\n'],
    ['dd if=/nope of=/dev/sdb', 1, "dd: failed to open '/nope': No such file or directory\n"],
    ['ip tunnel', 1, 'Object "tunnel" is unknown, try "ip help".\n'],
  ]
  test.each(cases)('%s ends with %i', async (line, code, stderr) => {
    expect(await run(installed.machine, line)).toEqual({ stdout: '', stderr, code })
  })

  test.each([
    ['-b /dev/sda', 0],
    ['-f /dev/sda', 1],
    ['-d /tmp', 0],
    ['! -e /nope', 0],
    ['a = b', 1],
    ['2 -gt 1', 0],
    ['-s /etc/hostname', 0],
  ])('test %s is %i', async (words, code) => {
    expect((await run(installed.machine, `test ${words}`)).code).toBe(code)
  })

  test('a medium error is an input/output error to the program, and writing zeros stops at the end of the disk', async () => {
    const machine = await ramdisk()
    using _broken = probe.attach((point, next) =>
      point['machine'] === machine.spec.id && point.kind === 'disk-write' && point['disk'] === 'sda'
        ? Promise.reject(Object.assign(new Error('bad sector'), { code: 'EIO' }))
        : next(),
    )
    expect(await run(machine, 'dd if=/dev/zero of=/dev/sda count=1')).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("dd: error copying '/dev/zero' to '/dev/sda': Input/output error\n"),
    })
    expect(await run(machine, 'blkdiscard /dev/sda')).toMatchObject({
      code: 1,
      stderr: 'blkdiscard: Input/output error\n',
    })
    expect(await run(machine, 'dd if=/dev/zero of=/dev/sdb bs=1G seek=256')).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/^dd: error writing '\/dev\/sdb': No space left on device\n0\+0 records in\n/),
    })
  })
})
