import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createStagedLab, installCoreos, type EnrollOptions, type StagedLab } from '../../lab/index.js'
import type { RequestedStep } from '../../base/wire/index.js'
import { testImages, type TestImages } from '../kit/images/bad-images.js'
import { configdrive, GIB, ignition, imageServer, partitionsOf, readDisk } from '../kit/deployed.js'

/** Deploys what cannot be deployed; gives the node as it was left, with the sentence behind Ironic's own words. */
async function refused(lab: StagedLab, options: EnrollOptions) {
  const ran: string[] = []
  lab.probe.attach((point, next) => {
    if (point.kind === 'command') ran.push((point['argv'] as string[])[0]!)
    return next()
  })
  const node = await lab.enroll({ deploySteps: [installCoreos()], ...options })
  await node.makeAvailable()
  ran.length = 0
  await node.deploy()
  const failed = await node.settled()
  expect(failed).toMatchObject({
    provision_state: 'deploy failed',
    target_provision_state: 'active',
    reservation: null,
    maintenance: false,
    fault: null,
    power_state: 'power on',
  })
  const begin = `Deploy step deploy.install_coreos failed on node ${node.uuid}. `
  return { node, ran, failed, why: failed.last_error!.replace(begin, '') }
}

const withUserData = (user_data: unknown) => ({ configdrive: { ...configdrive, user_data } })
const withArgs = (args: Record<string, unknown>) => ({
  deploySteps: [{ interface: 'deploy', step: 'install_coreos', priority: 80, args } satisfies RequestedStep],
})

