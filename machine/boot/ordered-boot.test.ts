import { expect, test } from 'vitest'
import { writeIso } from '../../base/bytes/index.js'
import { bootScene, CD, GRUB, ironicIso, KERNEL_ARGUMENTS, type BootScene } from '../../test/kit/fleet/boot-scene.js'
import { NO_PACE } from '../machine.js'

test('a slot whose BMC verifies certificates has its medium fetched from a server that those of the slot vouch for', async () => {
  await using one = await bootScene()
  const { firmware } = one.machine
  one.files.set('https://media.test/ironic.iso', ironicIso())
  await firmware.insert('cdrom', 'https://media.test/ironic.iso')
  await firmware.boot.setOverride({ target: 'Cd', enabled: 'Once' })
  await one.boot()
  await firmware.trustMedia('cdrom', { verify: true, certificates: [{ id: '1', pem: 'a certificate' }] })
  await firmware.boot.setOverride({ target: 'Cd', enabled: 'Once' })
  await one.boot()
  expect(new Set(one.verifiedBy.map((pems) => JSON.stringify(pems)))).toEqual(new Set([undefined, '["a certificate"]']))
})

test('the ISO that Ironic builds boots its ramdisk, with the command line of its menu and the files for the agent', async () => {
  await using there = await bootScene()
  const { machine } = there
  const config = '[DEFAULT]\ncafile = /etc/ironic-python-agent/ironic.crt\n'
  there.files.set(
    CD,
    ironicIso({
      'etc/ironic-python-agent.d/ironic-tls.conf': config,
      'etc/ironic-python-agent/ironic.crt': 'a certificate',
    }),
  )
  await machine.firmware.insert('cdrom', CD, { username: 'media', password: 'pass' })
  await machine.firmware.boot.setOverride({ target: 'Cd', enabled: 'Once' })
  await there.boot()
  expect(machine.boot()).toMatchObject({
    source: { kind: 'iso', url: CD },
    outcome: 'ramdisk',
    live: {
      kernelArguments: KERNEL_ARGUMENTS,
      configFiles: [
        { name: '/etc/ironic-python-agent/ironic.crt', text: 'a certificate' },
        { name: '/etc/ironic-python-agent.d/ironic-tls.conf', text: config },
      ],
    },
  })
  expect(there.up).toEqual(['machine-1'])
  expect(there.credentials).toContainEqual({ username: 'media', password: 'pass' })
  expect(machine.console().join('\n')).toContain('ipa-agent-token=******')
  expect(machine.console().join('\n')).not.toContain('secret-token')
  expect(JSON.stringify(machine.boot()!.source)).not.toContain('pass')

  // The override was for one boot, and the disks, which come first, have no system: the CD comes next.
  await there.boot()
  expect(machine.console()).toContain('disk: no bootable system')
  expect(machine.boot()).toMatchObject({ source: { kind: 'iso' }, outcome: 'ramdisk' })
})

test.each([
  ['another label', ironicIso({ 'etc/ironic-python-agent.d/a.conf': '[DEFAULT]' }, 'OTHER')],
  [
    'no boot_method',
    ironicIso({
      'etc/ironic-python-agent.d/a.conf': '[DEFAULT]',
      'EFI/BOOT/grub.cfg': GRUB.replace('boot_method=vmedia', ''),
    }),
  ],
])('an ISO with %s has no files for the agent', async (_, iso) => {
  await using there = await bootScene()
  there.files.set(CD, iso)
  await there.machine.firmware.insert('cdrom', CD)
  await there.boot()
  expect(there.machine.boot()).toMatchObject({ outcome: 'ramdisk' })
  expect(there.machine.boot()!.live!.configFiles ?? []).toEqual([])
})

test.each([
  ['is not an ISO', Buffer.from('<html>'), /is not a live ISO that boots: .*volume descriptor/],
  [
    'is cut off',
    ironicIso().subarray(0, 40_000),
    /is not a live ISO that boots: parsing ISO9660 image: ISO image is incomplete/,
  ],
  ['is not there', undefined, /could not be fetched: the server answered 404/],
  [
    'lacks its initramfs',
    ironicIso({ 'EFI/BOOT/grub.cfg': GRUB.replace('/initrd', '/none') }),
    /looking for the initramfs of EFI\/BOOT\/grub.cfg/,
  ],
])('a medium that %s: console and log of the BMC say why it did not boot', async (_, bytes, why) => {
  await using there = await bootScene()
  const { machine } = there
  if (bytes) there.files.set(CD, bytes)
  await machine.firmware.insert('cdrom', CD)
  await machine.firmware.boot.setOverride({ target: 'Cd', enabled: 'Once' })
  await there.boot()
  expect(machine.boot()).toMatchObject({
    outcome: 'no bootable device',
    live: { failure: expect.stringMatching(why) as string },
  })
  expect(machine.console().join('\n')).toMatch(why)
  const log = machine.firmware.log.entries.filter(({ kind }) => kind === 'boot failed').map(({ detail }) => detail)
  expect(log[0]).toMatch(/^virtual CD: /)
  expect(log[0]).toMatch(why)
})

