import { copyFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { readFleet } from '../../../machine/index.js'
import { REHEARSAL_IMAGE } from '../../../lab/index.js'
import { enrolledNode, fleetFor, fleetIronic, installed } from '../fleet-ironic.js'
import { REAL_PEER_TIMEOUT } from '../limits.js'

/** Fields of a node by the BMC of its machine; those that are missing are Ironic's defaults for a machine of a fleet. */
const NODES: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  idrac9: {
    driver: 'idrac',
    boot_interface: 'idrac-redfish-virtual-media',
    management_interface: 'idrac-redfish',
    power_interface: 'idrac-redfish',
  },
  ilo5: {},
  xcc: {},
  'supermicro-x13': {},
  ami: {},
  openbmc: {},
  huawei: {},
  standard: {},
  // It has no slot. Ironic takes the vendor of the service root for a node's, and a root in front of several makers names none.
  'nvidia-dgx': { boot_interface: 'ipxe', 'properties/vendor': 'AMI' },
}

test('machines of eight makers are deployed by virtual media side by side, and one without a slot over the network', async () => {
  await using there = await fleetIronic({ conductor: { automated_clean: 'false' } })
  await copyFile(REHEARSAL_IMAGE, join(there.folder, 'coreos.raw.xz'))
  const hardware = readFleet({ machines: Object.keys(NODES).map((bmc) => ({ bmc })) }, 'the machines of this test')
  const count = Object.keys(NODES).length
  await using fleet = await fleetFor({ count, hardware, bootScript: `${there.url}/boot.ipxe` })
  const deployed = async (fields: Readonly<Record<string, unknown>>, index: number): Promise<string[]> => {
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
  expect(Object.fromEntries(Object.keys(NODES).map((dialect, index) => [dialect, new Set(boots[index])]))).toEqual({
    ...Object.fromEntries(Object.keys(NODES).map((dialect) => [dialect, new Set(['iso', 'disk'])])),
    'nvidia-dgx': new Set(['pxe', 'disk']),
  })
}, 1_200_000)
