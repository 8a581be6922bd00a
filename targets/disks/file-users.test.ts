import { link, mkdir, mkdtemp, realpath, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { inShells } from '../../test/kit/commands/in-shells.js'
import { FILE_FUNCTIONS } from './file-users.js'

let root: string
beforeEach(async () => {
  root = await realpath(await mkdtemp(join(tmpdir(), 'ironstage-users-')))
  await file('a.img', 'x'.repeat(1024))
  await link(join(root, 'a.img'), join(root, 'b.img'))
})
afterEach(() => rm(root, { recursive: true, force: true }))

async function file(path: string, text: string): Promise<void> {
  await mkdir(dirname(join(root, path)), { recursive: true })
  await writeFile(join(root, path), text)
}

/** Prints the distinct outputs of a function in each installed shell; `losetup` lists what a test wrote into `associated`. */
function output(call: string): string[] {
  const script = `${FILE_FUNCTIONS}
sys=$1/sys proc=$1/proc dev=$1/dev base=$1/own
losetup() { [ "$2" -ef "$root/a.img" ] && cat "$root/associated" 2>/dev/null; }
is_block() { [ -f "$1" ]; }
node() { cat "$1"; }
root=$1
${call}`
  return [...new Set(inShells(script, root).map(({ stdout, stderr }) => `${stdout.trim()}${stderr}`))]
}

/** Adds a process that has a file open; `flags` as in /proc/PID/fdinfo. */
async function process(pid: number, name: string, opened: string, flags: string, group = pid): Promise<void> {
  await file(`proc/${pid}/comm`, `${name}\n`)
  await file(`proc/${pid}/stat`, `${pid} (a ) b) S 1 ${group} ${group} 0\n`)
  await file(`proc/${pid}/fdinfo/7`, `pos:\t0\nflags:\t${flags}\nmnt_id:\t1\n`)
  await mkdir(join(root, `proc/${pid}/fd`))
  await symlink(join(root, opened), join(root, `proc/${pid}/fd/7`))
}

describe('a file may not be written', () => {
  const used = (loop = '') => output(`file_in_use "$root/b.img" ${loop}`)

  test('while a loop device is attached to it by another name, unless it is the expected loop device', async () => {
    expect(used()).toEqual([''])
    await file('associated', '/dev/loop3\n')
    expect(used()).toEqual(['loop it is attached to loop3 already'])
    expect(used('loop3')).toEqual([''])
    await file('sys/block/loop3/dev', '7:3\n')
    await file('sys/block/loop3/loop3p1/dev', '259:1\n')
    await file('proc/4711/mountinfo', '1 1 259:1 / /srv/data rw - ext4 /dev/x rw\n')
    expect(used()).toEqual(['loop it is attached to loop3 already, which is mounted on /srv/data'])
  })

  test('while a command that an ironstage left still writes it, which is named', async () => {
    await file('associated', '/dev/loop3\n')
    await file('sys/block/loop3/dev', '7:3\n')
    await file('dev/loop3', '7:3')
    await process(52, 'qemu-system-x86', 'dev/loop3', '02100002')
    expect(used()).toEqual(['loop it is attached to loop3 already'])
    await process(51, 'coreos-installe', 'dev/loop3', '0100002')
    await file('own/runs/run-1/group', '-51 4711\n')
    expect(used()).toEqual([
      'run a command that ironstage has started still writes it through loop3: coreos-installe (process 51)',
    ])
    await file('own/runs/run-1/exit', '0\n')
    expect(used()).toEqual(['loop it is attached to loop3 already'])
  })

  test('while a loop device without a node in /dev is attached to it', async () => {
    await file('sys/block/loop5/size', '2\n')
    await file('sys/block/loop5/loop/backing_file', '/a.img\n')
    // By its path in the namespace of another process.
    await mkdir(join(root, 'proc/9'), { recursive: true })
    await symlink(root, join(root, 'proc/9/root'))
    expect(used()).toEqual(['loop it is attached to loop5 already'])
    await file('sys/block/loop5/loop/backing_file', '/proc/9/root\n')
    expect(used()).toEqual([''])
    // By its size, where no namespace has the path.
    await file('sys/block/loop5/loop/backing_file', '/gone.img\n')
    expect(used()).toEqual(['loop it is attached to loop5 already'])
    await file('sys/block/loop5/size', '4\n')
    expect(used()).toEqual([''])
  })

  test('while it is swap space', async () => {
    await link(join(root, 'a.img'), join(root, 'a swap'))
    const line = (path: string) => `${join(root, path).replaceAll(' ', '\\040')} file 1020 0 -2\n`
    await file('proc/swaps', `Filename Type Size Used Priority\n${line('other')}`)
    expect(used()).toEqual([''])
    await file('proc/swaps', `Filename Type Size Used Priority\n${line('a swap')}`)
    expect(used()).toEqual(['swap it is swap space in use'])
  })

  test('while a process has it open for writing', async () => {
    await process(30, 'less', 'a.img', '0100000')
    expect(used()).toEqual([''])
    await process(31, 'qemu-system-x86', 'a.img', '02100002')
    expect(used()).toEqual(['open qemu-system-x86 (process 31) has it open for writing'])
  })
})

test('device_writer finds other processes, but not the runs of ironstage', async () => {
  await file('dev/sda1', '8:1')
  const writer = () => output("device_writer '8:0\n8:1'")
  await process(40, 'blkid', 'dev/sda1', '0100000')
  expect(writer()).toEqual([''])
  await process(41, 'coreos-installe', 'dev/sda1', '0100001')
  expect(writer()).toEqual(['coreos-installe (process 41) has it open for writing'])
  await file('own/runs/run-1/group', '-41 4711\n')
  expect(writer()).toEqual([''])
  // The number of a process that has ended may be another's by now.
  await file('own/runs/run-1/exit', '0\n')
  expect(writer()).toEqual(['coreos-installe (process 41) has it open for writing'])
})
