import { copyFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { readFleet } from '../../../machine/index.js'
import { REHEARSAL_IMAGE } from '../../../lab/index.js'
import { enrolledNode, fleetFor, fleetIronic, installed } from '../fleet-ironic.js'
import { REAL_PEER_TIMEOUT } from '../limits.js'

type NodeSettings = Readonly<Record<string, unknown>>

/** The hardware type for Dell: its boot interface boots virtual media of an iDRAC 8 too, which knows them by an OEM device. */
const IDRAC: NodeSettings = {
  driver: 'idrac',
  boot_interface: 'idrac-redfish-virtual-media',
  management_interface: 'idrac-redfish',
  power_interface: 'idrac-redfish',
}

/** Settings of a node by the BMC of its machine. Records that add nothing to another's deployment are missing. */
const NODES: Readonly<Record<string, NodeSettings>> = {
  standard: {},
  idrac8: IDRAC,
  idrac9: IDRAC,
  idrac10: {},
  ilo5: {},
  'supermicro-x12': {},
  'supermicro-x13': {},
  xcc: {},
  ami: {},
  openbmc: {},
  'nvidia-gb200': {},
  cimc: {},
  irmc: {},
  huawei: {},
  // It has no slot. Ironic takes the vendor of the service root for a node's, and a root in front of several makers names none.
  'nvidia-dgx': { boot_interface: 'ipxe', 'properties/vendor': 'AMI' },
}

test('machines of all makers are deployed by virtual media side by side, and one without a slot over the network', async () => {
  await using there = await fleetIronic({ conductor: { automated_clean: 'false' } })
  await copyFile(REHEARSAL_IMAGE, join(there.folder, 'coreos.raw.xz'))
  const dialects = Object.keys(NODES)
  const hardware = readFleet({ machines: dialects.map((bmc) => ({ bmc })) }, 'the machines of this test')
  const count = dialects.length
  await using fleet = await fleetFor({ count, hardware, bootScript: `${there.url}/boot.ipxe` })
  const deployed = async (fields: NodeSettings, index: number): Promise<string[]> => {
    const name = `machine-${index + 1}`
    const settings = { deploy_interface: 'custom-agent', ...fields }
    const node = await enrolledNode(there.ironic, fleet, name, 'redfish-virtual-media', settings)
    await node.provision('provide')
    await node.settled('available')
    await installed(node, `${there.url}/coreos.raw.xz`)
    const machine = fleet.machines.get(name)!
    await expect.poll(() => machine.boot()?.outcome, { timeout: REAL_PEER_TIMEOUT }).toBe('disk')
    return machine.firmware.log.entries.filter(({ kind }) => kind === 'boot').map(({ detail }) => detail)
  }
  const boots = await Promise.all(Object.values(NODES).map(deployed))
  const expected = (dialect: string) => [dialect, new Set([dialect === 'nvidia-dgx' ? 'pxe' : 'iso', 'disk'])]
  const seen = dialects.map((dialect, index) => [dialect, new Set(boots[index])])
  expect(seen).toEqual(dialects.map(expected))
}, 1_200_000)
