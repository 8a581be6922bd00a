import { spawn } from 'node:child_process'
import { link, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeEach, expect, test } from 'vitest'
import { command } from '../../kit/commands/command.js'
import { tool } from '../peers.js'

/** Files of this host that are in use, under another name than the one that is given: none is touched. Needs root. */

const MIB = 2 ** 20
let place: string
const undo: (() => Promise<unknown>)[] = []
const inUse = () => join(place, 'used/disk.img')
beforeEach(async () => {
  place = await mkdtemp(join(tmpdir(), 'ironstage-in-use-'))
  await mkdir(join(place, 'used'))
  await done('truncate', '-s', `${64 * MIB}`, inUse())
  await link(inUse(), join(place, 'linked.img'))
})
afterEach(async () => {
  for (const step of undo.splice(0).reverse()) await step()
  await rm(place, { recursive: true, force: true })
})
afterAll(async () => expect((await tool('losetup', '--list')).stdout).not.toContain('ironstage-in-use'))

async function done(...argv: [string, ...string[]]): Promise<string> {
  const { code, stdout, stderr } = await tool(...argv)
  if (code !== 0) throw new Error(`${argv.join(' ')}: ${stderr}`)
  return stdout.trim()
}

/** An installer that would overwrite what it is given. */
async function refused(name: string): Promise<string> {
  const installer = join(place, 'installer')
  await writeFile(installer, '#!/bin/sh\nfor last; do :; done\necho DESTROYED >"$last"\n', { mode: 0o755 })
  const before = await readFile(inUse())
  const running = command(['deploy', '--target', `local:${join(place, name)}`, '--installer', installer], {
    variables: { PATH: process.env['PATH'] ?? '', HOME: place },
  })
  expect(await running.ended, running.stdout + running.stderr).toBe(1)
  await done('sync')
  expect((await readFile(inUse())).equals(before)).toBe(true)
  return running.stderr
}

async function mounted(): Promise<string> {
  await done('mke2fs', '-q', '-t', 'ext4', inUse())
  const loop = await done('losetup', '--find', '--show', inUse())
  undo.push(() => tool('losetup', '--detach', loop))
  await mkdir(join(place, 'mnt'))
  await done('mount', '-o', 'ro', loop, join(place, 'mnt'))
  undo.push(() => tool('umount', join(place, 'mnt')))
  return loop
}

test('an image that is mounted, by a hard link', async () => {
  const loop = await mounted()
  expect(await refused('linked.img')).toContain(
    `ironstage: ${place}/linked.img is not touched: it is attached to ${loop.slice(5)} already, which is mounted on ${place}/mnt
  try: unmount and detach it (losetup --list shows who has it), or name another file
`,
  )
})

test('an image that is mounted, by a folder that is mounted elsewhere too', async () => {
  await mounted()
  await mkdir(join(place, 'again'))
  await done('mount', '--bind', join(place, 'used'), join(place, 'again'))
  undo.push(() => tool('umount', join(place, 'again')))
  expect(await refused('again/disk.img')).toContain(`which is mounted on ${place}/mnt`)
})

test('an image that is mounted in another mount namespace, by a loop device without a node in /dev', async () => {
  await done('mke2fs', '-q', '-t', 'ext4', inUse())
  const loop = await done('losetup', '--find', '--show', inUse())
  undo.push(() => tool('losetup', '--detach', loop))
  const number = await readFile(`/sys/block/${loop.slice(5)}/dev`, 'utf8')
  const script = `mkdir ${place}/inside && mount -o ro ${loop} ${place}/inside && echo mounted && exec sleep 60`
  const child = spawn('unshare', ['--mount', 'sh', '-c', script], { stdio: ['ignore', 'pipe', 'inherit'] })
  const gone = new Promise((resolve) => child.once('exit', resolve))
  undo.push(async () => {
    child.kill('SIGKILL')
    await gone
  })
  await new Promise((resolve) => child.stdout.once('data', resolve))
  await rm(loop)
  undo.push(() => tool('mknod', loop, 'b', ...(number.trim().split(':') as [string, string])))
  expect(await refused('linked.img')).toContain(
    `it is attached to ${loop.slice(5)} already, which is mounted on ${place}/inside`,
  )
})

test('swap space, by its own name', async () => {
  await done('dd', 'if=/dev/zero', `of=${inUse()}`, 'bs=1M', 'count=64', 'status=none')
  await done('chmod', '600', inUse())
  await done('mkswap', '-q', inUse())
  await done('swapon', inUse())
  undo.push(() => tool('swapoff', inUse()))
  for (const name of ['used/disk.img', 'linked.img'])
    expect(await refused(name)).toContain(
      `ironstage: ${join(place, name)} is not touched: it is swap space in use
  try: switch it off with swapoff, or name another file
`,
    )
})

test('the disk of a virtual machine that runs', async () => {
  const child = spawn('sh', ['-c', `exec 7<>${inUse()}; echo open; exec sleep 60`], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const gone = new Promise((resolve) => child.once('exit', resolve))
  undo.push(async () => {
    child.kill('SIGKILL')
    await gone
  })
  await new Promise((resolve) => child.stdout.once('data', resolve))
  expect(await refused('linked.img')).toContain(`(process ${child.pid}) has it open for writing`)
})

test('a copy that shares its blocks or holds the same bytes is another file', async () => {
  await mounted()
  await done('cp', '--reflink=auto', inUse(), join(place, 'copy.img'))
  const running = command(['deploy', '--check', '--target', `local:${join(place, 'copy.img')}`], {
    variables: { PATH: process.env['PATH'] ?? '', HOME: place },
  })
  // 1 where a host has no udevd, which coreos-installer needs.
  expect([0, 1], running.stderr).toContain(await running.ended)
  expect(running.stdout).toMatch(/in use +no/)
})
