import { chmod, mkdir, mkdtemp, rm, truncate, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { silent, systemClock, systemRandom } from '../../../base/runtime/index.js'
import { runToEnd } from '../../../steps/index.js'
import { openLocalTarget, openSshTarget, parsePins, parseSshTarget, type Executor } from '../../../targets/index.js'
import { AttackedHost } from './attacked-host.js'
import { attacked } from './attacking.js'
import { MachineWithDisk } from '../machine-with-disk.js'
import { debianProgram, tool } from '../peers.js'

/**
 * Attacks from one command on those after it, and on the tree that they share. A program `stat` that runs a shell stands for
 * one of ironstage's own programs that went bad. Needs root.
 */

const clock = systemClock()
const RUNS = '/run/ironstage/runs'
let place: string
let path: string
beforeAll(async () => {
  place = await mkdtemp(join(tmpdir(), 'ironstage-shared-tree-'))
  path = join(place, 'bin')
  await mkdir(path)
  await writeFile(join(path, 'stat'), '#!/bin/sh\nexec sh "$@"\n')
  await chmod(join(path, 'stat'), 0o755)
  await writeFile(join(place, 'named.img'), '')
  await truncate(join(place, 'named.img'), 16 * 2 ** 20)
  await debianProgram('sgdisk', 'gdisk')
})
afterAll(() => rm(place, { recursive: true, force: true }))
function local() {
  const environment = { ...process.env, PATH: `${path}:${process.env['PATH']}:/usr/sbin:/sbin` }
  const where = join(place, 'named.img')
  const installer = '/bin/true'
  return openLocalTarget({ where, installer, environment, clock, random: systemRandom, logger: silent })
}

/** Runs shell text in the tree that commands share. */
async function shared(executor: Executor, text: string) {
  const { stdout, exit } = await runToEnd(executor, ['stat', await script(text)], { effect: 'reads' })
  return { stdout, exit }
}

let scripts = 0
/** A file with shell text: a command line that names a folder of ironstage shares no tree. */
async function script(text: string): Promise<string> {
  const file = join(place, `script-${scripts++}`)
  await writeFile(file, text)
  return file
}

const outside = async (text: string) => (await tool('sh', '-c', text)).stdout

/** Trees of a disk: their folders, and the processes that hold them. Other sessions of this host may have trees. */
async function heldTrees({ disk }: { disk: { path: string } }): Promise<{ folder: string; holder: string }[]> {
  const name = disk.path.replace('/dev/', '')
  const lines = await outside(
    `for f in ${RUNS}/.tree-*/holder; do { read -r devices && read -r pid since; } <"$f" && echo "$f $pid $devices"; done`,
  )
  return lines.split('\n').flatMap((line) => {
    const [file, holder, ...devices] = line.split(' ')
    return devices.some((device) => device.startsWith(`${name}:`)) ? [{ folder: dirname(file!), holder: holder! }] : []
  })
}

/** Shows what is left of a tree. */
const leftOf = (trees: readonly { folder: string; holder: string }[]) =>
  outside(`ls -d ${trees.map(({ folder, holder }) => `${folder} /proc/${holder}`).join(' ')}`)

/** Waits until an expectation holds. */
async function eventually(expectation: () => Promise<void>): Promise<void> {
  for (let left = 300; ; left--)
    try {
      return await expectation()
    } catch (error) {
      if (left === 0) throw error
      await clock.sleep(100)
    }
}

const WELL = { kind: 'exited', code: 0 }

test('commands share one tree, which ends with their session and leaves nothing', async () => {
  const trees: { folder: string; holder: string }[] = []
  {
    await using opened = await local()
    const { executor } = opened.target
    expect((await shared(executor, 'echo one')).stdout).toBe('one\n')
    trees.push(...(await heldTrees(opened)))
    expect(trees).toHaveLength(1)
    await Promise.all(Array.from({ length: 4 }, () => shared(executor, 'echo more')))
    await runToEnd(executor, ['lsblk', '--json'], { effect: 'reads' })
    expect(await heldTrees(opened)).toEqual(trees)
    // Another program may make files in /run, and has its own.
    const { exit } = await runToEnd(executor, ['sh', '-c', 'echo x >/run/x'], { effect: 'reads' })
    expect(exit).toEqual(WELL)
    expect((await shared(executor, '[ -e /run/x ] || echo none')).stdout).toBe('none\n')
  }
  await eventually(async () => expect(await leftOf(trees)).toBe(''))
})

test('a tree ends by itself when everything else was killed', async () => {
  await using opened = await local()
  await shared(opened.target.executor, 'true')
  const trees = await heldTrees(opened)
  expect(trees).toHaveLength(1)
  await eventually(async () => expect(await leftOf(trees)).toBe(''))
})

test('a tree is made anew when the target has other mounts, its holder was killed, or the disk has other partitions', async () => {
  await using opened = await local()
  const { executor } = opened.target
  const folder = join(place, 'other-mount')
  await mkdir(folder)
  expect((await shared(executor, `ls ${folder}`)).stdout).toBe('')
  const before = await heldTrees(opened)
  await outside(`mount -t tmpfs none ${folder} && : >${folder}/there`)
  try {
    expect((await shared(executor, `ls ${folder}`)).stdout).toBe('there\n')
    expect(await heldTrees(opened)).not.toEqual(before)
  } finally {
    await outside(`umount ${folder}`)
  }
  await shared(executor, 'true')
  const [killed] = await heldTrees(opened)
  await outside(`kill -9 ${killed!.holder}`)
  expect((await shared(executor, 'echo well')).stdout).toBe('well\n')
  await runToEnd(executor, ['sgdisk', '--new=1:2048:+4M', opened.disk.path], { effect: 'writes' })
  await runToEnd(executor, ['partx', '--update', opened.disk.path], { effect: 'writes' })
  const seen = await shared(
    executor,
    `[ -b ${opened.disk.path}p1 ] && cat ${opened.disk.path}p1 >/dev/null && echo read`,
  )
  expect(seen.stdout).toBe('read\n')
  await runToEnd(executor, ['sgdisk', '--zap-all', opened.disk.path], { effect: 'writes' })
  await runToEnd(executor, ['partx', '--delete', opened.disk.path], { effect: 'writes' })
})

describe('an attack from a tree that is shared', () => {
  let host: AttackedHost
  beforeAll(async () => {
    await mkdir(join(place, 'host'))
    host = await AttackedHost.open(place, join(place, 'host'))
  })
  afterAll(() => host?.[Symbol.asyncDispose]())

  test('changes nothing, whichever of all attacks it is', async () => {
    const before = await host.state()
    await using opened = await local()
    expect(await attacked(opened.target.executor, host, opened.disk.path, undefined, 'stat')).toEqual([])
    expect(await heldTrees(opened)).toHaveLength(1)
    expect(await host.state()).toBe(before)
  })

  test('leaves neither files nor processes for the next command', async () => {
    await using opened = await local()
    const { executor } = opened.target
    const places = [
      '/run',
      '/run/tmp',
      '/run/ironstage-cell',
      '/run/ironstage',
      '/dev',
      '/dev/shm',
      '/dev/pts',
      '/tmp',
      '/',
    ]
    const leave = `for p in ${places.join(' ')} "$TMPDIR"; do echo x >$p/left; mkdir $p/folder; ln -s / $p/link; mkfifo $p/pipe; done 2>/dev/null
for d in 1 2 3; do (setsid sh -c 'trap "" HUP TERM; while :; do for p in ${places.join(' ')}; do echo x >$p/late; done; sleep 0.01; done' >/dev/null 2>&1 &); done
export LEFT=1; ipcmk -M 64; hostname left; cd /run/tmp; echo left`
    // The shell itself counts processes: those of a pipe would be there or not, as it happens.
    const look = `for p in ${places.join(' ')}; do for f in left folder link pipe late; do [ ! -e $p/$f ] && [ ! -L $p/$f ] || echo $p/$f; done; done
set -- /proc/[0-9]*; echo $LEFT $# $(ipcs -m | grep -c '^0x') $(ls /dev/pts) $(pwd); hostname`
    const clean = (await shared(executor, look)).stdout
    const trees = await heldTrees(opened)
    const during = executor.start({ argv: ['stat', await script(`${leave}; sleep 1`)], effect: 'reads' })
    expect((await shared(executor, look)).stdout).toBe(clean)
    expect(await (await during).exit).toEqual(WELL)
    expect((await shared(executor, look)).stdout).toBe(clean)
    expect(await heldTrees(opened)).toEqual(trees)
    expect(await outside('ps -eo args | grep -c "[/]left\\|[/]late"')).toBe('0\n')
  })

  test('stops no other command: by signals, by its descriptors, by the record of the tree, by memory', async () => {
    await using opened = await local()
    const { executor } = opened.target
    await shared(executor, 'true')
    const trees = await heldTrees(opened)
    const attacks = [
      'kill -STOP -1; kill -9 -1',
      `kill -9 ${trees[0]!.holder}; kill -STOP ${trees[0]!.holder}; kill -9 1`,
      '(sleep 0.5; kill -CONT $$) & kill -STOP $$',
      'for n in 0 1 2 3 4 5 6 7 8 9 10 11 12; do echo 1 >&$n; cat <&$n; done',
      `echo '1 1' >${RUNS}/.tree-x/holder; rm -rf ${RUNS} /run/ironstage-cell /run/udev /dev/*; umount -l / /dev /run /proc`,
      'mount -o remount,rw /dev; mount -o remount,rw /run; mount -o remount,bind,rw /; for f in /dev /run /; do echo x >$f/x; done',
      'nsenter --mount=/proc/1/ns/mnt true; nsenter -t 1 -a true; unshare --mount true; chroot /proc/1/root true',
      'head -c 200000000 /dev/zero >/run/tmp/full; head -c 200000000 /dev/zero >/dev/shm/full; head -c 9000000 /dev/zero >/dev/full2',
      ': >/dev/loop-control; mknod /run/tmp/x b 7 0; cat /run/tmp/x; blockdev --setro /dev/loop*; losetup -D',
      'n=0; while [ $n -lt 200 ]; do sleep 60 & n=$((n+1)); done',
    ]
    for (const attack of attacks) {
      const run = await executor.start({ argv: ['stat', await script(attack)], effect: 'reads' })
      expect([attack, (await shared(executor, 'echo well')).stdout]).toEqual([attack, 'well\n'])
      await run.exit
      expect([attack, await heldTrees(opened)]).toEqual([attack, trees])
      expect([
        attack,
        (await shared(executor, 'ls /dev /run /run/tmp /dev/shm | grep -c -e "^x$" -e full2')).stdout,
      ]).toEqual([attack, '0\n'])
    }
    expect(await outside(`ps -eo pid,args | grep '[s]leep 60$'`)).toBe('')
  })
})

test('behind SSH commands share a tree too, and it ends with the session', async () => {
  await using target = await MachineWithDisk.open({ size: '16M' })
  const { home, machine, disk } = target
  const held = async () =>
    (await machine.run(`cat ${RUNS}/.tree-*/holder 2>/dev/null | grep -c '^[0-9]'`)).stdout.trim()
  {
    await using opened = await openSshTarget({
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
    const { executor } = opened.target
    for (const argv of [['stat', '/'], ['ls', '/'], ['lsblk'], ['udevadm', 'info', '--export-db']] as const)
      expect((await runToEnd(executor, [...argv], { effect: 'reads' })).exit).toMatchObject({ kind: 'exited' })
    expect(await held()).toBe('1')
  }
  await eventually(async () => expect((await machine.run(`ls -d ${RUNS}/.tree-*`)).stdout).toBe(''))
})
