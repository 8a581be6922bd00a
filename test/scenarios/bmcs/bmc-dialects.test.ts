import { describe, expect, test } from 'vitest'
import { BMC_DIALECTS, dialectOfAddress } from '../../../bmc/dialects/index.js'
import { createLab, createStagedLab, type StagedLab, type StagedNode } from '../../../lab/index.js'
import { readFleet } from '../../../machine/index.js'
import { defined } from '../../../base/runtime/index.js'
import { ironicSentence, type JsonObject } from '../../../base/wire/index.js'
import { BMC_REFUSALS, refusalHardware } from '../../kit/bmc-refusals.js'
import { machineOf } from '../../kit/deployed.js'
import { coreosNode, liveServers } from '../../kit/live-lab.js'

const MEDIA_NODE = { boot_interface: 'redfish-virtual-media', bios_interface: 'redfish' }

async function labOf(hardware: object): Promise<StagedLab> {
  return createStagedLab({ hardware: readFleet(hardware, 'the hardware') })
}

async function managed(lab: StagedLab, fields: JsonObject = {}) {
  const node = await lab.enroll({ fields: { ...MEDIA_NODE, ...fields } })
  await node.provision('manage')
  await node.settled()
  const call = async (method: string, path: string, body?: unknown) => {
    const response = await lab.transport.send({
      method,
      url: `${lab.url}/v1/nodes/${node.uuid}/${path}`,
      headers: { 'x-openstack-ironic-api-version': '1.115', 'content-type': 'application/json' },
      ...defined({ body: body === undefined ? undefined : JSON.stringify(body) }),
    })
    const sentence = response.status >= 400 ? ironicSentence(response) : ''
    return { status: response.status, body: response.body ?? '', sentence }
  }
  return { node, call }
}

describe("this lab's Ironic and the BMC of a machine agree", () => {
  test('on the settings of its firmware', async () => {
    await using lab = await labOf({ bmc: 'ilo5' })
    const { node, call } = await managed(lab)
    expect((await call('GET', 'bios/ProcHyperthreading')).status).toBe(200)
    expect((await call('GET', 'bios/NumaGroupSize')).status).toBe(404)
    expect((await node.get()).properties).toMatchObject({ vendor: 'HPE' })
    const settings = [{ name: 'ProcHyperthreading', value: 'Disabled' }]
    await node.provision('clean', {
      clean_steps: [{ interface: 'bios', step: 'apply_configuration', args: { settings } }],
    })
    expect(await node.settled()).toMatchObject({ provision_state: 'manageable', last_error: null })
    const { bios } = lab.machines.list()[0]!.firmware.report()
    expect(bios.find(({ name }) => name === 'ProcHyperthreading')!.value).toBe('Disabled')
  })

  test('on the slots for virtual media', async () => {
    await using lab = await labOf({ machines: [{ bmc: 'ilo5' }, { bmc: 'nvidia-dgx' }] })
    const ilo = await managed(lab)
    expect(JSON.parse((await ilo.call('GET', 'vmedia')).body)).toMatchObject([
      { media_types: ['Floppy', 'USBStick'] },
      { media_types: ['CD', 'DVD'] },
    ])
    const dgx = await managed(lab)
    const image_url = 'http://images.test/boot.iso'
    await dgx.call('POST', 'vmedia', { device_type: 'cdrom', image_url })
    await expect
      .poll(async () => String((await dgx.node.get()).last_error))
      .toContain(`No suitable virtual media device found for node ${dgx.node.uuid} to mount image ${image_url}`)
  })

  test('on the protocols of images: an iRMC takes none by HTTP', async () => {
    await using lab = await labOf({ bmc: 'irmc' })
    const { node, call } = await managed(lab)
    const attached = async (scheme: string): Promise<string | null> => {
      await call('POST', 'vmedia', { device_type: 'cdrom', image_url: `${scheme}://images.test/boot.iso` })
      return (await node.settled()).last_error
    }
    expect(await attached('http')).toMatch(/returned code 400\. Base\.1\.22\.ActionParameterValueNotInList: /)
    expect(await attached('https')).toBeNull()
  })

  test.each([
    ['xcc', null],
    ['nvidia-gb200', 'The attribute EthernetInterfaces is missing'],
    ['ilo5', 'no valid network interfaces'],
    [{ properties: { changed: { 'EthernetInterface.MACAddress': '' } } }, 'no valid network interfaces'],
  ])('on the NICs that an inspection over Redfish finds with %j', async (bmc, problem) => {
    await using lab = await labOf({ bmc })
    const node = await lab.enroll({ fields: { ...MEDIA_NODE, inspect_interface: 'redfish' } })
    await node.provision('manage')
    await node.settled()
    await node.provision('inspect')
    expect(await node.settled()).toMatchObject({
      provision_state: problem === null ? 'manageable' : 'inspect failed',
      last_error: problem === null ? null : expect.stringContaining(problem),
    })
  })

  test('on the boot mode: some BMCs do not say it, and some refuse to change it', async () => {
    await using lab = await labOf({ machines: [{ bmc: 'nvidia-gb200' }, { bmc: 'ilo5' }] })
    const gb200 = await managed(lab)
    expect((await gb200.node.get()).boot_mode).toBeNull()
    const ilo = await managed(lab)
    expect((await ilo.node.get()).boot_mode).toBe('uefi')
    await ilo.call('PUT', 'states/boot_mode', { target: 'bios' })
    await expect.poll(async () => String((await ilo.node.get()).last_error)).toContain('400')
    expect((await ilo.node.get()).boot_mode).toBe('uefi')
  })

  test.each(BMC_REFUSALS)('on what it does not do, in the words of a real Ironic: $title', async (refusal) => {
    const { bmc, fields, raid, verb, request = {}, error } = refusal
    const [hardware] = refusalHardware().machines.filter((machine) => machine.bmc === bmc)
    await using lab = await labOf(hardware!)
    const { node, call } = await managed(lab, fields)
    if (raid !== undefined) expect((await call('PUT', 'states/raid', raid)).status).toBe(204)
    await node.provision(verb, request)
    const { provision_state, last_error } = await node.settled()
    expect(provision_state).toBe(`${verb} failed`)
    expect(last_error).toMatch(error)
  })

  test('a BMC without a slot: no node of it is deployed by virtual media', async () => {
    await using lab = await labOf({ bmc: 'nvidia-dgx' })
    const node = await lab.enroll({ fields: MEDIA_NODE })
    await expect(node.deploy()).rejects.toThrow(
      `No suitable virtual media device found for node ${node.uuid} to mount the image of its ramdisk`,
    )
  })
})

