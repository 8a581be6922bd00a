import { describe, expect, test } from 'vitest'
import { silent } from '../../base/runtime/index.js'
import { scriptedTarget, type Script } from '../../test/kit/scripted-target.js'
import { createBootEntry, parseBootCsv, parseBootMenu } from './efi.js'

const ESP = { kname: 'sda2', type: 'part', parttype: 'C12A7328-F81F-11D2-BA4B-00A0C93EC93B', partuuid: 'AAAA-BBBB' }
const folder = '/run/ironstage/mnt/sda2'

function machine(script: Script = {}, esp: object[] = [ESP]) {
  const target = scriptedTarget({
    'lsblk --json': JSON.stringify({ blockdevices: [{ kname: 'sda', type: 'disk', pttype: 'gpt' }, ...esp] }),
    'uname -m': 'x86_64\n',
    'mkdir -p': '',
    mount: '',
    umount: '',
    [`ls -1 ${folder}/EFI`]: 'BOOT\nfedora\n',
    [`ls -1 ${folder}/EFI/fedora`]: 'BOOTX64.CSV\ngrubx64.efi\nshimx64.efi\n',
    // UTF-16 with its byte order mark, as shim's files are.
    [`cat ${folder}/EFI/fedora/BOOTX64.CSV`]: [...'\ufffdshimx64.efi,Fedora,,This is the boot entry for Fedora'].join(
      '\0',
    ),
    'efibootmgr -v': 'BootCurrent: 0001\nBootOrder: 0001\nBoot0001* UEFI PXE\tPciRoot(0x0)\n',
    'efibootmgr -v -c': '',
    'efibootmgr -b': '',
    ...script,
  })
  const run = () =>
    createBootEntry(target, '/dev/sda', { clock: target.clock, logger: silent, signal: new AbortController().signal })
  return { run, changes: () => target.commands.filter((line) => /^efibootmgr (-b|-v -c)/.test(line)) }
}
const CREATED = 'efibootmgr -v -c -d /dev/sda -p 2 -w -L Fedora -l \\EFI\\fedora\\shimx64.efi'

describe('a boot entry', () => {
  test('starts the loader that the installed system announces', async () => {
    const { run, changes } = machine()
    await run()
    expect(changes()).toEqual([CREATED])
  })

  test.each<[string, Script, string]>([
    [
      'a shim, without an announcement',
      { [`ls -1 ${folder}/EFI/fedora`]: 'shimx64.efi\n' },
      '-L fedora -l \\EFI\\fedora\\shimx64.efi',
    ],
    [
      'the path that firmware tries itself, when there is no other',
      { [`ls -1 ${folder}/EFI`]: 'BOOT\n' },
      '-L CoreOS -l \\EFI\\BOOT\\BOOTX64.EFI',
    ],
    [
      'that path on 64-bit ARM',
      { [`ls -1 ${folder}/EFI`]: '', 'uname -m': 'aarch64\n' },
      '-L CoreOS -l \\EFI\\BOOT\\BOOTAA64.EFI',
    ],
    [
      'that path when the partition cannot be mounted',
      { mount: { code: 32 } },
      '-L CoreOS -l \\EFI\\BOOT\\BOOTX64.EFI',
    ],
  ])('starts %s', async (_, script, expected) => {
    const { run, changes } = machine(script)
    await run()
    expect(changes().at(-1)).toContain(expected)
  })

  test('replaces all with its label', async () => {
    const menu =
      'BootOrder: 0002,0003\nBoot0002* Fedora\tHD(2,GPT,old)\nBoot0003  Fedora\tHD(2,GPT,older)\nBoot0004* Fedora 2\tX\n'
    const { run, changes } = machine({ 'efibootmgr -v': menu })
    await run()
    expect(changes()).toEqual(['efibootmgr -b 0002 -B', 'efibootmgr -b 0003 -B', CREATED])
  })

  test('that already exists is kept, so that the step can be repeated', async () => {
    const menu =
      'BootOrder: 0002,0001\nBoot0002* Fedora\tHD(2,GPT,aaaa-bbbb,0x1000,0x8000)/File(\\EFI\\FEDORA\\SHIMX64.EFI)\n'
    const { run, changes } = machine({ 'efibootmgr -v': menu })
    await run()
    expect(changes()).toEqual([])
  })

  test('needs an EFI system partition', async () => {
    await expect(machine({}, []).run()).rejects.toMatchObject({ type: 'DeviceNotFound' })
  })
})

test('a boot menu is read with and without paths', () => {
  expect(
    parseBootMenu('BootOrder: 0001,000A\nBoot0001* UEFI OS\tHD(1)\nBoot000A  Other OS  HD(2,x)\nBoot0002* Bare\n'),
  ).toEqual({
    order: ['0001', '000A'],
    entries: [
      { number: '0001', label: 'UEFI OS', path: 'HD(1)' },
      { number: '000A', label: 'Other OS', path: 'HD(2,x)' },
      { number: '0002', label: 'Bare', path: '' },
    ],
  })
  expect(parseBootMenu('No BootOrder is set; firmware will attempt recovery\n')).toEqual({ order: [], entries: [] })
})

test.each(['', 'only-a-file', ','])('%j announces no loader', (text) => expect(parseBootCsv(text, 'x')).toBeUndefined())
