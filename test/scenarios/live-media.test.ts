import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { defined } from '../../base/runtime/index.js'
import { installCoreos, type StagedLab, type StagedNode } from '../../lab/index.js'
import { isExchange, type JsonObject } from '../../base/wire/index.js'
import { configdrive, machineOf } from '../kit/deployed.js'
import { liveServers } from '../kit/live-lab.js'
import { labFolder } from '../kit/restarted-lab.js'

let servers: Awaited<ReturnType<typeof liveServers>>
beforeAll(async () => {
  servers = await liveServers()
})
afterAll(() => servers[Symbol.asyncDispose]())

const MEDIA = { boot_interface: 'redfish-virtual-media' }

async function manageable(lab: StagedLab, fields: JsonObject): Promise<StagedNode> {
  const node = await lab.enroll({ fields })
  await node.provision('manage')
  await node.settled()
  return node
}

const call = (lab: StagedLab, method: string, path: string, body?: object) =>
  lab.transport.send({
    method,
    url: `${lab.url}${path}`,
    headers: { 'content-type': 'application/json', 'x-openstack-ironic-api-version': 'latest' },
    ...defined({ body: body ? JSON.stringify(body) : undefined }),
  })

async function power(lab: StagedLab, node: StagedNode, target: string) {
  await lab.client.power(node.uuid, target)
  await node.until(({ target_power_state: wanted, reservation }) => wanted === null && reservation === null)
  const machine = await machineOf(node)
  while (machine.power() === 'on' && !machine.boot()) await new Promise((resolve) => setImmediate(resolve))
  return machine
}

describe('the medium that somebody attaches', () => {
  test('a machine boots the medium when its next boot device is the CD, and boots nothing after the medium is ejected', async () => {
    await using lab = await servers.lab({ byDefault: false })
    const node = await manageable(lab, { automated_clean: false })
    const { iso } = lab.images!.urls()!
    const attached = await call(lab, 'POST', `/v1/nodes/${node.uuid}/vmedia`, { device_type: 'cdrom', image_url: iso })
    expect(attached.status).toBe(204)
    await node.until(({ reservation }) => reservation === null)
    await power(lab, node, 'power on')
    expect((await machineOf(node)).boot()).toMatchObject({ source: { kind: 'disk' }, outcome: 'no bootable device' })

    const device = { boot_device: 'cdrom', persistent: true }
    expect((await call(lab, 'PUT', `/v1/nodes/${node.uuid}/management/boot_device`, device)).status).toBe(204)
    const machine = await power(lab, node, 'rebooting')
    expect(machine.boot()).toMatchObject({ source: { kind: 'cdrom' }, outcome: 'ramdisk' })
    expect(machine.console()[0]).toBe(`BIOS: booting virtual media ${iso}`)

    await call(lab, 'DELETE', `/v1/nodes/${node.uuid}/vmedia?device_types=cdrom`)
    await node.until(({ reservation }) => reservation === null)
    await power(lab, node, 'rebooting')
    expect(machine.boot()).toMatchObject({ outcome: 'no bootable device' })
    expect(machine.console()).toEqual([])
  })

  test('what Ironic boots by itself shows as inserted, and goes when it is done', async () => {
    await using lab = await servers.lab()
    const node = await manageable(lab, { ...MEDIA, automated_clean: false })
    const silence = lab.faults.add({ match: { node: node.uuid }, effect: { kind: 'agent-silent' } })
    await node.provision('inspect')
    await node.until(({ provision_state: state }) => state === 'inspect wait')
    const inserted = async () =>
      (JSON.parse((await call(lab, 'GET', `/v1/nodes/${node.uuid}/vmedia`)).body!) as { image: string | null }[])[0]!
        .image
    expect(await inserted()).toMatch(/\/nodes\/[\w-]+\/ironic-python-agent\.iso$/)
    silence[Symbol.dispose]()
    await node.settled()
    expect(await inserted()).toBeNull()
  })
})

describe('an instance that runs from an ISO', () => {
  const ramdisk = (boot_iso: string): JsonObject => ({
    ...MEDIA,
    deploy_interface: 'ramdisk',
    automated_clean: false,
    instance_info: { boot_iso },
  })

  test('boots what is there', async () => {
    await using lab = await servers.lab({ byDefault: false })
    const node = await manageable(lab, ramdisk(lab.images!.urls()!.iso!))
    await node.provision('provide')
    await node.settled()
    await node.provision('active')
    expect(await node.settled()).toMatchObject({ provision_state: 'active', last_error: null })
    const machine = await machineOf(node)
    while (!machine.boot()) await new Promise((resolve) => setImmediate(resolve))
    expect(machine.boot()).toMatchObject({ source: { kind: 'iso' }, live: { failure: null } })
  })

  test('does not where there is nothing; Ironic calls it active anyway', async () => {
    await using lab = await servers.lab({ byDefault: false })
    const node = await manageable(lab, ramdisk(`${lab.images!.url}/none.iso`))
    await node.provision('provide')
    await node.settled()
    await node.provision('active')
    expect(await node.settled()).toMatchObject({ provision_state: 'active', last_error: null })
    const machine = await machineOf(node)
    while (!machine.boot()) await new Promise((resolve) => setImmediate(resolve))
    expect(machine.boot()).toMatchObject({ outcome: 'no bootable device' })
  })
})

