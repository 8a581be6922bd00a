import { readFile } from 'node:fs/promises'
import lzma from 'lzma-native'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { Probe, seededRandom, silent, systemClock } from '../../runtime/index.js'
import { readHardware } from '../../steps/index.js'
import { defaultMachineSpec } from '../hardware/default-spec.js'
import { NO_PACE, type Machine, type Machines } from '../machine.js'
import { openMachines } from '../machines.js'

const probe = new Probe()
let machines: Machines
let numbered = 0

beforeAll(async () => {
  machines = await openMachines({
    stateDir: null,
    clock: systemClock(),
    random: seededRandom(1),
    probe,
    logger: silent,
    pace: NO_PACE,
    events: { ramdiskUp: () => {}, down: () => {} },
  })
})
afterAll(() => machines[Symbol.asyncDispose]())

const image = new Promise<Buffer>((resolve, reject) => {
  readFile(new URL('../../images/coreos-metal.raw.xz', import.meta.url))
    .then((xz) => lzma.decompress(xz, {}, (bytes) => resolve(bytes)))
    .catch(reject)
})

async function ramdisk(options: Partial<Parameters<typeof defaultMachineSpec>[0] & object> = {}): Promise<Machine> {
  const profile = {
    ...defaultMachineSpec(1),
    id: `m${++numbered}`,
    bmc: { address: '192.0.2.9', systemId: `${numbered}` },
  }
  const disks = profile.disks.map((disk) => ({ ...disk, backing: { kind: 'described' } as const }))
  const machine = await machines.create({ ...profile, disks, ...options })
  await machine.setBoot({ kind: 'ramdisk', parameters: {} })
  await machine.setPower('on')
  while (!machine.boot()) await new Promise((resolve) => setTimeout(resolve, 1))
  return machine
}

async function run(machine: Machine, line: string, stdin?: Uint8Array) {
  const argv = line.split(' ') as [string, ...string[]]
  const started = await machine.executor.start({ argv, effect: 'writes', ...(stdin && { stdin }) })
  const text = { stdout: '', stderr: '' }
  for await (const { stream, bytes } of started.output) text[stream] += Buffer.from(bytes).toString()
  const exit = await started.exit
  return { ...text, code: exit.kind === 'exited' ? exit.code : -1 }
}

/** A machine whose sda holds the rehearsal image, and which keeps it. */
let installed: Machine
beforeAll(async () => {
  installed = await ramdisk()
  await run(installed, 'dd of=/dev/sda status=none', await image)
})

const GUID = '1205741f-ca1a-4e5a-9b05-00000000000'

