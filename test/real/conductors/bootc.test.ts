import { afterAll, beforeAll, expect, test } from 'vitest'
import { bootableContainer } from '../../../coreos/index.js'
import { parsePlace, putImage } from '../../../base/registry/index.js'
import { createStagedLab } from '../../../lab/index.js'
import { qcow2Image } from '../../../machine/making/qcow2-image.js'
import { configdrive, machineOf } from '../../kit/deployed.js'
import { rehearsalImage } from '../../kit/images/rehearsal-image.js'
import { images, signal } from '../../kit/registry/images.js'
import { pushArtifact } from '../../kit/registry/push-artifact.js'
import { dockerRegistry, type DockerRegistry } from '../docker-registry.js'
import { realIronic, type RealIronic } from '../ironic.js'
import { debianProgram } from '../peers.js'
import { availableNode, type RealNode } from '../real-node.js'

/** Milliseconds with a cold cache, minutes of which are the installation of peers. */
const INSTALLATION = 900_000

/** Fake management knows no boot device but the network; Ironic leaves the choice to the firmware on Lenovo's by UEFI. */
const PROPERTIES = { vendor: 'Lenovo', cpu_arch: 'x86_64' }
const VERSION = '44.20260707.3.1'

let registry: DockerRegistry
let ironic: RealIronic
let digest: string

beforeAll(async () => {
  await debianProgram('xorrisofs', 'xorriso')
  registry = await dockerRegistry()
  const architectures = ['x86_64', 'aarch64']
  const created = '2026-01-01T00:00:00Z'
  const made = bootableContainer({ name: 'fcos', version: VERSION, architectures, created, comment: 'a test' })
  await putImage(made, { sink: images().sink(parsePlace(`${registry.host}/os:1`)), tag: '1', signal })
  digest = made.digest
  const disk = qcow2Image(await rehearsalImage(), { compressed: true })
  await pushArtifact(images(), `${registry.host}/disk:latest`, 'qcow2', disk)
  ironic = await realIronic({
    DEFAULT: { enabled_deploy_interfaces: 'custom-agent,direct,bootc,autodetect,ramdisk,fake' },
    oci: { permit_fallback_to_http_transport: 'True' },
  })
}, INSTALLATION)
afterAll(async () => {
  await ironic?.[Symbol.asyncDispose]()
  await registry?.[Symbol.asyncDispose]()
})

async function deploy(node: RealNode, image: Record<string, unknown>, fields: Record<string, unknown> = {}) {
  const patch = [{ op: 'add', path: '/instance_info', value: image }]
  expect(await node.send('PATCH', `/v1/nodes/${node.uuid}`, patch)).toMatchObject({ status: 200 })
  await node.provision('active', fields)
}

/** The step that an agent was sent. */
const bootcStep = ({ seen }: RealNode) =>
  seen
    .flatMap(({ from, method, request }) => (from === 'ironic' && method === 'POST' ? [request] : []))
    .map((request) => (request as { params?: { step?: { step?: string } } }).params?.step)
    .find((step) => step?.step === 'execute_bootc_install')

test.each(['bootc', 'autodetect'])('a real conductor deploys a container of a real registry by %s', async (by) => {
  await using node = await availableNode(ironic, `bootc-${by}`, { deploy_interface: by, properties: PROPERTIES })
  const source = `oci://${registry.host}/os:1`
  await deploy(node, { image_source: source, image_pull_secret: 'bWU6c2VjcmV0' }, { configdrive })
  const active = await node.settled('active')
  expect(active).toMatchObject({ deploy_interface: 'bootc', last_error: null })
  const step = bootcStep(node)
  const oci_pull_secret = Buffer.from('bWU6c2VjcmV0').toString('base64')
  expect(step).toMatchObject({ interface: 'deploy', args: { image_source: source, oci_pull_secret } })
  const { machine } = node.agent
  await expect.poll(() => machine.firstBoot(), { timeout: 60_000 }).toBeDefined()
  const image = `${registry.host}/os@${digest}`
  expect(machine.firstBoot()).toMatchObject({ hostname: 'worker-0', failure: null, container: { image } })
  expect(machine.os()).toMatchObject({ booted: { image, version: VERSION } })

  // The same from our conductor, but for the config drive, which each makes its own.
  await using lab = await createStagedLab({ conf: { ociPermitsHttp: true } })
  const instance_info = { image_source: source, image_pull_secret: 'bWU6c2VjcmV0' }
  const own = await lab.enroll({ fields: { automated_clean: false, deploy_interface: by, instance_info } })
  await own.makeAvailable()
  await own.provision('active', { configdrive })
  expect(await own.settled()).toMatchObject({ provision_state: 'active', deploy_interface: 'bootc' })
  expect((await machineOf(own)).os()).toMatchObject({ booted: { image } })
})

test('a real conductor tells of a container that the registry does not have', async () => {
  await using node = await availableNode(ironic, 'bootc-none', { deploy_interface: 'bootc', properties: PROPERTIES })
  await deploy(node, { image_source: `oci://${registry.host}/none` })
  const { last_error: error } = await node.settled('deploy failed')
  await using lab = await createStagedLab({ conf: { ociPermitsHttp: true } })
  const instance_info = { image_source: `oci://${registry.host}/none` }
  const own = await lab.enroll({ fields: { automated_clean: false, deploy_interface: 'bootc', instance_info } })
  await own.makeAvailable()
  await own.provision('active')
  const failed = await own.settled()
  expect(failed.provision_state).toBe('deploy failed')
  expect(failed.last_error!.replaceAll(own.uuid, 'UUID')).toBe(error!.replaceAll(node.uuid, 'UUID'))
})

test('an artifact of a real registry is deployed by direct, from a real conductor and from ours', async () => {
  const image_source = `oci://${registry.host}/disk`
  await using node = await availableNode(ironic, 'oci-direct', { deploy_interface: 'direct', properties: PROPERTIES })
  await deploy(node, { image_source })
  const real = await node.settled('active')
  await using lab = await createStagedLab({ disks: 'file', conf: { ociPermitsHttp: true } })
  const fields = {
    automated_clean: false,
    deploy_interface: 'direct',
    properties: PROPERTIES,
    instance_info: { image_source },
  }
  const own = await lab.enroll({ fields })
  await own.makeAvailable()
  await own.provision('active')
  const active = await own.settled()
  expect(active).toMatchObject({ provision_state: 'active', last_error: null })
  expect(active.instance_info).toEqual(real.instance_info)
})
