import { mkdtemp, rm, truncate, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { inspectDisk } from '../../machine/index.js'
import { VirtualClock } from '../../base/runtime/index.js'
import { command } from '../kit/commands/command.js'
import { imagePath } from '../kit/installer.js'

const MIB = 2 ** 20
let folder: string
let disk: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'ironstage-installer-'))
  disk = join(folder, 'disk.img')
  await writeFile(disk, '')
  await truncate(disk, 64 * MIB)
})
afterEach(() => rm(folder, { recursive: true }))

const run = async (...args: string[]) => {
  const run = command(['coreos-installer', ...args])
  const code = await run.ended
  return { code, stdout: run.stdout, stderr: run.stderr }
}

test('installs to a plain file, with the arguments and the words of coreos-installer', async () => {
  const config = join(folder, 'options.yaml')
  await writeFile(config, `image-file: ${imagePath}\ninsecure: true\nappend-karg: [rehearsal]\n`)
  const { code, stdout, stderr } = await run('install', '-c', config, disk)
  expect(code).toBe(0)
  expect(stdout).toBe(`Running with arguments: --image-file ${imagePath} --append-karg rehearsal --insecure ${disk}\n`)
  expect(stderr).toMatch(/^Copying image from .*\nReading signature from (.|\n)*\nInstall complete\.\n$/)
  const { partitions, boot } = await inspectDisk({ path: disk }, new VirtualClock())
  expect(partitions.map(({ name }) => name)).toEqual(['BIOS-BOOT', 'EFI-SYSTEM', 'boot', 'root'])
  expect(boot?.entry?.kernelArguments).toContain('rehearsal')
})

test('keeps partitions of the file, also when the installation fails', async () => {
  await run('install', disk, '-f', imagePath, '--insecure')
  const failed = await run('install', disk, '-f', imagePath, '--insecure', '--save-partlabel', 'ro*')
  expect(failed.code).toBe(1)
  expect(failed.stderr).toContain('collision with partition 4 ("root") at offset 31457280\n')
  const { partitions } = await inspectDisk({ path: disk }, new VirtualClock())
  expect(partitions.map(({ name, number }) => [number, name])).toEqual([[4, 'root']])
})

test.each([
  [['install', '--frob'], 2, "error: unexpected argument '--frob' found\n"],
  [['install', '/dev/null'], 1, 'Error: getting sector size of /dev/null\n\nCaused by:\n    "/dev/null" is not'],
  [['--sector-size', '1024', 'install'], 2, 'ironstage: --sector-size 1024: a disk has sectors of 512 or 4096 bytes\n'],
])('%j ends with %i', async (args, code, start) => {
  const ended = await run(...args)
  expect(ended.code).toBe(code)
  expect(ended.stderr.slice(0, start.length)).toBe(start)
})

test('sectors have the size that is asked for', async () => {
  const { code, stderr } = await run('--sector-size=4096', 'install', disk, '-f', imagePath, '--insecure')
  expect(code).toBe(1)
  expect(stderr).toContain('Error: source has sector size 512 but destination has sector size 4096\n')
})
