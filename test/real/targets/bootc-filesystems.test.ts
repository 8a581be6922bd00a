import { open } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { systemClock, temporaryFolder, type TemporaryFolder } from '../../../base/runtime/index.js'
import { inspectDisk } from '../../../machine/index.js'
import { executeBootcInstall } from '../../../steps/bootc/execute-bootc-install.js'
import { putBootable } from '../../kit/registry/bootable-container.js'
import { registryServer } from '../../kit/registry/registry-server.js'
import { stepMachine, testDisk } from '../../kit/step-machine.js'
import { debianProgram, tool } from '../peers.js'

let folder: TemporaryFolder
beforeAll(async () => {
  folder = await temporaryFolder()
  for (const [program, debian] of [
    ['e2fsck', 'e2fsprogs'],
    ['debugfs', 'e2fsprogs'],
    ['fsck.vfat', 'dosfstools'],
    ['sgdisk', 'gdisk'],
  ] as const)
    await debianProgram(program, debian)
})
afterAll(() => folder[Symbol.asyncDispose]())

/** Copies a partition out of a disk, up to the blocks that are written. */
async function copyOf(disk: string, { offset, length }: { offset: number; length: number }): Promise<string> {
  const path = join(folder.path, `partition-${offset}`)
  await using from = await open(disk)
  await using to = await open(path, 'w')
  await to.truncate(length)
  const { buffer } = await from.read({ buffer: Buffer.alloc(32 * 2 ** 20), position: offset })
  await to.write(buffer)
  return path
}

test('the disk that bootc writes is one to sgdisk, e2fsck, debugfs and fsck.vfat', async () => {
  await using registry = await registryServer()
  putBootable(registry, 'os')
  const file = join(folder.path, 'disk.img')
  await using scene = await stepMachine([testDisk('sda', 4, { backing: { kind: 'file', file } })])
  await scene.run(executeBootcInstall, { image_source: `oci://${registry.host}/os` })
  await scene.machine.setPower('off')
  expect(await tool('sgdisk', '--verify', file)).toMatchObject({
    code: 0,
    stdout: expect.stringContaining('No problems found') as string,
  })
  const { partitions } = await inspectDisk({ path: file }, systemClock())
  const root = await copyOf(
    file,
    partitions.find(({ name }) => name === 'root')!,
  )
  expect(await tool('e2fsck', '-fn', root)).toMatchObject({ code: 0 })
  const motd = await tool('debugfs', '-R', 'ls /ostree/deploy/default/deploy', root)
  expect(motd.stdout).toMatch(/[0-9a-f]{64}\.0\b/)
  const esp = await copyOf(
    file,
    partitions.find(({ name }) => name === 'EFI-SYSTEM')!,
  )
  expect(await tool('fsck.vfat', '-n', esp)).toMatchObject({ code: 0 })
})
