import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { IGNITION_FILE, openLiveIso } from '../../../../coreos/index.js'
import { liveVersion } from '../../../../machine/index.js'
import { bootNetwork } from '../../../../lab/stage/stage-boot-network.js'
import { minutes, temporaryFolder, type TemporaryFolder } from '../../../../base/runtime/index.js'
import { clusterScene } from '../../../../test/kit/cluster/cluster-scene.js'
import { linkedImages } from '../../../../test/kit/cluster/machine-os-folder.js'
import { conditionOf } from '../../../../base/kubernetes/conditions.js'
import type { PreprovisioningImage } from '../../../../base/kubernetes/kinds/metal3-kinds.js'
import type { ImageSite } from './host-images.js'
import * as behaviours from './image-behaviours.js'
import * as controller from './image-customization-controller.js'

const NAMESPACE = 'openshift-machine-api'
const BEHAVIOURS = Object.values(behaviours)
const NMSTATE = `
interfaces:
  - name: eno1
    type: ethernet
    ipv4: { enabled: true, address: [{ ip: 192.0.2.7, prefix-length: 24 }] }
dns-resolver: { config: { server: [192.0.2.1] } }
routes: { config: [{ destination: 0.0.0.0/0, next-hop-address: 192.0.2.1, next-hop-interface: eno1 }] }
`

let folder: TemporaryFolder
let images: string
beforeAll(async () => {
  folder = await temporaryFolder()
  images = await linkedImages(folder.path, { 9: '38.20230718.3.0' })
})
afterAll(() => folder[Symbol.asyncDispose]())

let scene: ReturnType<typeof clusterScene>
let running: controller.ImageCustomizationController | undefined
let port = 0
const open = (without: string[] = []) => (scene = clusterScene({ all: BEHAVIOURS, without, as: 'today' }))
beforeEach(() => open())
afterEach(() => stop())

async function start(from = images, site: ImageSite = {}): Promise<void> {
  const settings = { ironicUrl: 'http://192.0.2.2:6385', agentImage: 'quay.io/x/agent@sha256:1', port }
  running = await controller.runImageCustomizationController({ ...scene.parts, ...settings, site, images: from })
  port = running.port
}

async function stop(): Promise<void> {
  await running?.[Symbol.asyncDispose]()
  running = undefined
}

const create = (spec: PreprovisioningImage['spec'], name = 'worker-0') =>
  scene.kube.create<'PreprovisioningImage'>({
    apiVersion: 'metal3.io/v1alpha1',
    kind: 'PreprovisioningImage',
    metadata: { name, namespace: NAMESPACE },
    spec,
  })

const until = (holds: (image: PreprovisioningImage) => boolean, name = 'worker-0') =>
  scene.until('PreprovisioningImage', name, holds)
const isReady = ({ status }: PreprovisioningImage): boolean =>
  conditionOf(status?.conditions, 'Ready')?.status === 'True'
const failsBecause =
  (why: string) =>
  ({ status }: PreprovisioningImage): boolean =>
    conditionOf(status?.conditions, 'Error')?.message === why

/** The Ignition config in an ISO, read as a BMC reads it. */
async function embedded(url: string): Promise<string> {
  const source = await bootNetwork({ clock: scene.clock }).open(url, { signal: new AbortController().signal })
  const { files } = await openLiveIso(source, scene.clock)
  return Buffer.from(files.get(IGNITION_FILE)!).toString()
}

async function bootedVersion(url: string): Promise<string | null> {
  const source = await bootNetwork({ clock: scene.clock }).open(url, { signal: new AbortController().signal })
  return liveVersion((await openLiveIso(source, scene.clock)).kargs?.default ?? '')
}

