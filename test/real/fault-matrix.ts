import { createHash } from 'node:crypto'
import { copyFile, mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { enrollHosts, type Fleet } from '../../apps/fleet/index.js'
import { openInScope, systemClock } from '../../base/runtime/index.js'
import { HttpTransport, type ApiNode } from '../../base/wire/index.js'
import { REHEARSAL_IMAGE } from '../../lab/index.js'
import { isAtRest } from '../../lab/at-rest.js'
import { faultOf, type MatrixCell } from '../kit/fault-matrix/cells.js'
import type { MatrixNode } from '../kit/fault-matrix/flows.js'
import { playCell, type CellOutcome } from '../kit/fault-matrix/outcome.js'
import { MATRIX_SETTINGS } from '../kit/fault-matrix/settings.js'
import { smallImage } from '../kit/images/rehearsal-image.js'
import { fleetFor, fleetIronic, type FleetIronic } from './fleet-ironic.js'

/** Options of the real Ironic alone, besides those of any test: what it has for many nodes that wait at a time. */
const REAL_SETTINGS = { conductor: { workers_pool_size: 100 } }

/** Milliseconds in which a node of the matrix comes to rest, with time limits that pass one after another. */
const MAX_REST_TIME = 1_800_000
/** Milliseconds for which a node is looked at: nothing more happens to one that is then as it was. */
const REST_TIME = 6000
const LOOK_INTERVAL = 4000

/** Cells that one Ironic plays at a time: most of them wait for a time limit. */
const MAX_PARALLEL_CELLS = 14

/** Plays cells on a real Ironic of their own; gives the outcomes by their titles. */
export async function playForReal(cells: readonly MatrixCell[]): Promise<Map<string, CellOutcome>> {
  await using matrix = await openRealMatrix(cells.length)
  const played = new Map<string, CellOutcome>()
  const waiting = [...cells]
  const work = async (): Promise<void> => {
    for (let cell = waiting.shift(); cell; cell = waiting.shift()) played.set(cell.title, await matrix.play(cell))
  }
  await Promise.all(Array.from({ length: MAX_PARALLEL_CELLS }, work))
  return played
}

/** A real Ironic that plays cells on the machines of a fleet. */
interface RealMatrix extends AsyncDisposable {
  /** Plays a cell on a machine of its own. */
  play(cell: MatrixCell): Promise<CellOutcome>
}

/** @param count how many cells it will play */
async function openRealMatrix(count: number): Promise<RealMatrix> {
  return openInScope(async (scope) => {
    const { conductor, ...settings } = MATRIX_SETTINGS
    const there = scope.use(await fleetIronic({ ...settings, conductor: { ...conductor, ...REAL_SETTINGS.conductor } }))
    const raw = await smallImage()
    const installed = join(there.folder, 'installed')
    await mkdir(installed)
    await copyFile(REHEARSAL_IMAGE, join(installed, 'coreos.raw.xz'))
    await writeFile(join(installed, 'disk.raw'), raw)
    const fleet = scope.use(await fleetFor({ count }))
    const looks = new NodeLooks(there)
    const rawDigest = createHash('sha256').update(raw).digest('hex')
    let played = 0
    return {
      play: async (cell) => {
        const machine = `machine-${++played}`
        const node = await enrollNode(there, fleet, { machine, looks, rawDigest })
        const added: { id: string }[] = []
        return playCell(cell, node, {
          add: () => void added.push(fleet.faults.add(faultOf(cell, machine))),
          struck: () => added.some(({ id }) => (fleet.faults.get(id)?.struck ?? 0) > 0),
        })
      },
      [Symbol.asyncDispose]: () => scope[Symbol.asyncDispose](),
    }
  })
}

async function enrollNode(
  { ironic, url }: FleetIronic,
  fleet: Fleet,
  { machine, looks, rawDigest }: { machine: string; looks: NodeLooks; rawDigest: string },
): Promise<MatrixNode> {
  const clock = systemClock()
  await using transport = new HttpTransport({ clock })
  let uuid = ''
  await enrollHosts(
    fleet.hosts().filter(({ name }) => name === machine),
    {
      url: ironic.url,
      transport,
      headers: {},
      clock,
      bootInterface: 'redfish-virtual-media',
      driverInfo: {},
      signal: new AbortController().signal,
      onEnrolled: (_host, made) => (uuid = made),
    },
  )
  return {
    uuid,
    send: (method, path, body) => ironic.send(method, `/v1/nodes/${uuid}${path}`, body),
    rested: () => looks.rested(uuid),
    imageUrl: (file) => `${url}/installed/${file}`,
    rawDigest,
  }
}

const FIELDS = 'uuid,provision_state,power_state,target_power_state,reservation,last_error,provision_updated_at'

/** Looks at all nodes at a time, on behalf of all that wait: one of each node took Ironic half a processor. */
class NodeLooks {
  readonly #there: FleetIronic
  #next: Promise<Map<string, ApiNode>> | undefined

  constructor(there: FleetIronic) {
    this.#there = there
  }

  async rested(uuid: string): Promise<ApiNode> {
    const { ironic } = this.#there
    const deadline = Date.now() + MAX_REST_TIME
    let since = Date.now()
    let before = ''
    for (;;) {
      const node = (await this.#look()).get(uuid)
      if (!node) throw new Error(`${uuid} is no node of this Ironic any more`)
      const now = JSON.stringify(node)
      if (now !== before || !isAtRest(node as never)) since = Date.now()
      before = now
      if (Date.now() - since >= REST_TIME) return (await ironic.done(200, 'GET', `/v1/nodes/${uuid}`)) as ApiNode
      if (Date.now() > deadline)
        throw new Error(`${uuid} does not come to rest: ${now}\n${await ironic.loggedOf(uuid)}`)
    }
  }

  #look(): Promise<Map<string, ApiNode>> {
    this.#next ??= sleep(LOOK_INTERVAL).then(async () => {
      this.#next = undefined
      const { nodes } = (await this.#there.ironic.done(200, 'GET', `/v1/nodes?fields=${FIELDS}`)) as {
        nodes: ApiNode[]
      }
      return new Map(nodes.map((node) => [node.uuid, node]))
    })
    return this.#next
  }
}
