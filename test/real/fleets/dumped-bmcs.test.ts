import { copyFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, test } from 'vitest'
import { REHEARSAL_IMAGE } from '../../../lab/index.js'
import type { MachineHardware } from '../../../machine/index.js'
import {
  DUMPED_FACES,
  dumpedFaces,
  importedFace,
  writtenFace,
  type DumpedFace,
} from '../../kit/bmc-dumps/dumped-faces.js'
import { enrolledNode, fleetFor, fleetIronic, installed, type FleetIronic } from '../fleet-ironic.js'
import { REAL_PEER_TIMEOUT } from '../limits.js'

/** Milliseconds with a cold cache, minutes of which are the installation of peers. */
const INSTALLATION = 900_000

interface DumpedNode {
  face: DumpedFace
  driver: 'redfish' | 'idrac'
}

const NODES: DumpedNode[] = [
  ...dumpedFaces
    .filter((face) => DUMPED_FACES[face].hasVirtualMedia)
    .map((face) => ({ face, driver: 'redfish' }) as const),
  { face: 'idrac9', driver: 'idrac' },
]

/** Interfaces of Dell's hardware type, as BareMetal Operator has them for `idrac-virtualmedia`. */
const IDRAC = {
  driver: 'idrac',
  management_interface: 'idrac-redfish',
  power_interface: 'idrac-redfish',
  boot_interface: 'idrac-redfish-virtual-media',
}

/** The same machine twice would have the same MAC addresses. */
const withoutIdentities = ({ serial: _, nics = [], disks = [], ...rest }: MachineHardware): MachineHardware => ({
  ...rest,
  nics: nics.map(({ mac: __, ...nic }) => nic),
  disks: disks.map(({ serial: __, wwn: ___, ...disk }) => disk),
})

let there: FleetIronic
/** A machine of each dump. */
let fleet: Awaited<ReturnType<typeof fleetFor>>
beforeAll(async () => {
  there = await fleetIronic()
  await copyFile(REHEARSAL_IMAGE, join(there.folder, 'coreos.raw.xz'))
  const imported = await Promise.all(NODES.map(async ({ face }) => importedFace(await writtenFace(face))))
  const [first, ...others] = imported.map(({ hardware }, index) => ({
    hardware: NODES[index]!.driver === 'idrac' ? withoutIdentities(hardware) : hardware,
  }))
  fleet = await fleetFor({ count: NODES.length, hardware: [first!, ...others] })
}, INSTALLATION)
afterAll(async () => {
  await fleet?.[Symbol.asyncDispose]()
  await there?.[Symbol.asyncDispose]()
})

// Each waits for its Ironic nearly all the time.
describe.concurrent('a real Ironic deploys through the dump of a BMC', () => {
  test.each(NODES.map((node, index) => ({ ...node, machine: `machine-${index + 1}` })))(
    '$face, with hardware type $driver',
    async ({ driver, machine }) => {
      const node = await enrolledNode(there.ironic, fleet, machine, 'redfish-virtual-media', {
        ...(driver === 'idrac' ? IDRAC : {}),
        deploy_interface: 'custom-agent',
      })
      await node.provision('provide')
      await node.settled('available')
      await installed(node, `${there.url}/coreos.raw.xz`)
    },
    REAL_PEER_TIMEOUT,
  )
})