describe('the image of a host', () => {
  test('is the live ISO with the agent, its Ironic and the name of the host', async () => {
    await start()
    await create({ architecture: 'x86_64', acceptFormats: ['iso', 'initrd'] })
    const { status, metadata } = await until(isReady)
    expect(metadata.finalizers).toEqual(['preprovisioningimage.metal3.io'])
    expect(status).toMatchObject({ architecture: 'x86_64', format: 'iso' })
    expect(status!.conditions).toMatchObject([
      { type: 'Ready', status: 'True', reason: 'ImageSuccess', message: 'Generated image' },
      { type: 'Error', status: 'False', reason: 'ImageSuccess', message: '' },
    ])
    const config = await embedded(status!.imageUrl!)
    expect(config).toContain('ironic-agent.service')
    expect(config).toContain('quay.io/x/agent@sha256:1')
    expect(config).toContain('IPA_DEFAULT_HOSTNAME=worker-0')
  })

  test('follows the settings of its environment, and a wrong one is the error of the host', async () => {
    const key = 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJ3+0sL4uQp1zL0m1m9yQ9a1oR1n4Zq0y3m0bM7tQyJr me@lab'
    const proxies = { http: 'http://proxy.lab:3128', https: 'http://proxy.lab:3128', no: '.lab' }
    const pullSecret = Buffer.from('{"auths":{"quay.io":{"auth":"YTpi"}}}').toString('base64')
    await start(images, {
      ntpServers: ['ntp.lab', '192.0.2.9'],
      ipOptions: 'ip=dhcp6',
      sshKeys: [key],
      proxies,
      pullSecret,
    })
    await create({ acceptFormats: ['iso'] })
    const { status } = await until(isReady)
    const config = JSON.parse(await embedded(status!.imageUrl!)) as {
      passwd: unknown
      storage: { files: { path: string; append?: { source: string }[]; contents?: { source: string } }[] }
      systemd: { units: { contents: string }[] }
    }
    expect(config.passwd).toEqual({ users: [{ name: 'core', sshAuthorizedKeys: [key] }] })
    const file = (path: string) => config.storage.files.find((one) => one.path === path)
    expect(decodeURIComponent(file('/etc/chrony.conf')!.append![0]!.source)).toContain(
      'server ntp.lab iburst\nserver 192.0.2.9 iburst',
    )
    expect(file('/etc/authfile.json')).toBeDefined()
    const [{ contents } = { contents: '' }] = config.systemd.units
    for (const text of [
      'HTTP_PROXY=http://proxy.lab:3128',
      'NO_PROXY=.lab',
      'IPA_COREOS_IP_OPTIONS=ip=dhcp6',
      '--authfile=',
    ])
      expect(contents).toContain(text)

    await stop()
    open()
    await start(images, { sshKeys: ['-----BEGIN OPENSSH PRIVATE KEY-----'] })
    await create({ acceptFormats: ['iso'] })
    await until(failsBecause('an SSH key (not shown) is not a public key'))
  })

  test('is of the first format that the host accepts', async () => {
    await start()
    await create({ acceptFormats: ['initrd'] })
    const { status } = await until(isReady)
    expect(status).toMatchObject({
      format: 'initrd',
      imageUrl: expect.stringMatching(/initramfs$/),
      kernelUrl: expect.stringMatching(/kernel$/),
      extraKernelParams: expect.stringContaining('coreos.live.rootfs_url='),
    })
  })

  test('has the network settings of its secret, and is made again when they change', async () => {
    await start()
    await create({ acceptFormats: ['iso'], networkDataName: 'network' })
    await until(failsBecause('NetworkData secret not found'))
    const at = { name: 'network', namespace: NAMESPACE }
    await scene.clock.until(scene.clock.sleep(minutes(3)))
    await scene.kube.create({ apiVersion: 'v1', kind: 'Secret', metadata: at, stringData: { nmstate: NMSTATE } })
    const first = await until(isReady)
    expect(first.status!.networkData).toMatchObject({ name: 'network' })
    const config = await embedded(first.status!.imageUrl!)
    expect(config).toContain('/etc/NetworkManager/system-connections/eno1.nmconnection')
    await scene.kube.patch('Secret', at, { stringData: { nmstate: NMSTATE.replace('192.0.2.7', '192.0.2.8') } })
    const version = first.status!.networkData!.version
    const second = await until((image) => isReady(image) && image.status!.networkData!.version !== version)
    expect(await embedded(second.status!.imageUrl!)).not.toBe(config)
    await expect(embedded(first.status!.imageUrl!)).rejects.toThrow('404')
  })

  test.each([
    ['an architecture that the release has no image of', { architecture: 's390x' }, 'Architecture not supported'],
    ['no format', { acceptFormats: [] }, 'No acceptable image format supported'],
  ])('cannot be made for %s', async (_, spec, why) => {
    await start()
    await create({ acceptFormats: ['iso'], ...spec })
    const { status } = await until(failsBecause(why))
    expect(conditionOf(status!.conditions, 'Error')).toMatchObject({ status: 'True', reason: 'ConfigurationError' })
    expect(status!.imageUrl).toBeUndefined()
  })

  test.each([
    [{ other: 'x' }, "network data Secret provided but missing required 'nmstate' key"],
    [{ nmstate: '{}' }, 'no network configuration'],
  ])('cannot be made with the network settings %j', async (stringData, why) => {
    await start()
    await scene.kube.create({
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name: 'network', namespace: NAMESPACE },
      stringData: stringData as Record<string, string>,
    })
    await create({ acceptFormats: ['iso'], networkDataName: 'network' })
    const { status } = await until(failsBecause(why))
    expect(conditionOf(status!.conditions, 'Error')).toMatchObject({ reason: 'ImageBuildInvalid' })
  })

  test('is of the stream that it is labelled with, and another one under a new URL once the label changes', async () => {
    await start(await linkedImages(folder.path, { 9: '9.8.20260820-0', 10: '10.2.20260820-0' }))
    await create({ acceptFormats: ['iso'], architecture: 'x86_64' })
    const first = await until(isReady)
    expect(await bootedVersion(first.status!.imageUrl!)).toBe('9.8.20260820-0')
    const at = { name: 'worker-0', namespace: NAMESPACE }
    await scene.kube.patch('PreprovisioningImage', at, {
      metadata: { labels: { 'coreos.openshift.io/stream': 'rhel-10' } },
    })
    const seen: (string | undefined)[] = []
    const second = await until((image) => {
      seen.push(conditionOf(image.status?.conditions, 'Ready')?.status)
      return image.status!.imageUrl !== first.status!.imageUrl
    })
    expect(seen.every((status) => status === 'True')).toBe(true)
    expect(await bootedVersion(second.status!.imageUrl!)).toBe('10.2.20260820-0')
  })

  test('goes with its object', async () => {
    await start()
    await create({ acceptFormats: ['iso'] })
    const { status } = await until(isReady)
    await scene.kube.delete('PreprovisioningImage', { name: 'worker-0', namespace: NAMESPACE })
    await scene.clock.until(scene.clock.sleep(1000))
    expect((await scene.kube.list('PreprovisioningImage')).items).toEqual([])
    await expect(embedded(status!.imageUrl!)).rejects.toThrow('404')
  })
})

