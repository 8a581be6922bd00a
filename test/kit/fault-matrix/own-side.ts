import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { FLEET_PACE } from '../../../agent/index.js'
import { openInScope, seconds, type VirtualClock } from '../../../base/runtime/index.js'
import { isAtRest } from '../../../lab/at-rest.js'
import { createStagedLab, REHEARSAL_IMAGE, type StagedLab } from '../../../lab/index.js'
import { NO_PACE } from '../../../machine/index.js'
import { imageServer } from '../deployed.js'
import { smallImage } from '../images/rehearsal-image.js'
import { faultOf, type MatrixCell } from './cells.js'
import type { MatrixNode } from './flows.js'
import { playCell, type CellOutcome } from './outcome.js'
import { MATRIX_SETTINGS } from './settings.js'

/** Our Ironic, which plays cells on machines of its own lab, each in a lab of its own. */
export interface OwnMatrix extends AsyncDisposable {
  play(cell: MatrixCell): Promise<CellOutcome>
}

const MAX_REST_TIME = seconds(900)
/** A node is looked at for so long: nothing more happens to one that is then as it was. */
const REST_TIME = seconds(6)

export async function openOwnMatrix(): Promise<OwnMatrix> {
  return openInScope(async (scope) => {
    const raw = await smallImage()
    const image = await readFile(REHEARSAL_IMAGE)
    const images = scope.use(await imageServer({ '/installed/coreos.raw.xz': image, '/installed/disk.raw': raw }))
    const rawDigest = createHash('sha256').update(raw).digest('hex')
    return {
      play: async (cell) => {
        await using lab = await openMatrixLab()
        const { uuid } = await lab.enroll({ fields: { name: 'machine-1', boot_interface: 'redfish-virtual-media' } })
        const machine = lab.machines.list()[0]!.spec.id
        const node: MatrixNode = {
          uuid,
          send: (method, path, body) => sendTo(lab, uuid, { method, path, body }),
          rested: () => lab.wait(restedNode(lab, uuid)),
          imageUrl: (file) => images.url(`/installed/${file}`),
          rawDigest,
        }
        const outcome = await playCell(cell, node, {
          add: () => void lab.faults.add(faultOf(cell, machine)),
          struck: () => lab.faults.list().some(({ struck }) => struck > 0),
        })
        return outcome
      },
      [Symbol.asyncDispose]: () => scope[Symbol.asyncDispose](),
    }
  })
}

/** A lab with the time limits of the matrix, and machines and agents as those of the fleet. */
function openMatrixLab(): Promise<StagedLab<VirtualClock>> {
  const set = Object.entries(MATRIX_SETTINGS).flatMap(([section, options]) =>
    Object.entries(options).map(([name, value]) => `${section}.${name}=${value}`),
  )
  return createStagedLab({
    seed: 7,
    clock: 'auto',
    ironic: { profile: 'upstream', set },
    agentPace: FLEET_PACE,
    machinePace: { ...NO_PACE, bootRamdisk: seconds(4) },
  })
}

async function sendTo(
  lab: StagedLab,
  uuid: string,
  { method, path, body }: { method: string; path: string; body: unknown },
): Promise<{ status: number; body: unknown }> {
  const answer = await lab.wait(
    lab.transport.send({
      method,
      url: `${lab.url}/v1/nodes/${uuid}${path}`,
      headers: { 'x-openstack-ironic-api-version': '1.115' },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    }),
  )
  const text = String(answer.body ?? '')
  return { status: answer.status, body: text === '' ? null : (JSON.parse(text) as unknown) }
}

async function restedNode(lab: StagedLab, uuid: string) {
  const limit = lab.clock.now() + MAX_REST_TIME
  let since = lab.clock.now()
  for (;;) {
    await lab.clock.sleep(seconds(1))
    const { node } = (await lab.store.node(uuid))!
    if (!isAtRest(node)) since = lab.clock.now()
    if (lab.clock.now() - since >= REST_TIME) return lab.client.node(uuid)
    if (lab.clock.now() > limit)
      throw new Error(`the node does not come to rest: ${node.provision_state}, locked by ${node.reservation}`)
  }
}