describe('refused by the step, before it looks at any disk', () => {
  test.each<[string, EnrollOptions, RegExp]>([
    ['user data that is not JSON', withUserData('{nonsense'), /user_data of the configdrive cannot be used: .*JSON/],
    ['user data that is a list', withUserData('[]'), /user_data of the configdrive cannot be used/],
    ['user data for cloud-init', withUserData('#cloud-config\nusers: []\n'), /cloud-init.*CoreOS has no cloud-init/],
    ['JSON that is no Ignition config', withUserData('{"a": 1}'), /not an Ignition config|ignition.version/],
    [
      'an Ignition config of spec 2',
      withUserData(JSON.stringify({ ignition: { version: '2.2.0' } })),
      /of version 2\.2\.0, and CoreOS reads only spec 3/,
    ],
    [
      'an Ignition config of a spec to come',
      withUserData(JSON.stringify({ ignition: { version: '9.0.0' } })),
      /9\.0\.0/,
    ],
    [
      'an Ignition config that breaks its schema',
      withUserData({ ignition: { version: '3.4.0' }, storage: { files: [{ contents: {} }] } }),
      /user_data of the configdrive cannot be used: .*\$\.storage\.files\.0 must have required property 'path'/,
    ],
    [
      'an argument that is no Ignition config',
      withArgs({ ignition: { a: 1 } }),
      /the argument ignition cannot be used/,
    ],
    ['a configdrive in base64', { configdrive: 'aGVsbG8=' }, /^Cannot use a pre-rendered configdrive/],
    [
      'a host name that is none',
      { configdrive: { ...configdrive, meta_data: { name: 'no spaces allowed' } } },
      /name in meta_data of the configdrive is not a valid host name/,
    ],
    [
      'kernel arguments that are no list of words',
      { configdrive: { ...configdrive, meta_data: { coreos_append_karg: [1] } } },
      /coreos_append_karg in meta_data/,
    ],
    [
      'an image that is not a URL',
      { fields: { instance_info: { image_source: 'file:///images/a.raw' } } },
      /image_source in instance_info is not an http or https URL/,
    ],
    ['an argument of the wrong type', withArgs({ copy_network: 'maybe' }), /argument copy_network .* must be boolean/],
    ['a kernel argument with a line break', withArgs({ append_karg: ['a\nb'] }), /argument append_karg/],
  ])('a deployment with %s fails', async (_, options, sentence) => {
    await using lab = await createStagedLab()
    const { node, why, ran } = await refused(lab, options)
    expect(why).toMatch(sentence)
    expect(why).not.toMatch(/\n|undefined|\[object/)
    expect(ran).not.toContain('coreos-installer')
    expect(ran).not.toContain('sgdisk')
    expect(await partitionsOf(node)).toEqual([])
  })
})

describe('refused by Ironic once the agent has told its steps', () => {
  test.each<[string, RequestedStep, RegExp]>([
    [
      'unknown arguments',
      { interface: 'deploy', step: 'install_coreos', priority: 80, args: { ingition: {}, append_kargs: [] } },
      /^Failed to validate the final deploy steps list for node .* has these unexpected arguments: ingition, append_kargs$/,
    ],
    [
      'an unknown step',
      { interface: 'deploy', step: 'install_coroes', priority: 80, args: {} },
      /^Failed to validate the final deploy steps list for node .*node does not support this deploy step/,
    ],
    [
      'a known step of another interface',
      { interface: 'raid', step: 'install_coreos', priority: 80, args: {} },
      /node does not support this deploy step/,
    ],
  ])('a step with %s fails', async (_, step, sentence) => {
    await using lab = await createStagedLab()
    const { failed, ran } = await refused(lab, { deploySteps: [step] })
    expect(failed.last_error).toMatch(sentence)
    expect(ran).not.toContain('coreos-installer')
  })
})

describe('refused by the API before anything happens', () => {
  test.each<[string, Record<string, unknown>, RegExp]>([
    [
      'a step without arguments',
      { deploy_steps: [{ interface: 'deploy', step: 'a', priority: 1 }] },
      /'args' is a required/,
    ],
    [
      'a step of no interface',
      { deploy_steps: [{ interface: 'x', step: 'a', args: {}, priority: 1 }] },
      /deploy_steps/,
    ],
    ['a priority below zero', { deploy_steps: [{ ...installCoreos(), priority: -1 }] }, /deploy_steps/],
    ['a configdrive that is a list', { configdrive: [] }, /configdrive/],
    ['a configdrive with other keys', { configdrive: { userdata: {} } }, /configdrive/],
    ['a configdrive that is neither URL nor base64', { configdrive: '#cloud-config' }, /configdrive/],
    ['an unknown member', { deploysteps: [] }, /Unexpected arguments: deploysteps|deploysteps/],
  ])('a request with %s is answered 400', async (_, body, sentence) => {
    await using lab = await createStagedLab()
    const node = await lab.enroll()
    await node.makeAvailable()
    await expect(node.provision('active', body)).rejects.toMatchObject({
      status: 400,
      message: expect.stringMatching(sentence),
    })
    expect(await node.get()).toMatchObject({ provision_state: 'available', last_error: null, power_state: 'power off' })
  })
})

describe('a root device hint', () => {
  test.each<[string, unknown, RegExp]>([
    [
      'that matches nothing',
      { serial: 'nosuch' },
      /^No suitable device was found for deployment using these hints \{'serial': 'nosuch'\}/,
    ],
    ['that is no expression', { serial: '<or>' }, /<or>|serial/],
  ])('%s fails the deployment', async (_, root_device, sentence) => {
    await using lab = await createStagedLab()
    const { why, ran, node } = await refused(lab, { fields: { instance_info: { root_device } } })
    expect(why).toMatch(sentence)
    expect(ran).not.toContain('coreos-installer')
    expect(await partitionsOf(node)).toEqual([])
  })
})

test.each<[string, unknown, RegExp]>([
  ['of an unknown kind', { colour: 'red' }, /"colour"/],
  ['of the wrong type', { size: '>= many' }, /"size" is not an integer value/],
])('a root device hint %s is refused when the deployment is requested', async (_, root_device, sentence) => {
  await using lab = await createStagedLab()
  const node = await lab.enroll({ fields: { instance_info: { root_device } } })
  await node.makeAvailable()
  await expect(node.deploy()).rejects.toMatchObject({ status: 400, message: expect.stringMatching(sentence) })
  expect(await node.get()).toMatchObject({ provision_state: 'available', last_error: null })
})

describe('images that cannot be installed', () => {
  let images: TestImages
  let folder: string
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'ironstage-images-'))
    images = await testImages()
  })
  afterAll(() => rm(folder, { recursive: true }))

  test('one that is larger than the disk', async () => {
    await using lab = await createStagedLab({ disks: 'file' })
    const spec = lab.spec(1)
    const machine = { ...spec, disks: [{ ...spec.disks[0]!, size: 32 * 2 ** 20 }] }
    const fields = { properties: { root_device: { name: '/dev/sda' } } }
    const { why, node } = await refused(lab, { machine, fields })
    expect(why).toMatch(/^coreos-installer failed with code 1: Error: .*No space left on device.*choose a larger one/)
    expect(await readDisk(lab, node)).toMatchObject({ partitions: [], boot: null })
  })

  test('a machine without any disk large enough', async () => {
    await using lab = await createStagedLab()
    const spec = lab.spec(1)
    const machine = { ...spec, disks: [{ ...spec.disks[0]!, size: GIB }] }
    const { why, ran } = await refused(lab, { machine })
    expect(why).toMatch(/No suitable device was found/)
    expect(ran).not.toContain('coreos-installer')
  })

  test.each<[string, (images: TestImages) => Buffer, RegExp]>([
    ['a truncated one', ({ xz }) => xz.subarray(0, xz.length >> 1), /truncated|corrupt/],
    ['a damaged one', ({ corruptXz }) => corruptXz, /lzma data error|corrupt/],
    ['one without a boot filesystem', ({ withoutBootXz }) => withoutBootXz, /couldn't find boot device.*labelled boot/],
    ['one that is no image', () => Buffer.from('<html>Sorry</html>'.repeat(1000)), /^coreos-installer failed/],
  ])('%s fails the deployment', async (name, bytes, sentence) => {
    const metalImage = join(folder, `${name.replaceAll(' ', '-')}.raw.xz`)
    await writeFile(metalImage, bytes(images))
    await using lab = await createStagedLab({ disks: 'file', metalImage })
    const { why, node, failed } = await refused(lab, {})
    expect(why).toMatch(sentence)
    expect(failed.last_error).not.toMatch(/install failed/)
    expect((await readDisk(lab, node)).boot).toBeNull()
    expect(await partitionsOf(node)).not.toContain('boot')
  })

  test('one that its server does not have', async () => {
    await using server = await imageServer({})
    await using lab = await createStagedLab()
    const { why, node } = await refused(lab, {
      deploySteps: [installCoreos({ ignition, image_url: server.url('/gone.raw.xz') })],
    })
    expect(why).toMatch(/404 Not Found.*Check the URL of the image/)
    expect(await partitionsOf(node)).toEqual([])
  })

  test('one whose server is missing, after three attempts', async () => {
    await using lab = await createStagedLab()
    const { why } = await refused(lab, {
      deploySteps: [installCoreos({ ignition, image_url: 'http://127.0.0.1:1/a.raw.xz' })],
    })
    expect(why).toMatch(/error sending request.*\(3 attempts\)/)
  })

  test('none at all, where the live system carries none', async () => {
    await using lab = await createStagedLab()
    const machine = { ...lab.spec(1), metalImage: null }
    const { why, node } = await refused(lab, { machine })
    expect(why).toMatch(/carries no image.*image_url/)
    expect(await partitionsOf(node)).toEqual([])
  })
})
