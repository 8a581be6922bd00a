import { describe, expect, test } from 'vitest'
import { defined } from '../../../../base/runtime/index.js'
import { ScriptedLab } from '../../../../test/kit/conductor/scripted-lab.js'
import type { JsonObject, NodeRecord } from '../../../../base/wire/index.js'
import { deployImages, ramdiskSource } from './deploy-images.js'
import { UPSTREAM_CONF, type ConductorConf } from '../../core/conductor-conf.js'
import { NodeTask } from '../../core/node-task.js'

const FETCHED = { fetchBootImages: true }
const API = 'ipa-api-url=http://ironic.test:6385'

/** Boot source of a node's machine for inspection. */
async function bootedFrom(fields: JsonObject, conf: Partial<ConductorConf> = {}) {
  const lab = await ScriptedLab.open({ conf: { ...FETCHED, ...conf } })
  const { uuid, machine } = await lab.enroll(fields, '52:54:00:00:00:01')
  await lab.provision(uuid, 'manage', 'manageable')
  await lab.provision(uuid, 'inspect', 'inspect wait')
  const { driver_internal_info: info } = (await lab.store.node(uuid))!.node
  return { source: machine.source, info }
}

const MEDIA = { boot_interface: 'redfish-virtual-media' }
const PXE = { boot_interface: 'ipxe' }
const address = { redfish_address: 'http://bmc-525400000001' }
const own = (driver_info: JsonObject): JsonObject => ({ driver_info: { ...address, ...driver_info } })
const INSPECTION = 'ipa-inspection-callback-url=http://ironic.test:6385/v1/continue_inspection'

describe('a node of its own images', () => {
  test('virtual media: an ISO is taken as it is, without parameters and without a token', async () => {
    const { source, info } = await bootedFrom({ ...MEDIA, ...own({ deploy_iso: 'http://h/live.iso' }) })
    expect(source).toEqual({ kind: 'iso', url: 'http://h/live.iso' })
    expect(info).not.toHaveProperty('agent_secret_token')
  })

  test('virtual media: kernel and ramdisk become an ISO with parameters and the token of the agent', async () => {
    const images = { deploy_kernel: 'http://h/k', deploy_ramdisk: 'http://h/r' }
    const { source, info } = await bootedFrom({ ...MEDIA, ...own(images) })
    const token = info.agent_secret_token as string
    expect(token).toMatch(/^[\w-]{43}$/)
    expect(info.agent_secret_token_pregenerated).toBe(true)
    expect(source).toEqual({
      kind: 'pxe',
      kernel: 'http://h/k',
      ramdisk: 'http://h/r',
      append: `nofb vga=normal ${API} ${INSPECTION} ipa-agent-token=${token} boot_method=vmedia`,
    })
  })

  test('network: the parameters are on the command line for all to read, so there is no token in them', async () => {
    const images = { deploy_kernel: 'http://h/k', deploy_ramdisk: 'http://h/r', deploy_iso: 'http://h/live.iso' }
    const { source, info } = await bootedFrom({ ...PXE, ...own(images) })
    expect(source).toEqual({
      kind: 'pxe',
      kernel: 'http://h/k',
      ramdisk: 'http://h/r',
      append: `nofb vga=normal ${API} ${INSPECTION}`,
    })
    expect(info).not.toHaveProperty('agent_secret_token')
  })

  test.each<[string, JsonObject, string]>([
    ['instead of the configured ones', { kernel_append_params: 'console=ttyS0' }, 'console=ttyS0'],
    ['and the configured ones', { kernel_append_params: '%default% quiet' }, 'nofb vga=normal quiet'],
    ['by their old name', { pxe_append_params: 'quiet' }, 'quiet'],
  ])('its own kernel parameters %s', async (_, params, expected) => {
    const images = { deploy_kernel: 'http://h/k', deploy_ramdisk: 'http://h/r' }
    const { source } = await bootedFrom({ ...PXE, ...own({ ...images, ...params }) })
    expect(source).toMatchObject({ append: `${expected} ${API} ${INSPECTION}` })
  })
})

describe('configured images', () => {
  const configured = {
    deployIso: 'http://h/all.iso',
    deployKernel: 'http://h/k',
    deployRamdisk: 'http://h/r',
    deployKernelByArch: { aarch64: 'http://h/k64' },
    deployRamdiskByArch: { aarch64: 'http://h/r64' },
  }

  test.each<[string, JsonObject, Partial<ConductorConf>, object]>([
    ['an ISO for virtual media', MEDIA, configured, { kind: 'iso', url: 'http://h/all.iso' }],
    ['kernel and ramdisk for the network', PXE, configured, { kind: 'pxe', kernel: 'http://h/k' }],
    [
      'those of an architecture',
      { ...PXE, properties: { cpu_arch: 'aarch64' } },
      configured,
      { kind: 'pxe', kernel: 'http://h/k64', ramdisk: 'http://h/r64' },
    ],
    ['nothing: the ramdisk of the lab', PXE, {}, { kind: 'ramdisk' }],
    ['a kernel without a ramdisk', { ...PXE, ...own({ deploy_kernel: 'http://h/k' }) }, {}, { kind: 'ramdisk' }],
    [
      'nothing is fetched unless it is to be',
      { ...MEDIA, ...own({ deploy_iso: 'http://h/live.iso' }) },
      { ...configured, fetchBootImages: false },
      { kind: 'ramdisk' },
    ],
  ])('%s', async (_, fields, conf, source) => {
    expect((await bootedFrom(fields, conf)).source).toMatchObject(source)
  })
})

describe('who goes first', () => {
  const task = (fields: Partial<NodeRecord>, served = true): NodeTask =>
    new NodeTask({
      node: {
        uuid: 'n',
        provision_state: 'cleaning',
        boot_interface: 'redfish-virtual-media',
        properties: {},
        driver_info: {},
        instance_info: {},
        driver_internal_info: {},
        ...fields,
      } as NodeRecord,
      ports: [],
      at: 0,
      host: 'h',
      ironicUrl: 'http://i',
      conf: { ...UPSTREAM_CONF, ...FETCHED, deployIso: 'http://h/configured.iso' },
      ...defined({ servedImages: served ? () => ({ iso: 'http://h/served.iso' }) : undefined }),
    })
  const RESCUE = { rescue_iso: 'http://h/rescue.iso', deploy_iso: 'http://h/own.iso' }

  test.each<[string, NodeTask, string]>([
    ['its own', task({ driver_info: { deploy_iso: 'http://h/own.iso' } }), 'http://h/own.iso'],
    ['the one that is served for it', task({}), 'http://h/served.iso'],
    ['the configured one', task({}, false), 'http://h/configured.iso'],
    ['to rescue, its own for that', task({ driver_info: RESCUE, provision_state: 'rescuing' }), 'http://h/rescue.iso'],
    ['to deploy, the other', task({ driver_info: RESCUE, provision_state: 'deploying' }), 'http://h/own.iso'],
  ])('%s', (_, draft, iso) => expect(deployImages(draft)).toEqual({ iso }))

  test('a whole ISO creates no token', () => {
    const draft = task({})
    expect(ramdiskSource(draft, { a: 'b' })).toEqual({ kind: 'iso', url: 'http://h/served.iso' })
    expect(draft.info).toEqual({})
  })
})
