import { mkdtemp, readFile, rm, truncate, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { REHEARSAL_IMAGE } from '../../../lab/index.js'
import type { DeploymentReport } from '../../../apps/runs/index.js'
import { silent, systemClock, systemRandom } from '../../../base/runtime/index.js'
import { runToEnd } from '../../../steps/index.js'
import { openSshTarget, parsePins, parseSshTarget } from '../../../targets/index.js'
import { command } from '../../kit/commands/command.js'
import { json } from '../../kit/commands/steps-file.js'
import { IRONSTAGE } from '../../kit/commands/up-process.js'
import { MachineWithDisk } from '../machine-with-disk.js'
import { quoted } from '../peers.js'
import { REAL_PEER_TIMEOUT } from '../limits.js'
import { AttackedHost } from './attacked-host.js'
import { attacked, commanded, readsMounted } from './attacking.js'

/**
 * Confinement by a real systemd, which is process 1 of a machine of its own: behind SSH, and by an ironstage that runs on
 * that machine. Needs root.
 */

const BY_SYSTEMD =
  'namespaces and capabilities; devices by a scope of systemd with a closed device policy; system calls by a filter that perl loads'
/** A step that runs shell text on the target, with the named disk as its first word. */
const STEPS = `
import { defineStep } from 'ironstage'
import { runCommand } from 'ironstage/steps'
export const practiceShell = defineStep({
  name: 'practice_shell',
  interface: 'deploy',
  on: ['clean'],
  args: { properties: { file: { type: 'string', description: 'File with the text.' } }, required: ['file'] },
  run: async ({ target, hardware }, { file }) => {
    const [disk] = await hardware.blockDevices()
    const { stdout } = await runCommand(target.executor, ['sh', file, disk!.name], { effect: 'writes' })
    return stdout.split('\\n').filter((line) => line !== '')
  },
})
`

const clock = systemClock()
let place: string
let target: MachineWithDisk
let host: AttackedHost
beforeAll(async () => {
  place = await mkdtemp(join(tmpdir(), 'ironstage-systemd-'))
  target = await MachineWithDisk.open({ size: '2G', systemd: true })
  host = await AttackedHost.open(place, target.machine.shared)
})
afterAll(async () => {
  await host?.[Symbol.asyncDispose]()
  await target?.[Symbol.asyncDispose]()
  await rm(place, { recursive: true, force: true })
})

/** Finds or makes nodes of the victim, and opens each; prints what there was, and what could be opened. */
function reaches(): string {
  const { VICTIM: victim = '', NAME: name = '', NUMBER: number = '' } = host.words('')
  return `T=$(mktemp -d)
try() { [ -b "$1" ] && echo "$2 is there" && (exec 3<>"$1") && echo written by "$2" && echo x >"$1"; } 2>/dev/null
mount -t devtmpfs none $T && try $T/${name} devtmpfs; umount $T
mknod $T/node b ${number.replace(':', ' ')}; try $T/node mknod
try ${victim} name
rm -r $T`
}

describe('behind SSH', () => {
  async function open() {
    const { home, machine, disk } = target
    return openSshTarget({
      address: parseSshTarget(`ssh://root@127.0.0.1:${machine.ports.any}`),
      surroundings: { home, userName: 'me', agentSocket: null },
      pins: parsePins([await machine.hostKey()]),
      secrets: { ask: () => Promise.resolve(null) },
      clock,
      random: systemRandom,
      logger: silent,
      device: disk.device,
      yesErase: disk.file,
    })
  }

  test('the shell is dash, and process 1 is systemd', async () => {
    const { stdout } = await target.machine.run('readlink -f /bin/sh; cat /proc/1/comm')
    expect(stdout).toBe('/usr/bin/dash\nsystemd\n')
    const state = async () => (await target.machine.run('systemctl is-system-running')).stdout.trim()
    await expect.poll(state, { timeout: REAL_PEER_TIMEOUT }).toBe('running')
  })

  test('other disks can be written from the machine where nothing guards', async () => {
    const before = await host.state()
    const { stdout } = await target.machine.run(reaches())
    const all = ['devtmpfs', 'mknod', 'name'].flatMap((by) => [`${by} is there`, `written by ${by}`])
    expect(stdout.trim().split('\n')).toEqual(all)
    expect(await host.state()).not.toBe(before)
    await host.restore()
    expect(await host.state()).toBe(before)
  })

  test('a command that reads runs in a scope of systemd that allows it to read the named disk', async () => {
    await using opened = await open()
    const { executor, confinement } = opened.target
    expect(confinement).toBe(BY_SYSTEMD)
    const end = join(target.machine.shared, 'end')
    const running = runToEnd(executor, ['sh', '-c', `until [ -e ${end} ]; do sleep 0.1; done`], { effect: 'reads' })
    const show = "systemctl show --property=DevicePolicy,DeviceAllow 'ironstage-cell-*.scope'"
    const policy = async () => (await target.machine.run(show)).stdout.trim()
    await expect.poll(policy, { timeout: REAL_PEER_TIMEOUT, interval: 100 }).not.toBe('')
    const number = await readFile(`/sys/class/block/${target.disk.device.replace('/dev/', '')}/dev`, 'utf8')
    expect(await policy()).toBe(`DevicePolicy=closed\nDeviceAllow=/dev/block/${number.trim()} rm`)
    // The supervisor outside of the scope is a service.
    const units = await target.machine.run("systemctl list-units --plain --no-legend 'ironstage-*'")
    expect(units.stdout.trimEnd().split('\n')).toEqual([
      expect.stringMatching(/^ironstage-cell-\S+\.scope +loaded active running command of ironstage, confined$/),
      expect.stringMatching(/^ironstage-\S+\.service +loaded active running /),
    ])
    await writeFile(end, '')
    expect((await running).exit).toEqual({ kind: 'exited', code: 0 })
  })

  test('none changes anything through the guard', async () => {
    const before = await host.state()
    await using opened = await open()
    const { executor } = opened.target
    expect(await attacked(executor, host, target.disk.device)).toEqual([])
    expect(await host.state()).toBe(before)
    expect(await commanded(executor, host, target.disk.device)).toBeGreaterThan(10)
    expect(await host.state()).toBe(before)
  })

  test('what is written to the disk that was named arrives, and its partitions appear', async () => {
    await using opened = await open()
    const { executor } = opened.target
    const { device } = target.disk
    const writes = (...argv: [string, ...string[]]) => runToEnd(executor, argv, { effect: 'writes' })
    expect(await writes('sgdisk', '--new=1:2048:+4M', device)).toMatchObject({ exit: { kind: 'exited', code: 0 } })
    await writes('partx', '--update', device)
    expect(await writes('mke2fs', '-q', `${device}p1`)).toMatchObject({ exit: { kind: 'exited', code: 0 } })
    const folder = '/run/ironstage/mnt/confined'
    await writes('mkdir', '-p', folder)
    expect(await writes('mount', '-o', 'rw', `${device}p1`, folder)).toMatchObject({
      exit: { kind: 'exited', code: 0 },
    })
    await runToEnd(executor, ['dd', `of=${folder}/file`], { effect: 'writes', stdin: Buffer.from('written') })
    expect((await runToEnd(executor, ['cat', `${folder}/file`], { effect: 'reads' })).stdout).toBe('written')
    expect((await writes('umount', folder)).exit).toEqual({ kind: 'exited', code: 0 })
    await readsMounted(executor, `${device}p1`)
  })

  test('the real installer installs', async () => {
    const before = await host.state()
    const running = command(
      ['deploy', ...(await target.targetOptions()), '--image', REHEARSAL_IMAGE, '--no-cache', '--json'],
      {
        variables: { HOME: target.home, USER: 'tester' },
      },
    )
    expect({ code: await running.ended }, running.stdout + running.stderr).toEqual({ code: 0 })
    const report = json(running.stdout).find(({ event }) => event === 'report') as unknown as DeploymentReport
    expect(report).toMatchObject({ ok: true, disk: { table: 'gpt' }, confinement: BY_SYSTEMD })
    expect(await host.state()).toBe(before)
  })
})

describe('by an ironstage on the machine itself', () => {
  const file = (name: string) => join(target.machine.shared, name)
  /** Lines that shell text prints on a disposable target. */
  async function disposable(text: string): Promise<unknown> {
    await writeFile(file('steps.ts'), STEPS)
    await writeFile(file('text'), text)
    await rm(file('named.img'), { force: true })
    await writeFile(file('named.img'), '')
    await truncate(file('named.img'), 16 * 2 ** 20)
    const options = `--json --target local:${file('named.img')} --target-is-disposable --steps ${file('steps.ts')}`
    const args = quoted(JSON.stringify({ file: file('text') }))
    const { code, stdout, stderr } = await target.machine.run(
      `${process.execPath} ${IRONSTAGE} step run practice_shell ${options} --args ${args}`,
    )
    expect({ code }, stdout + stderr).toEqual({ code: 0 })
    return json(stdout).find(({ event }) => event === 'result')!['result']
  }

  test('a disk is kept by the device policy alone where nothing else matters', async () => {
    const before = await host.state()
    const text = `${reaches()}; echo precious >$1 && sync && head -c 8 $1`
    expect(await disposable(text)).toEqual(['devtmpfs is there', 'precious'])
    expect(await host.state()).toBe(before)
  })

  test('the named disk can be opened at any moment while partitions come and go', async () => {
    const text = `echo size=4M | sfdisk -q --no-reread $1
tries() { j=0; while [ "$j" -lt 60 ]; do (exec 3<$1) 2>/dev/null || echo denied; j=$((j + 1)); done; }
appears() { j=0; until (exec 3<$1p1) 2>/dev/null || [ "$j" = 400 ]; do sleep 0.02; j=$((j + 1)); done; [ "$j" = 400 ] || echo appeared; }
for i in 1 2 3 4 5; do partx --add $1; tries $1; appears $1; partx --delete $1; tries $1; done 2>&1`
    expect(await disposable(text)).toEqual(Array.from({ length: 5 }, () => 'appeared'))
  })

  test('nothing is left behind in systemd', async () => {
    const left = async () => {
      const { stdout } = await target.machine.run(
        `systemctl list-units --all --no-legend 'ironstage-*'; find /run/systemd -name '*ironstage*'`,
      )
      return stdout
    }
    // The tree that commands share is held for 15 s, in the unit of the run that made it.
    await expect.poll(left, { timeout: 40_000, interval: 1000 }).toBe('')
  })
})