describe('a new pod', () => {
  test('makes all images again, under new URLs, of the ISO that is there now', async () => {
    await start()
    await create({ acceptFormats: ['iso'] })
    const before = (await until(isReady)).status!.imageUrl!
    await stop()
    await start(await linkedImages(folder.path, { 9: '39.20240101.3.0' }))
    const after = (await until(({ status }) => status!.imageUrl !== before)).status!.imageUrl!
    expect(new URL(after).origin).toBe(new URL(before).origin)
    await expect(embedded(before)).rejects.toThrow('404')
    expect(await embedded(after)).toContain('ironic-agent.service')
  })

  test('without any ISO supports no architecture', async () => {
    const empty = await temporaryFolder()
    await start(empty.path)
    await create({ acceptFormats: ['iso'] })
    expect(await until(failsBecause('Architecture not supported'))).toBeDefined()
    await empty[Symbol.asyncDispose]()
  })
})

describe('without a behaviour', () => {
  test('icc/embeds-the-agent: no agent is in the image', async () => {
    open(['icc/embeds-the-agent'])
    await start()
    await create({ acceptFormats: ['iso'] })
    expect(await embedded((await until(isReady)).status!.imageUrl!)).not.toContain('ironic-agent')
  })

  test('icc/makes-an-image-for-each-host: two hosts have one image', async () => {
    open(['icc/makes-an-image-for-each-host'])
    await start()
    for (const name of ['worker-0', 'worker-1']) await create({ acceptFormats: ['iso'] }, name)
    const one = await until(isReady, 'worker-0')
    const other = await until(isReady, 'worker-1')
    expect(one.status!.imageUrl).toBe(other.status!.imageUrl)
  })

  test('icc/remakes-images: the URLs of before stay, and lead nowhere', async () => {
    open(['icc/remakes-images'])
    await start()
    await create({ acceptFormats: ['iso'] })
    const before = (await until(isReady)).status!.imageUrl!
    await stop()
    await start()
    await scene.clock.until(scene.clock.sleep(minutes(10)))
    const { status } = await until(isReady)
    expect(status!.imageUrl).toBe(before)
    await expect(embedded(before)).rejects.toThrow('404')
  })
})
