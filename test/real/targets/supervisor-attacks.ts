import { execFile } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect } from 'vitest'
import { defined } from '../../../base/runtime/index.js'
import { runToEnd } from '../../../steps/index.js'
import type { TargetCommand, Executor } from '../../../targets/index.js'
import { debianProgram } from '../peers.js'
import type { AttackedHost } from './attacked-host.js'

/** A target under attack, and what the attacks need to know of it. */
export interface AttackedTarget {
  executor: Executor
  host: AttackedHost
  /** Path of the disk that was named; it has nothing to lose. */
  named: string
  /** Runs shell text as root on the target, outside of every cell. */
  outside: (text: string) => Promise<string>
}

const here = import.meta.url.replace('/dist/test/real/', '/test/real/')
const MNT = '/run/ironstage/mnt'

type Done = Awaited<ReturnType<typeof runToEnd>>

const run = (
  { executor }: AttackedTarget,
  argv: TargetCommand['argv'],
  effect: TargetCommand['effect'] = 'writes',
  stdin?: string,
): Promise<Done> =>
  runToEnd(executor, argv, { effect, ...defined({ stdin: stdin === undefined ? undefined : Buffer.from(stdin) }) })

/** Runs shell text as a step does that says it only reads. */
async function text(target: AttackedTarget, script: string, stdin?: string): Promise<string> {
  const file = join(target.host.folder, 'text')
  await writeFile(file, script)
  const { stdout, stderr } = await run(target, ['sh', file], 'reads', stdin)
  return `${stdout}${stderr}`
}

/** A folder of the host is exchanged with the mount point while the named disk is mounted there, again and again. */
export async function flipsMountPoint(target: AttackedTarget): Promise<void> {
  const { executor, host, named, outside } = target
  await debianProgram('gcc', 'gcc')
  const flip = join(host.folder, 'flip')
  await promisify(execFile)('gcc', ['-O2', '-o', flip, fileURLToPath(new URL('../peers/flip.c', here))])
  const canary = join(host.folder, 'canary')
  await run(target, ['mke2fs', '-q', '-F', named])
  const flipping = await executor.start({ argv: [flip, `${MNT}/flipped`, canary, '20'], effect: 'reads' })
  let over = false
  const ended = flipping.exit.finally(() => (over = true))
  const mounted = `grep -c ' ${canary} ' /proc/self/mountinfo; true`
  for (let tries = 0; !over && tries < 12; tries++) {
    await run(target, ['mount', '-o', 'rw', named, `${MNT}/flipped`]).catch(() => {})
    expect((await outside(mounted)).trim()).toBe('0')
    await run(target, ['umount', `${MNT}/flipped`]).catch(() => {})
  }
  await flipping.cancel()
  await ended
  expect((await outside(mounted)).trim()).toBe('0')
}

/** Records of runs and of loop devices, from a command and by the files of the target. */
export async function forgesRecords(target: AttackedTarget): Promise<void> {
  const { executor, host } = target
  const { files } = executor
  const { FILE: file = '', HOST_PID: pid = '' } = host.words(target.named)
  // A run of a test that failed may still be there.
  const id = `attacked-${randomUUID()}`
  const run = await executor.start({ argv: ['sh', '-c', 'sleep 3; exit 3'], effect: 'reads', id })
  const forged: Record<string, string> = {
    [`/run/ironstage/runs/${id}/exit`]: '0\n',
    [`/run/ironstage/runs/${id}/group`]: `-${pid} 1\n`,
    [`/run/ironstage/mnt/../runs/${id}/exit`]: '0\n',
    [`/proc/1/root/run/ironstage/runs/${id}/exit`]: '0\n',
    [`/proc/self/root/run/ironstage/runs/${id}/group`]: `${pid}\n`,
    '/run/ironstage/loops/1-1': `1 1\n${file}\n`,
    '/run/ironstage/runs/.new/x.1/run': 'reboot\n',
    '/run/ironstage/images/image': 'x',
    '/run/ironstage/install.lock': 'x',
  }
  for (const [path, content] of Object.entries(forged)) {
    await expect(files.write(path, Buffer.from(content)), path).rejects.toThrow()
    await expect(files.remove(path), path).rejects.toThrow()
  }
  expect(
    await text(target, 'for f in /run/ironstage/runs /run/ironstage/loops; do [ ! -e $f ] || echo GOT; done'),
  ).toBe('')
  for (const reserved of ['mnt', 'loops', 'runs', '.new'])
    await expect(executor.attach(reserved, 0)).rejects.toMatchObject({ code: 'unknown-run' })
  expect(await run.exit).toEqual({ kind: 'exited', code: 3 })
}

