import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { StageOptions } from '../../../lab/index.js'
import type { Machine } from '../../../machine/index.js'
import { liveVersion } from '../../../machine/live/live-version.js'
import { machineOf } from '../../kit/deployed.js'
import { liveServers } from '../../kit/live-lab.js'
import { labFolder } from '../../kit/restarted-lab.js'
import { versionedIso } from '../../kit/images/versioned-images.js'

const A = '38.20230718.3.0'
const B = '39.20240101.3.0'
let folder: string
const isos: Record<string, string> = {}
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'ironstage-test-'))
  for (const version of [A, B]) await writeFile((isos[version] = join(folder, `${version}.iso`)), versionedIso(version))
})
afterAll(() => rm(folder, { recursive: true, force: true }))

/** A stage of which hosts that are not provisioned stay on in their deploy image, which it serves itself. */
const serving = (version: string): Partial<StageOptions> => ({
  liveImages: { files: [{ architecture: 'x86_64', iso: isos[version]! }], byDefault: true },
  conf: { fastTrack: true },
})

const MEDIA = { boot_interface: 'redfish-virtual-media' }

async function up(machine: Machine): Promise<void> {
  while (machine.power() === 'on' && !machine.boot()) await delay(5)
}

const running = (machine: Machine): string | null => liveVersion(machine.boot()?.live?.kernelArguments ?? '')

describe('row 9: images of the old kind are deployed through either deploy image', () => {
  test('through CoreOS, through the old kernel and ramdisk that a node is given, and back', async () => {
    await using servers = await liveServers()
    await using lab = await servers.lab()
    const fields = { boot_interface: 'ipxe', deploy_interface: 'direct' }
    const node = await lab.enroll({ fields })
    const { kernel, ramdisk } = lab.images!.oldRamdisk
    const through = async (): Promise<string> => {
      // A new instance replaces the image of the previous one.
      const value = servers.instance('/disk.qcow2')
      await lab.client.patchNode(node.uuid, [{ op: 'add', path: '/instance_info', value }])
      await node.deploy()
      expect(await node.settled()).toMatchObject({ provision_state: 'active', last_error: null })
      const machine = await machineOf(node)
      await up(machine)
      expect(machine.boot()).toMatchObject({ outcome: 'disk' })
      await node.provision('deleted')
      await node.until(({ provision_state: state }) => state === 'available')
      return booted.splice(0).join('\n')
    }
    const booted: string[] = []
    lab.probe.attach((point, next) => {
      if (point.kind === 'console') booted.push(String(point['line']))
      return next()
    })
    expect(await through()).toContain('ironic-agent.service')
    await lab.client.patchNode(node.uuid, [
      { op: 'add', path: '/driver_info/deploy_kernel', value: kernel },
      { op: 'add', path: '/driver_info/deploy_ramdisk', value: ramdisk },
    ])
    expect(await through()).toContain('the ramdisk is not CoreOS')
    for (const name of ['deploy_kernel', 'deploy_ramdisk'])
      await lab.client.patchNode(node.uuid, [{ op: 'remove', path: `/driver_info/${name}` }])
    const again = await through()
    expect(again).toContain('ironic-agent.service')
    expect(again).not.toContain('the ramdisk is not CoreOS')
  })
})

describe('hardware that only a newer image supports', () => {
  test('cannot be inspected with A, and can once B is served', async () => {
    await using cluster = await labFolder()
    const before = await cluster.live(serving(A))
    const uuid = await before.wait(before.enroll({ ...before.spec(1), supportedSince: B }, MEDIA))
    const node = before.node(uuid)
    await node.provision('manage')
    await node.settled()
    await node.provision('inspect')
    expect(await node.settled()).toMatchObject({ provision_state: 'inspect failed' })
    expect((await machineOf(node)).console().at(-1)).toBe(
      `no driver for the network controllers in ${A}: they are supported since ${B}`,
    )
    await before[Symbol.asyncDispose]()

    const after = await cluster.live(serving(B))
    const again = after.node(uuid)
    await again.provision('inspect')
    expect(await again.settled()).toMatchObject({ provision_state: 'manageable', last_error: null })
    expect(running(await machineOf(again))).toBe(B)
  })
})
