import { chmod, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { systemClock, systemRandom } from '../../base/runtime/index.js'
import type { TargetCapability } from '../executor.js'
import { runToEnd } from '../../steps/sdk/run-command.js'
import { localShell } from '../supervised/local-shell.js'
import { guardedTarget, type GuardedTargetOptions } from './guarded-target.js'

const clock = systemClock()
let place: string
beforeAll(async () => {
  place = await mkdtemp(join(tmpdir(), 'ironstage-guarded-'))
  await mkdir(join(place, 'bin'))
  const programs = {
    chroot: 'echo "in $1"; shift; exec "$@"',
    'coreos-installer': 'echo "installs $*"',
    reboot: `touch ${place}/rebooted; echo rebooting`,
    wipefs: `touch ${place}/wiped`,
    // Answer of a host with two disks.
    lsblk: `echo '{"blockdevices":[{"kname":"nosuchdisk","type":"disk"},{"kname":"other","type":"disk"}]}'`,
  }
  for (const [name, text] of Object.entries(programs)) {
    await writeFile(join(place, 'bin', name), `#!/bin/sh\n${text}\n`)
    await chmod(join(place, 'bin', name), 0o755)
  }
})
afterAll(() => rm(place, { recursive: true, force: true }))

const target = (more: Partial<GuardedTargetOptions> = {}) =>
  guardedTarget({
    name: 'local:x',
    disks: [{ kind: 'identity', value: 'no-such-serial' }],
    allow: [],
    disposable: false,
    confinement: null,
    clock,
    random: systemRandom,
    folder: join(place, 'runs'),
    shell: localShell(clock, { ...process.env, PATH: `${place}/bin:${process.env['PATH']}` }),
    ...more,
  })
const exists = (path: string) =>
  readFile(path).then(
    () => true,
    () => false,
  )

describe('a target that may write one disk', () => {
  test('runs no writing command while the disk is missing, and lists no disks', async () => {
    await using one = target()
    const wiping = runToEnd(one.executor, ['wipefs', '--all', '/dev/null0'], { effect: 'writes' })
    await expect(wiping).rejects.toThrow(
      'wipefs is not run on local:x: there is no disk with the serial number, WWN or by-id name no-such-serial',
    )
    await expect(one.findDisks()).rejects.toThrow('there is no disk with')
    await expect(runToEnd(one.executor, ['lsblk', '--json'], { effect: 'reads' })).rejects.toThrow(
      'there is no disk with',
    )
    expect(one.disks.mayWrite({ name: '/dev/sda', serial: null, wwn: null })).toBe(false)
    expect(await exists(`${place}/wiped`)).toBe(false)
  })

  test.each<[TargetCapability[], boolean]>([
    [[], false],
    [['power'], false],
    [['reboot'], true],
  ])('is rebooted with %j allowed: %s', async (allow, runs) => {
    await rm(`${place}/rebooted`, { force: true })
    await using one = target({ allow, disks: [] })
    expect(one.has('reboot')).toBe(runs)
    const rebooting = runToEnd(one.executor, ['reboot'], { effect: 'writes' })
    if (runs) expect((await rebooting).stdout).toBe('rebooting\n')
    else await expect(rebooting).rejects.toThrow('it needs reboot, which is not allowed')
    expect(await exists(`${place}/rebooted`)).toBe(runs)
  })

  test('refuses changes of its own files, unless it is disposable', async () => {
    await using one = target({ disks: [] })
    const write = (path: string) => one.executor.files.write(path, Buffer.from('x'))
    await expect(write(`${place}/file`)).rejects.toThrow('not part of the named disk')
    await expect(one.executor.files.remove('/etc/hostname')).rejects.toThrow('not part of the named disk')
    await expect(write('/run/ironstage/mnt/link/x')).rejects.toThrow('not part of the named disk')
    await expect(write('/run/ironstage/../../etc/x')).rejects.toThrow('not part of the named disk')
    for (const name of ['runs/x/exit', 'loops/1-1', 'images/x', 'install.lock', 'mnt', '.new/x/run', './/runs/x', ''])
      await expect(write(`/run/ironstage/${name}`), name).rejects.toThrow('not part of the named disk')
    await expect(write('/run/ironstage/mnt/link/../../runs/x/exit')).rejects.toThrow('not part of the named disk')
    await using other = target({ disks: [], disposable: true })
    await other.executor.files.write(`${place}/file`, Buffer.from('x'))
    expect(await readFile(`${place}/file`, 'utf8')).toBe('x')
  })

  test('runs programs in the tree of the machine below a folder, and translates paths', async () => {
    await using one = target({
      disks: [],
      root: '/mnt/coreos',
      disposable: true,
      programs: { 'coreos-installer': { before: ['env'], program: `${place}/bin/coreos-installer`, after: [] } },
    })
    expect(one.scratch).toBe('/mnt/coreos/run/ironstage')
    expect(one.hostPath('/mnt/coreos/run/ironstage/x.ign')).toBe('/run/ironstage/x.ign')
    expect(one.hostPath('/sys/fs')).toBe('/sys/fs')
    const { stdout } = await runToEnd(one.executor, ['coreos-installer', 'install', '/dev/null'], { effect: 'reads' })
    expect(stdout).toBe('in /mnt/coreos\ninstalls install /dev/null\n')
  })
})