describe('images of a node', () => {
  test('clients can read them until the node is deleted', async () => {
    await using lab = await servers.lab({ byDefault: false })
    const node = await manageable(lab, { name: 'worker-3' })
    const asked = await call(lab, 'GET', `/_lab/nodes/${node.uuid}/images`)
    expect(asked.status).toBe(200)
    const { iso } = JSON.parse(asked.body!) as { iso: string }
    expect((await fetch(iso, { method: 'HEAD' })).status).toBe(200)
    await lab.client.deleteNode(node.uuid)
    expect((await fetch(iso, { method: 'HEAD' })).status).toBe(404)
    expect((await call(lab, 'GET', `/_lab/nodes/${node.uuid}/images`)).status).toBe(404)
  })

  test('there are none where none are served', async () => {
    await using lab = await servers.lab({ liveImages: undefined } as never)
    const node = await manageable(lab, {})
    expect(JSON.parse((await call(lab, 'GET', `/_lab/nodes/${node.uuid}/images`)).body!)).toEqual({
      error: {
        code: 'no-live-image',
        message: 'no live image is served for node machine-1',
        remedy: 'start ironstage with --live-iso or --live-image',
      },
    })
  })
})

describe("the agent's token", () => {
  /** Collects the tokens that agents receive at their lookups. */
  function issuedTokens(lab: StagedLab): Set<unknown> {
    const tokens = new Set<unknown>()
    lab.probe.attach(async (point, next) => {
      const answer = await next()
      if (isExchange(point) && point.from === 'agent' && point.target.startsWith('/v1/lookup')) {
        const { body = '{}' } = answer as { body?: string }
        tokens.add((JSON.parse(body) as { config?: { agent_token?: string } }).config?.agent_token)
      }
      return answer
    })
    return tokens
  }

  test('comes with the lookup where Ironic cannot write it into the medium', async () => {
    await using lab = await servers.lab()
    const tokens = issuedTokens(lab)
    const node = await manageable(lab, MEDIA)
    await node.provision('provide')
    expect(await node.settled()).toMatchObject({ provision_state: 'available' })
    expect([...tokens]).toEqual([expect.stringMatching(/^[\w-]{43}$/)])
  })

  test('is in the ISO that Ironic builds from kernel and ramdisk, and the lookup never shows it', async () => {
    await using lab = await servers.lab({ byDefault: false })
    const tokens = issuedTokens(lab)
    const { kernel, ramdisk } = lab.images!.oldRamdisk
    const { bmc } = lab.spec(1)
    const driver_info = {
      redfish_address: `http://${bmc!.address}`,
      redfish_system_id: `/redfish/v1/Systems/${bmc!.systemId}`,
      deploy_kernel: kernel,
      deploy_ramdisk: ramdisk,
    }
    const node = await manageable(lab, { ...MEDIA, driver_info })
    await node.provision('provide')
    expect(await node.settled()).toMatchObject({ provision_state: 'available' })
    await node.provision('active', { deploy_steps: [installCoreos()], configdrive })
    expect(await node.settled()).toMatchObject({ provision_state: 'active', last_error: null })
    expect([...tokens]).toEqual(['******'])
    await node.provision('deleted')
    await node.settled()
    const machine = await machineOf(node)
    expect(machine.console().join('\n')).toContain('ipa-agent-token=******')
    expect(machine.console().join('\n')).toContain('boot_method=vmedia')
  })
})

test('a booted machine survives a kill of ironstage: the agent continues, and nothing is fetched or pulled again', async () => {
  await using folder = await labFolder()
  const liveImages = { files: [{ architecture: 'x86_64', iso: servers.iso }], byDefault: true }
  const first = await folder.live({ liveImages })
  const uuid = await first.enroll(first.spec(1), MEDIA)
  const node = first.node(uuid)
  await node.provision('manage')
  await node.settled()
  const killed = first.killedAt(({ kind }) => kind === 'ramdisk-up')
  await node.provision('provide')
  // Its waits never end once this life is over.
  void node.settled().catch(() => {})
  await killed
  const machine = await machineOf(node)
  const { images } = first

  const second = await folder.live({ liveImages })
  const found = second.node(uuid)
  expect(await found.settled()).toMatchObject({ provision_state: 'available', last_error: null })
  const console = (await machineOf(found)).console()
  expect(console.filter((line) => line.includes('Trying to pull'))).toHaveLength(1)
  const earlier = machine.console()
  expect(console.slice(0, earlier.length)).toEqual(earlier)
  // The agent sends its inspection data at each start, and Ironic takes them only of a node under inspection.
  expect(console.slice(earlier.length)).toEqual([expect.stringContaining('Ironic refused the inspection data: 404')])
  const path = (url: string) => new URL(url).pathname
  expect(path(second.images!.publish(uuid)!.iso!)).toBe(path(images!.publish(uuid)!.iso!))
})