test('a menu of ISOLINUX, and a ramdisk that only its contents show to be none with an agent', async () => {
  await using there = await bootScene()
  const menu = 'default boot\n\nlabel boot\nkernel /vmlinuz\nappend initrd=/initrd text --\n'
  there.files.set(
    CD,
    writeIso(
      { vmlinuz: Buffer.from('k'), initrd: Buffer.from('i'), 'isolinux/isolinux.cfg': Buffer.from(menu) },
      { label: 'X', at: 0 },
    ),
  )
  await there.machine.firmware.insert('cdrom', CD)
  await there.boot()
  expect(there.machine.boot()).toMatchObject({ outcome: 'live', live: { kernelArguments: 'initrd=/initrd text' } })
  expect(there.up).toEqual([])
})

test('UEFI HTTP boot starts the ISO at its URL once', async () => {
  await using there = await bootScene()
  const url = 'http://192.0.2.1/boot.iso'
  there.files.set(url, ironicIso())
  await there.machine.firmware.boot.setOverride({ target: 'UefiHttp', enabled: 'Once', httpBootUri: url })
  await there.boot()
  expect(there.machine.boot()).toMatchObject({ source: { kind: 'iso', url }, outcome: 'ramdisk' })
  await there.boot()
  expect(there.machine.boot()).toMatchObject({ outcome: 'no bootable device' })
})

/** The scripts that Ironic 39 writes (drivers/modules/boot.ipxe, ipxe_config.template), without their comments. */
const BOOT_IPXE = `#!ipxe
set netid:int32 -1
:loop
inc netid || chain pxelinux.cfg/\${mac:hexhyp} || goto old_rom
isset \${net\${netid}/mac} || goto loop_done
echo Attempting to boot from MAC \${net\${netid}/mac:hexhyp}
chain pxelinux.cfg/\${net\${netid}/mac:hexhyp} || goto loop
echo Exiting pxe config to allow boot to continue on next device
exit 0
:loop_done
echo PXE boot failed! No configuration found for any of the present NICs.
prompt --timeout 180
reboot
:old_rom
reboot
`
const CONFIG = (target: string) => `#!ipxe
set attempts:int32 10
set i:int32 0
goto ${target}
:deploy
imgfree
kernel --timeout 60 http://192.0.2.1/node/deploy_kernel selinux=0 text ${KERNEL_ARGUMENTS} BOOTIF=\${mac} initrd=deploy_ramdisk || goto retry
initrd --timeout 60 http://192.0.2.1/node/deploy_ramdisk || goto retry
boot
:retry
iseq \${i} \${attempts} && goto fail ||
inc i
echo No response, retrying in \${i} seconds.
sleep \${i}
goto deploy
:fail
echo Failed to get a response after \${attempts} attempts
sleep 30
poweroff
:boot_ramdisk
sanboot ${CD}
:boot_whole_disk
sanboot --no-describe || exit 0
`
const SCRIPT = 'http://192.0.2.1/boot.ipxe'
const OF_MAC = 'http://192.0.2.1/pxelinux.cfg/52-54-00-00-00-02'

async function overNetwork(target: string, files: string[] = ['deploy_kernel', 'deploy_ramdisk']): Promise<BootScene> {
  const there = await bootScene({ bootScript: SCRIPT })
  there.files.set(SCRIPT, Buffer.from(BOOT_IPXE))
  there.files.set(OF_MAC, Buffer.from(CONFIG(target)))
  for (const name of files) there.files.set(`http://192.0.2.1/node/${name}`, Buffer.from(name))
  await there.machine.firmware.boot.setOverride({ target: 'Pxe', enabled: 'Once' })
  return there
}

test("network boot follows the scripts of Ironic's iPXE boot interface by MAC address", async () => {
  await using there = await overNetwork('deploy')
  await there.boot()
  expect(there.machine.boot()).toMatchObject({
    source: {
      kind: 'pxe',
      kernel: 'http://192.0.2.1/node/deploy_kernel',
      ramdisk: 'http://192.0.2.1/node/deploy_ramdisk',
    },
    outcome: 'ramdisk',
    live: { kernelArguments: `selinux=0 text ${KERNEL_ARGUMENTS} BOOTIF=52:54:00:00:00:02 initrd=deploy_ramdisk` },
  })
})