/** Links on a disk that the step has mounted lead to files of the host. */
export async function followsLinks(target: AttackedTarget): Promise<void> {
  const { executor, host, named, outside } = target
  const canary = join(host.folder, 'canary')
  const folder = `${MNT}/linked`
  await outside(`cp ${canary}/file ${host.folder}/prod.ign`)
  await run(target, ['mke2fs', '-q', '-F', named])
  await run(target, ['mkdir', '-p', folder])
  expect(await run(target, ['mount', '-o', 'rw', named, folder])).toMatchObject({ stderr: '' })
  try {
    // As an image may have them.
    await outside(`ln -s ${host.folder} ${folder}/out; ln -s / ${folder}/root; ln -s /dev ${folder}/dev`)
    expect((await run(target, ['cat', `${folder}/out/prod.ign`], 'reads')).stdout).toBe('precious\n')
    for (const path of ['out/canary/file', 'root/run/ironstage/runs/x/exit', 'out/canary/../canary/new']) {
      await expect(executor.files.write(`${folder}/${path}`, Buffer.from('x')), path).rejects.toThrow()
      await expect(executor.files.remove(`${folder}/${path}`), path).rejects.toThrow()
    }
    // To a shell that is a file of the host, to the text one of ironstage's own folder.
    await executor.files.write(`${folder}/out/../../../escaped`, Buffer.from('x'))
    await executor.files.remove('/run/ironstage/escaped')
    // It is refused before it starts.
    await expect(run(target, ['rm', '-rf', `${folder}/out/canary/file`])).rejects.toMatchObject({
      code: 'disk-refused',
    })
    // A command that says it reads cannot write what is mounted for writing.
    expect(await text(target, `echo x >${folder}/file && echo GOT; rm -rf ${folder}/out && echo GOT`)).not.toContain(
      'GOT',
    )
    expect((await run(target, ['dd', `of=${folder}/file`], 'writes', 'written')).exit).toEqual({
      kind: 'exited',
      code: 0,
    })
  } finally {
    await run(target, ['umount', folder])
  }
  expect(await outside(`cat ${host.folder}/prod.ign; rm ${host.folder}/prod.ign`)).toBe('precious\n')
}

/** Outputs and inputs lie in the memory of the target. */
export async function fillsMemory(target: AttackedTarget): Promise<void> {
  const { outside } = target
  const used = async () => Number(await outside('du -sk /run/ironstage/runs | cut -f 1'))
  const before = await used()
  await expect(run(target, ['yes'], 'reads')).rejects.toMatchObject({ code: 'too-much-output' })
  await expect(text(target, 'trap "" PIPE; while :; do printf "%65536s" x >&2; done 2>&1')).rejects.toMatchObject({
    code: 'too-much-output',
  })
  expect((await used()) - before).toBeLessThan(3 * 33 * 1024)
  const grow = '(head -c 1000000 /dev/zero >>/proc/self/fd/0) 2>/dev/null && echo GOT; cat'
  expect(await text(target, grow, 'input')).toBe('input')
  expect(await text(target, '(exec 3<>/proc/self/fd/1) 2>/dev/null; [ ! -f /proc/self/fd/1 ] || echo GOT')).toBe('')
}

/** Folders of mount points are made by the supervisor alone. */
export async function writesWhereMountsAre(target: AttackedTarget): Promise<void> {
  const script = `cd ${MNT} || exit
mkdir made && echo GOT; ln -s / link && echo GOT; : >file && echo GOT; chmod 777 . && echo GOT; mknod node c 1 3 && echo GOT
mount -o remount,rw,bind ${MNT} && echo GOT; umount ${MNT} && echo GOT; mv ${MNT} ${MNT}.old && echo GOT`
  expect(await text(target, script)).not.toContain('GOT')
  for (const effect of ['reads', 'writes'] as const)
    for (const argv of [
      ['ln', '-s', '/', `${MNT}/link`],
      ['mkdir', '-p', `${MNT}/a/b`],
      ['tee', `${MNT}/file`],
    ] as const)
      await run(target, [...argv] as [string, ...string[]], effect).catch(() => {})
  expect(await target.outside(`ls -A ${MNT} | grep -x -e link -e file -e made -e a -e node; true`)).toBe('')
}

export const SUPERVISOR_ATTACKS: readonly [string, (target: AttackedTarget) => Promise<void>][] = [
  ['a mount point that is exchanged with a folder of the host', flipsMountPoint],
  ['records of runs and loop devices that a step writes', forgesRecords],
  ['links on a mounted disk', followsLinks],
  ['the memory of the target', fillsMemory],
  ['the folder of the mount points', writesWhereMountsAre],
]
