import { copyFile } from 'node:fs/promises'
import { join } from 'node:path'
import { HttpTransport, IronicClient } from '../../../base/wire/index.js'
import { installCoreos, REHEARSAL_IMAGE } from '../../../lab/index.js'
import { FleetProcess } from '../../kit/fleet/fleet-process.js'
import { folderServer } from '../../real/folder-server.js'
import { clock, median, timed, type Measured } from '../measure.js'
import { endOf, type Contender, type DatabaseBench } from './contenders.js'

const MACHINES = 24
const RUNS = 3
/** Fast enough that the processors are the limit, and not the times that a machine takes. */
const SPEED = ['--speed', '50']
/** Milliseconds between two looks. */
const POLL_INTERVAL = 20

/** Lives of machines whose agents are simulated by a fleet beside it, on PostgreSQL and embedded, in turns. */
export async function agentsOnDatabase(bench: DatabaseBench): Promise<Measured> {
  const images = bench.scope.use(await folderServer())
  await copyFile(REHEARSAL_IMAGE, join(images.folder, 'coreos.raw.xz'))
  const image = `${images.url}/coreos.raw.xz`
  const embedded = await bench.embedded(['--machines', 'elsewhere', ...SPEED])
  const shared = await bench.shared(bench.newSchema(), ['all'], SPEED)
  const ours = await Rack.open(bench, shared, image)
  const theirs = await Rack.open(bench, embedded, image)
  for (const rack of [ours, theirs]) await rack.live()
  const other: number[] = []
  const own = await median(RUNS, async () => {
    other.push(await theirs.live())
    return ours.live()
  })
  await Promise.all([embedded, shared].map(endOf))
  const peer = other.sort((a, b) => a - b)[Math.floor(RUNS / 2)]!
  return {
    what: 'lifecycles with agents a minute on PostgreSQL',
    ours: own,
    peer: { name: 'embedded', value: peer },
    reach: 0.95 * peer,
    unit: '',
    runs: RUNS,
  }
}

/** The machines of one contender, in a process of their own. */
class Rack {
  private constructor(
    private readonly client: IronicClient,
    private readonly image: string,
  ) {}

  static async open({ scope }: DatabaseBench, { url }: Contender, image: string): Promise<Rack> {
    const machines = ['--count', String(MACHINES), '--redfish-port', '0', '--boot-time', '2s', ...SPEED]
    scope.use(await FleetProcess.start([...machines, '--ironic-url', url, '--enroll']))
    const client = new IronicClient({ endpoint: url, clock, transport: scope.use(new HttpTransport({ clock })) })
    while ((await client.nodes()).length < MACHINES) await clock.sleep(POLL_INTERVAL)
    const rack = new Rack(client, image)
    await rack.#all(async (node) => {
      const patch = [{ op: 'replace' as const, path: '/deploy_interface', value: 'custom-agent' }]
      await client.patchNode(node, patch)
      await rack.#through(node, 'manage', 'manageable')
      await rack.#through(node, 'provide', 'available')
    })
    return rack
  }

  /** Deploys all machines and undeploys them again. Resolves with the lifecycles a minute. */
  async live(): Promise<number> {
    const steps = [installCoreos({ image_url: this.image })]
    const took = await timed(() =>
      this.#all(async (node) => {
        await this.#through(node, 'active', 'active', { deploy_steps: steps })
        await this.#through(node, 'deleted', 'available')
      }),
    )
    return (MACHINES / took) * 60_000
  }

  async #all(work: (node: string) => Promise<void>): Promise<void> {
    await Promise.all(Array.from({ length: MACHINES }, (_, n) => work(`machine-${n + 1}`)))
  }

  async #through(
    node: string,
    verb: string,
    state: 'manageable' | 'available' | 'active',
    body: Parameters<IronicClient['provision']>[2] = {},
  ): Promise<void> {
    await this.client.provision(node, verb, body)
    await this.client.waitFor(node, [state], { every: POLL_INTERVAL })
  }
}
