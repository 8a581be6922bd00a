import { mkdtemp, readdir, truncate, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { command } from '../kit/commands/command.js'

describe('a real target', () => {
  test.each<[string, string[], RegExp]>([
    [
      'a kernel name',
      ['--target', 'local:/dev/sdz'],
      /\/dev\/sdz is not a stable name: another disk may have it after the next boot/,
    ],
    [
      'a kernel name as the device',
      ['--target', 'local', '--device', 'sdz', '--plan'],
      /is not a stable name: another disk may have/,
    ],
    ['a partition at a place', ['--target', 'local:/dev/disk/by-path/pci-0-part1'], /is a partition/],
    [
      'a serial number for the disk at a place',
      ['--target', 'local:/dev/disk/by-path/pci-0', '--yes-erase', 'S1'],
      /^ironstage: --yes-erase S1: that is not the size of a disk\n/,
    ],
    ['a partition', ['--target', 'local:/dev/disk/by-id/x-part1'], /a partition; an installation takes a whole disk/],
    [
      'an identity with a line break',
      ['--target', 'local:/dev/sdz', '--yes-erase', 'a\nb'],
      /^ironstage: --yes-erase "a\\nb": that is not the name of a disk\n/,
    ],
    [
      'a kernel name as the identity',
      ['--target', 'ssh://root@127.0.0.1', '--device', 'sdz', '--yes-erase', '/dev/sdy'],
      /^ironstage: --yes-erase \/dev\/sdy: a kernel name says nothing/,
    ],
    [
      'a place as the identity',
      ['--target', 'local:/dev/sdz', '--yes-erase', '/dev/disk/by-path/x'],
      /^ironstage: --yes-erase \/dev\/disk\/by-path\/x: that is not a stable name of a disk\n/,
    ],
    [
      'a backing file with a line break',
      ['--target', 'ssh://root@127.0.0.1', '--device', 'loop0', '--yes-erase', '/a\nb'],
      /^ironstage: --yes-erase "\/a\\nb": that is not the backing file of a loop device\n/,
    ],
    ['no disk', ['--target', 'local', '--plan'], /a local target needs a disk/],
    ['two disks', ['--target', 'local:/dev/disk/by-id/a', '--device', 'b', '--plan'], /both .* name a disk/],
    [
      'an action on this host',
      ['--target', 'local:x', '--allow', 'reboot'],
      /--allow reboot on a local target would act on this host/,
    ],
    ['what nobody can allow', ['--target', 'local:x', '--allow', 'everything'], /--allow is .*is not one of|which/],
    [
      'a simulated disk as well',
      ['--target', 'local:x', '--disk-size', '1GiB'],
      /--disk-size is for a simulated machine/,
    ],
    ['what is of a real one, simulated', ['--device', 'x'], /--device is for a real target, and this one is simulated/],
    ['a check of a simulated one', ['--check'], /--check is for a real target/],
  ])('is refused with %s, before anything is touched', async (_, argv, sentence) => {
    const run = command(['deploy', ...argv])
    expect(await run.ended, run.stdout).toBe(2)
    expect(run.stderr).toMatch(sentence)
  })

  test('is planned without being contacted, or even there', async () => {
    const argv = ['--target', 'local:/dev/disk/by-id/nvme-X_1', '--allow', 'software-raid']
    for (const words of [['deploy'], ['agent', '--standalone'], ['step', 'run', 'install_coreos']]) {
      const run = command([...words, ...argv, '--plan'])
      expect(await run.ended, run.stderr).toBe(0)
      expect(run.stdout).toContain('nothing was contacted, read or written')
      expect(run.stdout).toContain('disk       /dev/disk/by-id/nvme-X_1; all others are hidden and refused')
      expect(run.stdout).toMatch(/allowed {4}software-raid\n {2}not done {3}power, reboot,.* cleaning, hand-over\n/)
    }
  })

  test('says that the installer is missing before a file is attached', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'ironstage-cli-'))
    const file = join(folder, 'disk.img')
    await writeFile(file, '')
    await truncate(file, 2 ** 21)
    const run = command(['deploy', '--target', `local:${file}`, '--installer', '/nowhere/coreos-installer'])
    expect(await run.ended).toBe(1)
    expect(run.stderr).toContain('there is no coreos-installer at /nowhere/coreos-installer')
    expect(await readdir(folder)).toEqual(['disk.img'])
  })
})
