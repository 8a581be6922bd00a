import { copyFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, test } from 'vitest'
import { readFleet, type Machine } from '../../../machine/index.js'
import { REHEARSAL_IMAGE } from '../../../lab/index.js'
import { BMC_REFUSALS, refusalHardware } from '../../kit/bmc-refusals.js'
import { enrolledNode, fleetFor, fleetIronic, installed, type FleetIronic, type FleetNode } from '../fleet-ironic.js'
import { REAL_PEER_TIMEOUT } from '../limits.js'

/** Milliseconds with a cold cache, minutes of which are the installation of peers. */
const INSTALLATION = 900_000
/** A lane may have a fifth of two slow cores. */
const REAL_DEPLOYMENTS_TIMEOUT = 1_200_000

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
  huawei: {},
  // Sushy's PATCH of a slot has Inserted, which it does not know.
  ilo4: { boot_interface: 'ipxe' },
  // It takes images by HTTPS, and this Ironic serves them by HTTP.
  irmc: { boot_interface: 'ipxe' },
  // It has no slot that Ironic knows: its images are inserted by CfgCD.
  'supermicro-x10': { boot_interface: 'ipxe' },
  // It has no slot. Ironic takes the vendor of the service root for a node's, and a root in front of several makers names none.
  'nvidia-dgx': { boot_interface: 'ipxe', 'properties/vendor': 'AMI' },
}

const DIALECTS = Object.keys(NODES)

let there: FleetIronic
let fleet: Awaited<ReturnType<typeof fleetFor>>
beforeAll(async () => {
  there = await fleetIronic({ conductor: { automated_clean: 'false' } })
  await copyFile(REHEARSAL_IMAGE, join(there.folder, 'coreos.raw.xz'))
  const machines = [...DIALECTS.map((bmc) => ({ bmc })), ...refusalHardware().machines]
  const hardware = readFleet({ machines }, 'the machines of this test')
  fleet = await fleetFor({ count: machines.length, hardware, bootScript: `${there.url}/boot.ipxe` })
}, INSTALLATION)
afterAll(async () => {
  await fleet?.[Symbol.asyncDispose]()
  await there?.[Symbol.asyncDispose]()
})

/** The node of the machine of a number, manageable. */
const node = (number: number, fields: NodeSettings): Promise<FleetNode> =>
  enrolledNode(there.ironic, fleet, `machine-${number}`, 'redfish-virtual-media', fields)

/** Deploys the node of a machine, and returns the machine. */
async function deployedMachine(fields: NodeSettings, index: number): Promise<Machine> {
  const deployed = await node(index + 1, { deploy_interface: 'custom-agent', ...fields })
  await deployed.provision('provide')
  await deployed.settled('available')
  await installed(deployed, `${there.url}/coreos.raw.xz`)
  return fleet.machines.get(deployed.name)!
}

/** The sources that a machine has been booted from. */
const bootsOf = ({ firmware }: Machine): Set<string> =>
  new Set(firmware.log.entries.filter(({ kind }) => kind === 'boot').map(({ detail }) => detail))

describe.concurrent('a real Ironic', () => {
  test(
    'deploys machines of all makers by virtual media side by side, and those without a slot over the network',
    async ({ expect }) => {
      const machines = await Promise.all(Object.values(NODES).map(deployedMachine))
      for (const machine of machines)
        await expect.poll(() => machine.boot()?.outcome, { timeout: REAL_PEER_TIMEOUT }).toBe('disk')
      const sourceOf = (dialect: string) => (NODES[dialect]!['boot_interface'] === 'ipxe' ? 'pxe' : 'iso')
      const expected = (dialect: string) => [dialect, new Set([sourceOf(dialect), 'disk'])]
      expect(DIALECTS.map((dialect, index) => [dialect, bootsOf(machines[index]!)])).toEqual(DIALECTS.map(expected))
    },
    REAL_DEPLOYMENTS_TIMEOUT,
  )

  test.for(BMC_REFUSALS)(
    'is refused by a BMC: $title',
    { timeout: REAL_DEPLOYMENTS_TIMEOUT },
    async (refusal, { expect }) => {
      const { fields, raid, verb, request, error } = refusal
      const refused = await node(DIALECTS.length + BMC_REFUSALS.indexOf(refusal) + 1, fields)
      if (raid !== undefined) await there.ironic.done(204, 'PUT', `/v1/nodes/${refused.uuid}/states/raid`, raid)
      await refused.provision(verb, request)
      expect((await refused.settled(`${verb} failed`)).last_error).toMatch(error)
    },
  )
})
