import { describe, expect, test } from 'vitest'
import { GUID, installedMachine, programMachines, run } from '../../test/kit/program-machines.js'
import { readHardware } from '../../steps/index.js'

const { ramdisk } = programMachines()
const installed = installedMachine(ramdisk)

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

  test.each(cases)('is as on the real system: %s', async (line, stdout) => {
    expect(await run(installed.machine, line)).toEqual({ stdout, stderr: '', code: 0 })
  })

  test('lsblk prints every column that IPA asks for, for every device', async () => {
    const { stdout } = await run(
      installed.machine,
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

  test("ip prints addresses and links as iproute2's JSON", async () => {
    const json = async (line: string) =>
      JSON.parse((await run(installed.machine, line)).stdout) as Record<string, unknown>[]
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

test('steps collect the whole inventory through programs and files', async () => {
  const { inventory, rootDisk, bootInterface } = await readHardware(installed.machine.target)
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
