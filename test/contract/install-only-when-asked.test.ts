import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { readFile, stat } from 'node:fs/promises'
import { expect, test } from 'vitest'
import { createStagedLab, installCoreos, type StagedLab, type StagedNode } from '../../lab/index.js'
import { IMAGE, ignition, imageServer, machineOf } from '../kit/deployed.js'

/** Records the programs and disk writes of a machine from now on. */
function watched(lab: StagedLab): { programs: string[]; writes: number } & Disposable {
  const touched = { programs: [] as string[], writes: 0 }
  const watching = lab.probe.attach((point, next) => {
    if (point.kind === 'command') touched.programs.push((point['argv'] as string[])[0]!)
    if (point.kind === 'disk-write') touched.writes++
    return next()
  })
  return Object.assign(touched, { [Symbol.dispose]: () => watching[Symbol.dispose]() })
}

/** All that the image covers, and how much of the rest there is: hashing gigabytes of holes says no more. */
async function contents(node: StagedNode): Promise<{ digest: string; blocks: number; written: number }> {
  const file = (await (await machineOf(node)).diskFile('sda'))!
  const hash = createHash('sha256')
  for await (const chunk of createReadStream(file, { end: 64 * 2 ** 20 })) hash.update(chunk as Buffer)
  const { blocks, mtimeMs } = await stat(file)
  return { digest: hash.digest('hex'), blocks, written: mtimeMs }
}

/** A node with real bytes on its disk, installed once. */
async function installed(lab: StagedLab, image_source: string): Promise<StagedNode> {
  const node = await lab.enroll({
    deploySteps: [installCoreos({ ignition })],
    fields: { automated_clean: false, instance_info: { image_source } },
  })
  await node.deploy()
  expect(await node.settled()).toMatchObject({ provision_state: 'active' })
  return node
}

test.each([
  ['rebuild', ['rebuild']],
  ['active, after an undeployment that cleans nothing', ['deleted', 'active']],
])('%s without deploy steps installs nothing and leaves the disk as it is', async (_, verbs) => {
  await using server = await imageServer({ '/coreos.raw.xz': await readFile(IMAGE) })
  await using lab = await createStagedLab({ disks: 'file' })
  using asked = watched(lab)
  const node = await installed(lab, server.url('/coreos.raw.xz'))
  expect(asked.programs).toContain('coreos-installer')
  expect(asked.writes).toBeGreaterThan(0)
  const before = await contents(node)

  using touched = watched(lab)
  for (const target of verbs) {
    await node.provision(target)
    await node.settled()
  }

  expect(await node.get()).toMatchObject({ provision_state: 'active', last_error: null, deploy_step: {} })
  // The ramdisk was booted and did look around.
  expect(touched.programs).toContain('lsblk')
  expect(touched.programs).not.toContain('coreos-installer')
  expect(touched.writes).toBe(0)
  expect(await contents(node)).toEqual(before)
})
