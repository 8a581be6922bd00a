import { copyFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, test } from 'vitest'
import { enrollHosts } from '../../../apps/fleet/index.js'
import { systemClock } from '../../../base/runtime/index.js'
import { HttpTransport } from '../../../base/wire/index.js'
import { REHEARSAL_IMAGE } from '../../../lab/index.js'
import { DUMPED_FACES, dumpedFaces, importedFace, writtenFace } from '../../kit/bmc-dumps/dumped-faces.js'
import { fleetFor, fleetIronic, FleetNode, storyOf, type FleetIronic } from '../fleet-ironic.js'
import { REAL_PEER_TIMEOUT } from '../limits.js'

/** Milliseconds with a cold cache, minutes of which are the installation of peers. */
const INSTALLATION = 900_000

let there: FleetIronic
beforeAll(async () => {
  there = await fleetIronic()
  await copyFile(REHEARSAL_IMAGE, join(there.folder, 'coreos.raw.xz'))
}, INSTALLATION)
afterAll(() => there?.[Symbol.asyncDispose]())

const deployable = dumpedFaces.filter((face) => DUMPED_FACES[face].hasVirtualMedia)
/** Deploys by custom-agent with install_coreos, as BareMetal Operator does. */
async function installed(node: FleetNode): Promise<void> {
  const args = { image_url: `${there.url}/coreos.raw.xz`, ignition: { ignition: { version: '3.4.0' } } }
  await node.provision('active', {
    deploy_steps: [{ interface: 'deploy', step: 'install_coreos', priority: 80, args }],
  })
  await node.settled('active')
}

describe('a real Ironic deploys through the dump of a BMC', () => {
  test.each(deployable)(
    '%s, with hardware type redfish',
    async (face) => {
      const { hardware } = await importedFace(await writtenFace(face))
      await using fleet = await fleetFor({ count: 1, hardware: [{ hardware }] })
      const clock = systemClock()
      await using transport = new HttpTransport({ clock })
      let uuid = ''
      await enrollHosts(fleet.hosts(), {
        url: there.ironic.url,
        transport,
        headers: {},
        clock,
        bootInterface: 'redfish-virtual-media',
        driverInfo: {},
        signal: new AbortController().signal,
        onEnrolled: (_host, made) => (uuid = made),
      })
      const node = new FleetNode(there.ironic, uuid, 'machine-1', () => storyOf(fleet, 'machine-1'))
      await node.patch({ op: 'replace', path: '/name', value: face })
      await node.provision('manage')
      await node.settled('manageable')
      await node.provision('provide')
      await node.settled('available')
      await installed(node)
    },
    REAL_PEER_TIMEOUT,
  )
})
