import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { installCoreos, type StagedNode, type StageOptions } from '../../../lab/index.js'
import { minutes } from '../../../runtime/index.js'
import { rebootUnprovisioned } from '../../kit/cluster/unprovisioned-hosts.js'
import type { Machine } from '../../../machine/index.js'
import { liveVersion } from '../../../machine/live/live-version.js'
import { behindImagesGate } from '../../kit/cluster/images-gate.js'
import { machineOf } from '../../kit/deployed.js'
import { liveServers } from '../../kit/live-lab.js'
import { labFolder, type Life } from '../../kit/restarted-lab.js'
import { versionedIso } from '../../kit/images/versioned-images.js'

const [A, B] = ['38.20230718.3.0', '39.20240101.3.0']
let folder: string
const isos: Record<string, string> = {}
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'ironstage-test-'))
  for (const version of [A, B]) await writeFile((isos[version] = join(folder, `${version}.iso`)), versionedIso(version))
})
afterAll(() => rm(folder, { recursive: true, force: true }))

/** A stage of which hosts that are not provisioned stay on in their deploy image, which it serves itself. */
const serving = (version: string, more: Partial<StageOptions> = {}): Partial<StageOptions> => ({
  liveImages: { files: [{ architecture: 'x86_64', iso: isos[version]! }], byDefault: true },
  policy: { fastTrack: true },
  ...more,
})

const MEDIA = { boot_interface: 'redfish-virtual-media' }

async function enrolled(life: Life, number: number, state: 'manageable' | 'available' | 'active'): Promise<StagedNode> {
  const uuid = await life.wait(life.enroll(life.spec(number), MEDIA))
  const node = life.node(uuid, { deploySteps: [installCoreos({ ignition: { ignition: { version: '3.4.0' } } })] })
  if (state === 'manageable') {
    await node.provision('manage')
    await node.settled()
    await node.provision('inspect')
  } else if (state === 'available') await node.makeAvailable()
  else await node.deploy()
  expect(await node.settled()).toMatchObject({ provision_state: state, last_error: null })
  await up(await machineOf(node))
  return node
}

async function up(machine: Machine): Promise<void> {
  while (machine.power() === 'on' && !machine.boot()) await delay(5)
}

const running = (machine: Machine): string | null => liveVersion(machine.boot()?.live?.kernelArguments ?? '')

describe('row 7: image B is published, the image service is updated before Ironic, and Ironic is restarted', () => {
  test('hosts that are on in the deploy image are rebooted into B, others boot B next, active ones stay', async () => {
    await using disconnected = await labFolder()
    const before = await disconnected.live(serving(A))
    const waiting = await enrolled(before, 1, 'available')
    const inspected = await enrolled(before, 2, 'manageable')
    const inUse = await enrolled(before, 3, 'active')
    const off = await enrolled(before, 4, 'available')
    await off.settled()
    await before.client.power(off.uuid, 'power off')
    await off.until(({ power_state: power }) => power === 'power off')
    for (const node of [waiting, inspected]) expect(running(await machineOf(node))).toBe(A)
    const bootOfInUse = (await machineOf(inUse)).boot()!
    expect(bootOfInUse).toMatchObject({ outcome: 'disk' })
    await before[Symbol.asyncDispose]()

    const after = await disconnected.live(serving(B, behindImagesGate({ version: B, patience: 0 })))
    const again = ({ uuid }: StagedNode) => after.node(uuid)
    expect((await rebootUnprovisioned(after.client)).sort()).toEqual([waiting.uuid, inspected.uuid].sort())
    for (const node of [waiting, inspected].map(again)) {
      await node.settled()
      const machine = await machineOf(node)
      await up(machine)
      expect(running(machine)).toBe(B)
      // All that it booted came from the lab's own image service: nothing is fetched from outside.
      expect(machine.console().filter((line) => /https?:/.test(line) && !line.includes('//127.0.0.1:'))).toEqual([])
    }
    const machine = await machineOf(again(inUse))
    expect(machine.boot()).toMatchObject({ id: bootOfInUse.id, outcome: 'disk' })
    expect(await again(inUse).get()).toMatchObject({ provision_state: 'active' })

    const sleeper = await machineOf(again(off))
    expect(sleeper.power()).toBe('off')
    await after.client.power(off.uuid, 'power on')
    await again(off).settled()
    await up(sleeper)
    expect(running(sleeper)).toBe(B)
  })
})

describe('row 8: the conductor starts only once the image service reports the new version', () => {
  test('an image service that still has A: the start is refused, and says which is which', async () => {
    await using cluster = await labFolder()
    await expect(cluster.live(serving(A, behindImagesGate({ version: B, patience: 0 })))).rejects.toMatchObject({
      code: 'images-outdated',
      message: expect.stringMatching(`hands out ${A}, and the release wants ${B}`),
    })
  })

  test('an image service that is not there is no reason to start either', async () => {
    await using cluster = await labFolder()
    const gate = { version: B, patience: 0, iso: 'http://127.0.0.1:9/live.iso' }
    await expect(cluster.live(behindImagesGate(gate))).rejects.toMatchObject({
      code: 'images-outdated',
      message: expect.stringContaining('does not hand out a live ISO'),
    })
  })

  test('a newer one is as good', async () => {
    await using cluster = await labFolder()
    const life = await cluster.live(serving(B, behindImagesGate({ version: A, patience: minutes(1) })))
    expect(await life.client.nodes()).toEqual([])
  })

  test('the wrong order, with no gate: what Ironic reboots boots the old image once more', async () => {
    await using cluster = await labFolder()
    const before = await cluster.live(serving(A))
    const node = await enrolled(before, 1, 'available')
    await before[Symbol.asyncDispose]()

    const tooEarly = await cluster.live(serving(A))
    expect(await rebootUnprovisioned(tooEarly.client)).toEqual([node.uuid])
    const again = tooEarly.node(node.uuid)
    await again.settled()
    const machine = await machineOf(again)
    await up(machine)
    expect(running(machine)).toBe(A)
  })
})

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
    expect(await through()).toContain('the ramdisk is none of CoreOS')
    for (const name of ['deploy_kernel', 'deploy_ramdisk'])
      await lab.client.patchNode(node.uuid, [{ op: 'remove', path: `/driver_info/${name}` }])
    const again = await through()
    expect(again).toContain('ironic-agent.service')
    expect(again).not.toContain('the ramdisk is none of CoreOS')
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
