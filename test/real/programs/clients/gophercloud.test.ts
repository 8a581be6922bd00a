import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { IronicRelease } from '../../../../base/wire/index.js'
import { parsePlace, putImage } from '../../../../base/registry/index.js'
import { bootableContainer } from '../../../../coreos/index.js'
import { rehearsalImage } from '../../../kit/images/rehearsal-image.js'
import { images, signal } from '../../../kit/registry/images.js'
import { pushArtifact } from '../../../kit/registry/push-artifact.js'
import { dockerRegistry } from '../../docker-registry.js'
import { HARDWARE_ANSWERS, lifecycleAnswers } from './gophercloud-answers.js'
import { gophercloud } from './gophercloud.js'
import { INSTALLATION, served, type ServedIronic } from './served.js'

let ironic: ServedIronic
beforeAll(async () => {
  ironic = await served()
  await gophercloud(['ready'], { IRONIC_ENDPOINT: ironic.url })
}, INSTALLATION)
afterAll(() => ironic?.[Symbol.asyncDispose]())

const scenario = (name: string, at: ServedIronic = ironic) => gophercloud([name], { IRONIC_ENDPOINT: `${at.url}/v1/` })

/** The microversion that BareMetal Operator chooses with each release of Ironic. */
const CHOSEN: readonly [IronicRelease, string][] = [
  ['2024.2', '1.93'],
  ['2025.1', '1.95'],
  ['2025.2', '1.95'],
  ['2026.1', '1.110'],
  ['master', '1.110'],
]

const message = (text: string) => ({ error_message: expect.stringContaining(text) })

describe.concurrent('gophercloud', () => {
  test('finds the API with and without its version in the endpoint', async () => {
    const expected = [
      { chosen: '1.110', newest: 115, oldest: 1 },
      { drivers: ['fake-hardware', 'idrac', 'ipmi', 'manual-management', 'redfish'] },
    ]
    for (const suffix of ['', '/', '/v1', '/v1/'])
      expect(await gophercloud(['ready'], { IRONIC_ENDPOINT: ironic.url + suffix })).toEqual(expected)
  })

  test.each(CHOSEN)('takes a host through its life by an Ironic of %s at %s', async (release, chosen) => {
    await using released = await served({ release })
    const [ladder, ...states] = await scenario('lifecycle', released)
    expect(ladder).toMatchObject({ chosen, oldest: 1 })
    expect(states).toMatchObject(lifecycleAnswers('52:54:00:c3:00:01'))
  })

  test.each([
    ['os', 'bootc'],
    ['disk', 'direct'],
  ])('deploys the image %s of a real registry, for which Ironic chooses %s', async (name, by) => {
    await using registry = await dockerRegistry()
    const created = '2026-01-01T00:00:00Z'
    const architectures = ['x86_64']
    const made = bootableContainer({
      name: 'fcos',
      version: '44.20260707.3.1',
      architectures,
      created,
      comment: 'a test',
    })
    await putImage(made, { sink: images().sink(parsePlace(`${registry.host}/os:1`)), tag: '1', signal })
    await pushArtifact(images(), `${registry.host}/disk:1`, 'raw', await rehearsalImage())
    await using own = await served({ set: ['oci.permit_fallback_to_http_transport=true'] })
    const variables = { IRONIC_ENDPOINT: `${own.url}/v1/`, IMAGE: `oci://${registry.host}/${name}:1` }
    const [, ...states] = await gophercloud(['container'], variables)
    expect(states).toMatchObject([
      { deploy: { result: true } },
      { state: 'active', power: 'power on', error: '' },
      { interface: by },
      { state: 'available', error: '' },
    ])
  })

  test('adopts, services and rebuilds an instance', async () => {
    const [, ...states] = await scenario('instance')
    expect(states).toEqual(Array.from({ length: 3 }, () => ({ state: 'active', power: expect.any(String), error: '' })))
  })

  test('works power, boot device, media, BIOS, firmware, subscriptions and VIFs', async () => {
    const [, ...states] = await scenario('hardware')
    expect(states).toMatchObject(HARDWARE_ANSWERS)
  })

  test('keeps nodes, ports and allocations, and reads drivers and conductors', async () => {
    const [, ...states] = await scenario('records')
    expect(states).toMatchObject([
      { names: ['metal3~records'], class: 'gopher', driver: 'redfish' },
      { owner: true, pxe: false, ports: 1 },
      { state: 'active', node: true, allocations: 1 },
      { conductor: 'ironstage', alive: true, drivers: 5 },
      { driver: 'redfish', boot: 'ipxe', address: true, level: true },
      { status: 404 },
    ])
  })

  test('is refused in Ironic’s words, and reads what a failed deployment left', async () => {
    const [, ...states] = await scenario('refused')
    expect(states).toMatchObject([
      { status: 404, body: message('Node nowhere could not be found.') },
      { status: 400, body: message('No conductor service registered which supports driver no-driver') },
      { status: 409, body: message('A node with name metal3~refused already exists.') },
      { status: 409, body: message('A port with MAC address 52:54:00:c3:00:03 already exists.') },
      { status: 400, body: message('The requested action \\"provide\\" can not be performed on node') },
      { status: 400, body: message('no_such_field') },
      { state: 'deploy failed', error: expect.stringContaining('node does not support this deploy step') },
      { node: { provision_state: 'deploy failed' } },
    ])
  })
})