describe('what a program prints', () => {
  const cases: [line: string, stdout: string][] = [
    [
      'lsblk',
      `NAME   MAJ:MIN RM SIZE RO TYPE MOUNTPOINTS
sda    8:0      0  64G  0 disk 
├─sda1 8:1      0   1M  0 part 
├─sda2 8:2      0   4M  0 part 
├─sda3 8:3      0  24M  0 part 
└─sda4 8:4      0  17M  0 part 
sdb    8:16     0 256G  0 disk 
`,
    ],
    [
      'lsblk -i -o NAME,FSTYPE,LABEL /dev/sda',
      `NAME   FSTYPE LABEL
sda           
|-sda1        
|-sda2 vfat   EFI-SYSTEM
|-sda3 ext4   boot
\`-sda4 ext4   root
`,
    ],
    [
      'lsblk -bdJ -o KNAME,SIZE,ROTA,VENDOR,HCTL,LOG-SEC,TRAN,UUID /dev/sda',
      `{
   "blockdevices": [
      {
         "kname": "sda",
         "size": 68719476736,
         "rota": false,
         "vendor": "ATA     ",
         "hctl": "0:0:0:0",
         "log-sec": 512,
         "tran": "sata",
         "uuid": null
      }
   ]
}
`,
    ],
    ['lsblk -nr -o PATH,PKNAME,PARTLABEL,PARTUUID /dev/sda3', `/dev/sda3 sda boot ${GUID}3\n`],
    ['lsblk -P -o NAME,SIZE /dev/sda3', 'NAME="sda3" SIZE="24M"\n'],
    [
      'blkid /dev/sda /dev/sda3',
      `/dev/sda: PTUUID="00000000-0000-4000-a000-000000000001" PTTYPE="gpt"
/dev/sda3: LABEL="boot" UUID="96d15588-3596-4b3c-adca-a2ff7279ea63" TYPE="ext4" PARTLABEL="boot" PARTUUID="${GUID}3"
`,
    ],
    [
      'blkid -p -o export /dev/sda3',
      `DEVNAME=/dev/sda3
LABEL=boot
UUID=96d15588-3596-4b3c-adca-a2ff7279ea63
TYPE=ext4
USAGE=filesystem
PART_ENTRY_SCHEME=gpt
PART_ENTRY_NAME=boot
PART_ENTRY_UUID=${GUID}3
PART_ENTRY_TYPE=0fc63daf-8483-4772-8e79-3d69d8477de4
PART_ENTRY_NUMBER=3
PART_ENTRY_OFFSET=12288
PART_ENTRY_SIZE=49152
`,
    ],
    ['blkid -L boot', '/dev/sda3\n'],
    ['blkid -s UUID -o value /dev/sda2', '7B77-95E7\n'],
    [
      'udevadm info --query=symlink --name=sda',
      'disk/by-id/ata-ISTAGE_SSD_64_SSD000001A disk/by-id/wwn-0x5000c50000000010 disk/by-path/pci-0000:00:1f.2-ata-1\n',
    ],
    [
      'udevadm info --query=property --property=ID_SERIAL_SHORT,ID_WWN --name=/dev/sda',
      'ID_SERIAL_SHORT=SSD000001A\nID_WWN=0x5000c50000000010\n',
    ],
    ['udevadm settle --timeout=10', ''],
    [
      // The form of the recordings' `sgdisk -p`.
      'sgdisk -p /dev/sda',
      `Disk /dev/sda: 134217728 sectors, 64.0 GiB
Model: ISTAGE SSD 64   
Sector size (logical/physical): 512/4096 bytes
Disk identifier (GUID): 00000000-0000-4000-A000-000000000001
Partition table holds up to 128 entries
Main partition table begins at sector 2 and ends at sector 33
First usable sector is 34, last usable sector is 98270
Partitions will be aligned on 2048-sector boundaries
Total free space is 4029 sectors (2.0 MiB)

Number  Start (sector)    End (sector)  Size       Code  Name
   1            2048            4095   1024.0 KiB  EF02  BIOS-BOOT
   2            4096           12287   4.0 MiB     EF00  EFI-SYSTEM
   3           12288           61439   24.0 MiB    8300  boot
   4           61440           96255   17.0 MiB    8300  root
`,
    ],
    [
      'wipefs /dev/sda3',
      'DEVICE OFFSET TYPE UUID                                 LABEL\nsda3   0x438  ext4 96d15588-3596-4b3c-adca-a2ff7279ea63 boot\n',
    ],
    ['blockdev --getss --getsize64 /dev/sda', '68719476736\n512\n'],
    [
      'stat -c %a:%F:%n /dev/sda /tmp /etc/hostname',
      '660:block special file:/dev/sda\n1777:directory:/tmp\n644:regular file:/etc/hostname\n',
    ],
    ['ls /dev/disk/by-path', 'pci-0000:00:1f.2-ata-1\npci-0000:00:1f.2-ata-2\n'],
    ['readlink -f /dev/disk/by-path/pci-0000:00:1f.2-ata-2', '/dev/sdb\n'],
    [
      'sha256sum /run/ostree-live',
      'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855  /run/ostree-live\n',
    ],
    ['dd if=/dev/sda bs=8 skip=64 count=1 status=none', 'EFI PART'],
    ['cat /sys/class/net/eno1/address /sys/class/net/eno1/device/vendor', '52:54:00:00:00:02\n0x1af4\n'],
    ['cat /sys/block/sdb/queue/rotational', '1\n'],
    ['ethtool -P eno1', 'Permanent address: 52:54:00:00:00:02\n'],
    ['ip route get 192.0.2.1', '192.0.2.1 dev eno1 src 198.18.0.1 uid 0 \n    cache \n'],
    ['uname -m', 'x86_64\n'],
    ['hostname', 'm1\n'],
    ['dmidecode -s system-serial-number', 'IST-000001\n'],
    [
      'dmidecode -q -t bios,baseboard',
      'Handle 0x0000, DMI type 0, 27 bytes\nBIOS Information\n\tVendor: EDK II\n\tVersion: 1.0.0\n\tRelease Date: 01/01/2026\n\n' +
        'Handle 0x0200, DMI type 2, 27 bytes\nBase Board Information\n\tManufacturer: ironstage\n\tProduct Name: Simulated Server\n\tVersion: Not Specified\n\tSerial Number: IST-000001\n\n',
    ],
    ['mdadm --detail --scan', ''],
    [
      'ipmitool lan print 1',
      'IP Address Source       : Static Address\nIP Address              : 192.0.2.9\nSubnet Mask             : 255.255.255.0\n',
    ],
    ['systemctl is-active sshd', 'active\n'],
    ['sync', ''],
    ['partx --update /dev/sda', ''],
  ]

  test.each(cases)('%s', async (line, stdout) => {
    expect(await run(installed, line)).toEqual({ stdout, stderr: '', code: 0 })
  })

  test('every device row has every column that IPA asks for', async () => {
    const { stdout } = await run(
      installed,
      'lsblk -bia --json -oKNAME,MODEL,SIZE,ROTA,TYPE,UUID,PARTUUID,SERIAL,WWN,LOG-SEC,PHY-SEC,TRAN',
    )
    const rows = (JSON.parse(stdout) as { blockdevices: Record<string, unknown>[] }).blockdevices
    expect(rows.map(({ kname, type }) => [kname, type])).toEqual([
      ['sda', 'disk'],
      ['sda1', 'part'],
      ['sda2', 'part'],
      ['sda3', 'part'],
      ['sda4', 'part'],
      ['sdb', 'disk'],
    ])
    expect(rows[3]).toMatchObject({ uuid: '96d15588-3596-4b3c-adca-a2ff7279ea63', partuuid: `${GUID}3`, model: null })
  })

  test('addresses and links come as iproute2 gives them in JSON', async () => {
    const json = async (line: string) => JSON.parse((await run(installed, line)).stdout) as Record<string, unknown>[]
    expect((await json('ip -j addr'))[1]).toMatchObject({
      ifname: 'eno1',
      address: '52:54:00:00:00:02',
      operstate: 'UP',
      addr_info: [
        { family: 'inet', local: '198.18.0.1', prefixlen: 24, scope: 'global' },
        { family: 'inet6', local: 'fe80::5054:ff:fe00:2', scope: 'link' },
      ],
    })
    const [, , second] = await json('ip -j link')
    expect(second).toMatchObject({ ifname: 'eno2', operstate: 'DOWN', linkmode: 'DEFAULT' })
    expect(second).not.toHaveProperty('addr_info')
  })
})

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
    expect(await run(installed, line)).toEqual({ stdout: '', stderr, code })
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
    expect((await run(installed, `test ${words}`)).code).toBe(code)
  })

  test('a medium error is an input/output error to the program, and zeros end where the disk does', async () => {
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

describe('what a program changes', () => {
  test('a mounted boot partition is served from the disk, and written to only when mounted for that', async () => {
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

  test('the EFI system partition can be looked into', async () => {
    await run(installed, 'mkdir -p /run/esp')
    await run(installed, 'mount -o ro /dev/sda2 /run/esp')
    expect((await run(installed, 'ls /run/esp/EFI')).stdout).toBe('BOOT\nfedora\n')
    expect((await run(installed, 'ls /run/esp/EFI/fedora')).stdout).toBe('shimx64.efi\n')
    expect((await run(installed, 'cat /run/esp/efi/boot/bootx64.efi')).stdout).toMatch(/^ironstage rehearsal image/)
    expect((await run(installed, 'stat -c %s /run/esp/EFI/BOOT/BOOTX64.EFI')).stdout).toBe('512\n')
    await run(installed, 'umount /run/esp')
  })

  test('boot entries are created first in the order, deleted, and outlive a reboot', async () => {
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

  test('wipefs erases signatures at both ends, sgdisk -Z what is left of a table', async () => {
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

  test('what the hostname is set to is what is read', async () => {
    const machine = await ramdisk()
    await run(machine, 'hostnamectl set-hostname node-7')
    expect((await run(machine, 'hostname')).stdout).toBe('node-7\n')
    expect((await run(machine, 'cat /etc/hostname')).stdout).toBe('node-7\n')
    await run(machine, 'systemctl stop chronyd')
    expect(await run(machine, 'systemctl is-active chronyd')).toMatchObject({ stdout: 'inactive\n', code: 3 })
  })
})

test('steps read the whole machine through its programs and files', async () => {
  const { inventory, rootDisk, bootInterface } = await readHardware(installed.target)
  expect(inventory).toMatchObject({
    interfaces: [
      {
        name: 'eno1',
        mac_address: '52:54:00:00:00:02',
        ipv4_address: '198.18.0.1',
        ipv6_address: 'fe80::5054:ff:fe00:2%eno1',
        has_carrier: true,
        vendor: '0x1af4',
        product: '0x0001',
        speed_mbps: 10000,
        pci_address: '0000:01:00.0',
        driver: 'virtio_net',
      },
      { name: 'eno2', has_carrier: false },
    ],
    cpu: { count: 8, architecture: 'x86_64', socket_count: 1 },
    disks: [
      {
        name: '/dev/sda',
        size: 68719476736,
        rotational: false,
        vendor: 'ATA',
        hctl: '0:0:0:0',
        by_path: '/dev/disk/by-path/pci-0000:00:1f.2-ata-1',
        tran: 'sata',
      },
      { name: '/dev/sdb', rotational: true },
    ],
    memory: { physical_mb: 32768 },
    bmc_address: '192.0.2.9',
    system_vendor: {
      product_name: 'Simulated Server',
      manufacturer: 'ironstage',
      serial_number: 'IST-000001',
      firmware: { vendor: 'EDK II', version: '1.0.0', build_date: '01/01/2026' },
    },
    boot: { current_boot_mode: 'uefi', pxe_interface: '01-52-54-00-00-00-02' },
    hostname: 'm1',
  })
  expect(rootDisk?.name).toBe('/dev/sda')
  expect(bootInterface).toBe('52:54:00:00:00:02')
})
