import { createHash } from 'node:crypto'
import { execFile } from 'node:child_process'
import { mkdtemp, open, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { REHEARSAL_IMAGE } from '../../../lab/index.js'
import type { DeploymentReport } from '../../../apps/runs/index.js'
import { IRONSTAGE } from '../../kit/commands/up-process.js'
import { debianProgram, tool } from '../peers.js'

const run = promisify(execFile)

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'ironstage-tools-'))
  await debianProgram('sgdisk', 'gdisk')
  await debianProgram('e2fsck', 'e2fsprogs')
  await debianProgram('debugfs', 'e2fsprogs')
  await debianProgram('fsck.vfat', 'dosfstools')
  await debianProgram('xz', 'xz-utils')
})
afterAll(() => rm(folder, { recursive: true, force: true }))

/** Runs the command of `npm run demo`, whose last line of output is the report. */
async function demo(...argv: string[]): Promise<DeploymentReport> {
  const { stdout } = await run(process.execPath, [IRONSTAGE, 'deploy', '--json', ...argv])
  return JSON.parse(stdout.trim().split('\n').at(-1)!) as DeploymentReport
}

/** Tools for file systems want one in a file of its own. */
async function copyOut(disk: string, { offset, length }: { offset: number; length: number }): Promise<string> {
  const source = await open(disk)
  const file = join(folder, `partition-${offset}`)
  const bytes = Buffer.alloc(length)
  await source.read(bytes, 0, length, offset)
  await source.close()
  await writeFile(file, bytes)
  return file
}

const debugfs = async (command: string, file: string): Promise<string> =>
  (await tool('debugfs', '-R', command, file)).stdout

/** Partitions as sgdisk sees them: number, first and last sector, name. */
async function table(disk: string) {
  const { stdout } = await tool('sgdisk', '-p', disk)
  return [...stdout.matchAll(/^ +(\d+) +(\d+) +(\d+) .* [0-9A-F]{4} +(\S+)$/gm)].map(
    ([, number, first, last, name]) => ({
      number: Number(number),
      offset: Number(first) * 512,
      length: (Number(last) - Number(first) + 1) * 512,
      name,
    }),
  )
}

describe.each([
  ['as the demo makes it', []],
  ['larger, with kernel arguments', ['--disk-size', '123GiB', '--append-karg', 'a.b=c', '--delete-karg', 'rw']],
])('the disk of a deployment %s', (what, argv) => {
  let disk: string
  let report: DeploymentReport
  beforeAll(async () => {
    disk = join(folder, `${createHash('sha256').update(what).digest('hex').slice(0, 8)}.img`)
    report = await demo('--disk-file', disk, ...argv)
    expect(report.ok).toBe(true)
  })

  test('its partition table is sound to sgdisk, with both headers where they belong', async () => {
    const { code, stdout, stderr } = await tool('sgdisk', '-v', disk)
    expect(`${stdout}${stderr}`).toMatch(/^\s*No problems found\. \d+ free sectors/m)
    expect(`${stdout}${stderr}`).not.toMatch(/caution|warning|problem:/i)
    expect(code).toBe(0)
    expect(await table(disk)).toEqual(
      report.partitions.map(({ number, offset, length, name }) => ({ number, offset, length, name })),
    )
    const guid = /Disk identifier \(GUID\): (\S+)/.exec((await tool('sgdisk', '-p', disk)).stdout)![1]!
    expect(guid.toLowerCase()).toBe(report.disk.guid)
  })

  test('its file systems are clean to their own checkers', async () => {
    for (const partition of report.partitions) {
      if (partition.filesystem === null) continue
      const file = await copyOut(disk, partition)
      const checker = partition.filesystem === 'vfat' ? (['fsck.vfat', '-n'] as const) : (['e2fsck', '-fn'] as const)
      const { code, stdout, stderr } = await tool(checker[0], checker[1], file)
      expect({ partition: partition.name, code }, `${stdout}${stderr}`).toEqual({ partition: partition.name, code: 0 })
    }
  })

  test('debugfs reads the same kernel arguments from it as we do, and no Ignition config', async () => {
    const boot = await copyOut(
      disk,
      report.partitions.find(({ label }) => label === 'boot')!,
    )
    const names = [...(await debugfs('ls -p /loader/entries', boot)).matchAll(/\/([^/\n]+\.conf)\//g)]
    const entry = await debugfs(`cat /loader/entries/${names.at(-1)![1]!}`, boot)
    const options = /^options (.*)$/m.exec(entry)![1]!.split(' ')
    expect(options).toEqual(report.kernel_arguments)
    expect(options.includes('a.b=c')).toBe(argv.length > 0)
    expect(options.includes('rw')).toBe(argv.length === 0)
    // Ignition has run: its config is gone, and nothing asks for it at the next boot.
    expect(await debugfs('ls -p /', boot)).not.toContain('ignition')
  })

  test('it takes no more room than what was written', async () => {
    const { blocks } = await stat(disk)
    expect(blocks * 512).toBeLessThan(64 * 2 ** 20)
  })
})

test('the committed image is clean to the same tools', async () => {
  const image = join(folder, 'image.raw')
  await run('sh', ['-c', 'xz -dc "$1" > "$2"', 'sh', REHEARSAL_IMAGE, image])
  const { code, stdout, stderr } = await tool('sgdisk', '-v', image)
  expect(`${stdout}${stderr}`).toMatch(/^\s*No problems found\./m)
  expect(code).toBe(0)
  expect((await table(image)).map(({ name }) => name)).toEqual(['BIOS-BOOT', 'EFI-SYSTEM', 'boot', 'root'])
  for (const partition of (await table(image)).slice(2)) {
    const checked = await tool('e2fsck', '-fn', await copyOut(image, partition))
    expect(checked.code, checked.stdout).toBe(0)
  }
})