test('a boot script that gets no ramdisk tries again eleven times, and switches the machine off', async () => {
  await using there = await overNetwork('deploy', ['deploy_kernel'])
  await there.clock.until(there.machine.setPower('on'))
  const began = there.clock.now()
  while (there.machine.power() === 'on') await there.clock.advance(1000)
  expect(there.machine.console()).toContain('iPXE: Failed to get a response after 10 attempts')
  // One to ten seconds between tries, and half a minute before the end.
  expect(Math.round((there.clock.now() - began) / 1000)).toBeGreaterThanOrEqual(55 + 30)
})

test('a boot script leads to an ISO, or to the disks', async () => {
  await using iso = await overNetwork('boot_ramdisk')
  iso.files.set(CD, ironicIso())
  await iso.boot()
  expect(iso.machine.boot()).toMatchObject({ source: { kind: 'iso', url: CD } })
  await using disk = await overNetwork('boot_whole_disk')
  await disk.boot()
  expect(disk.machine.boot()).toMatchObject({
    outcome: 'no bootable device',
    live: {
      failure: 'PXE: the boot script chooses the disks, which have no bootable system; disk: no bootable system',
    },
  })
})

test('a machine that no script is for continues with the next device, and the console says so', async () => {
  await using there = await overNetwork('deploy')
  there.files.delete(OF_MAC)
  await there.boot()
  expect(there.machine.boot()).toMatchObject({ outcome: 'no bootable device' })
  expect(there.machine.console()).toContain(
    'iPXE: PXE boot failed! No configuration found for any of the present NICs.',
  )
  expect(there.machine.console()).toContain('PXE: no key was pressed')
})

test('a boot script that asks for a reboot leads to the next device, and the console says so', async () => {
  await using there = await overNetwork('deploy')
  there.files.set(SCRIPT, Buffer.from('#!ipxe\nreboot\n'))
  await there.boot()
  expect(there.machine.boot()).toMatchObject({ outcome: 'no bootable device' })
  expect(there.machine.console()).toContain('PXE: the boot script asks for a reboot')
})

test('a folder of scripts: the menu of GRUB that the pxe interface writes by MAC address', async () => {
  await using there = await bootScene({ bootScript: 'http://192.0.2.1/tftp/' })
  const menu = `set default=deploy\nset timeout=5\n\nmenuentry "deploy"  {\n    linux /node/kernel selinux=0 ${KERNEL_ARGUMENTS} boot_server=192.0.2.1\n    initrd /node/ramdisk\n}\n\nmenuentry "boot_ramdisk"  {\n    linux no_kernel root=/dev/ram0\n    initrd no_ramdisk\n}\n`
  there.files.set('http://192.0.2.1/tftp/52:54:00:00:00:02.conf', Buffer.from(menu))
  for (const name of ['kernel', 'ramdisk']) there.files.set(`http://192.0.2.1/node/${name}`, Buffer.from(name))
  await there.machine.firmware.boot.setOverride({ target: 'Pxe', enabled: 'Continuous' })
  await there.boot()
  expect(there.machine.boot()).toMatchObject({
    source: { kind: 'pxe', kernel: 'http://192.0.2.1/node/kernel' },
    outcome: 'ramdisk',
  })
})

test('the setup of the firmware boots nothing', async () => {
  await using there = await bootScene()
  await there.machine.firmware.boot.setOverride({ target: 'BiosSetup', enabled: 'Once' })
  await there.boot()
  expect(there.machine.boot()).toMatchObject({
    outcome: 'no bootable device',
    live: { failure: 'BIOS: the machine stays in the firmware setup, as its BMC was asked to' },
  })
})

test('boots of ramdisks are spread over the time that was requested', async () => {
  const times: number[] = []
  await using there = await bootScene({ pace: { ...NO_PACE, bootRamdisk: 60_000, bootRamdiskMost: 240_000 } })
  there.files.set(CD, ironicIso())
  await there.machine.firmware.insert('cdrom', CD)
  await there.machine.firmware.boot.setOverride({ target: 'Cd', enabled: 'Continuous' })
  for (let n = 0; n < 8; n++) {
    const began = there.clock.now()
    await there.clock.until(there.machine.setPower('reboot'))
    while (!there.machine.boot()) await there.clock.advance(1000)
    times.push(Math.round((there.clock.now() - began) / 1000))
  }
  expect(Math.min(...times)).toBeGreaterThanOrEqual(60)
  expect(Math.max(...times)).toBeLessThanOrEqual(242)
  expect(new Set(times).size).toBeGreaterThan(4)
})