/**
 * A DGX has no slot, an X10 takes images by CfgCD, which Ironic does not know, an iRMC none by HTTP, and an iLO 4 none with
 * Inserted.
 */
const OVER_THE_NETWORK = ['nvidia-dgx', 'supermicro-x10', 'irmc', 'ilo4']

test('machines of every record are deployed by virtual media at once, and some over the network', async () => {
  await using servers = await liveServers()
  const dialects = Object.keys(BMC_DIALECTS)
  const hardware = readFleet({ machines: dialects.map((bmc) => ({ bmc })) }, 'the hardware')
  await using lab = await servers.lab({ hardware })
  const nodes: StagedNode[] = []
  for (const dialect of dialects) {
    const boot_interface = OVER_THE_NETWORK.includes(dialect) ? 'ipxe' : 'redfish-virtual-media'
    nodes.push(await coreosNode(lab, { boot_interface, automated_clean: false }))
  }
  await Promise.all(nodes.map((node) => node.deploy()))
  const seen: [string, string, string[]][] = []
  for (const [index, node] of nodes.entries()) {
    const { provision_state } = await node.settled()
    const machine = await machineOf(node)
    const { entries } = machine.firmware.log
    const boots = entries.filter(({ kind }) => kind === 'boot').map(({ detail }) => detail)
    seen.push([dialects[index]!, provision_state, [...new Set(boots)]])
  }
  const sourceOf = (dialect: string) => (OVER_THE_NETWORK.includes(dialect) ? 'pxe' : 'iso')
  const expected = dialects.map((dialect) => [dialect, 'active', [sourceOf(dialect), 'disk']])
  expect(seen).toEqual(expected)
})

test('in a lab of the library each machine has the BMC of its maker and product, in mixed fleets too', async () => {
  await using lab = await createLab({
    hardware: [
      { hardware: { manufacturer: 'Dell Inc.', product: 'PowerEdge R750' } },
      { hardware: { manufacturer: 'Supermicro', product: 'X13' } },
      { hardware: { manufacturer: 'HPE', product: 'ProLiant DL360 Gen10', bmc: 'standard' } },
      { hardware: { bmc: 'xcc' } },
      { hardware: { manufacturer: 'ACME' } },
    ],
  })
  expect([1, 2, 3, 4, 5].map((n) => lab.spec(n).dialect)).toEqual([
    'idrac9',
    'supermicro-x13',
    'standard',
    'xcc',
    undefined,
  ])
  expect(lab.spec(4)).toMatchObject({ manufacturer: 'Lenovo', product: 'ThinkSystem SR670 V2' })
})

test.each([
  ['idrac-redfish+http://10.0.0.5/redfish/v1/Systems/1', 'idrac9'],
  ['idrac-virtualmedia://10.0.0.5/redfish/v1/Systems/1', 'idrac9'],
  ['IDRAC://10.0.0.5', 'idrac9'],
  ['ilo4-virtualmedia://10.0.0.5', 'ilo4'],
  ['ilo5://10.0.0.5', 'ilo5'],
  ['ilo5-redfish+https://10.0.0.5/redfish/v1/Systems/1', 'ilo5'],
  ['ilo5-virtualmedia+https://10.0.0.5/redfish/v1/Systems/1', 'ilo5'],
  ['irmc://10.0.0.5', 'irmc'],
  ['ibmc+https://10.0.0.5', 'huawei'],
  ['redfish+https://10.0.0.5/redfish/v1/Systems/1', undefined],
  ['redfish-virtualmedia+http://10.0.0.5/redfish/v1/Systems/1', undefined],
  ['redfish-uefihttp://10.0.0.5/redfish/v1/Systems/1', undefined],
  ['ipmi://10.0.0.5', undefined],
  ['libvirt://10.0.0.5', undefined],
  ['10.0.0.5', undefined],
  ['', undefined],
])('quirk 103: the address %s of a BareMetalHost names the BMC %s', (address, bmc) => {
  expect(dialectOfAddress(address)).toBe(bmc)
})

describe('the BMC of a machine', () => {
  const chosen = (hardware: object) => readFleet(hardware, 'the hardware')[0].hardware.bmc

  test.each([
    [{ manufacturer: 'Dell Inc.', product: 'PowerEdge R630' }, 'idrac8'],
    [{ manufacturer: 'Dell Inc.', product: 'PowerEdge R650' }, 'idrac9'],
    [{ manufacturer: 'Dell Inc.', product: 'PowerEdge XE9680' }, 'idrac9'],
    [{ manufacturer: 'Dell Inc.', product: 'PowerEdge R770' }, 'idrac10'],
    [{ manufacturer: 'HPE', product: 'ProLiant DL360 Gen10 Plus' }, 'ilo5'],
    [{ manufacturer: 'HPE', product: 'ProLiant DL380a Gen11' }, 'ilo6'],
    [{ manufacturer: 'Lenovo', product: 'ThinkSystem SR650 V2' }, 'xcc'],
    [{ manufacturer: 'Supermicro', product: 'X12STW-TF' }, 'supermicro-x12'],
    [{ manufacturer: 'Dell Inc.', product: 'PowerEdge R650', bmc: 'standard' }, 'standard'],
    [{ manufacturer: 'Dell Inc.' }, undefined],
    [{ manufacturer: 'ACME', product: 'Anvil' }, undefined],
    [{}, undefined],
  ])('of %j is %s', (hardware, bmc) => {
    expect(chosen(hardware)).toBe(bmc)
  })

  test.each([
    [{ bmc: 'idrac11' }, 'the hardware cannot be used: there is no BMC "idrac11"; did you mean idrac10?'],
    [{ bmc: { base: 'ilo5', zork: {} } }, 'bmc of the hardware cannot be used: there is no zork'],
    [{ bmc: 7 }, 'the hardware cannot be used: bmc must be string,object'],
  ])('that is %j is refused', (hardware, message) => {
    expect(() => chosen(hardware)).toThrow(message)
  })
})
