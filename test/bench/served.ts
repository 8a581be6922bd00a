import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { HttpTransport, IronicClient } from '../../base/wire/index.js'
import { IRONSTAGE } from '../kit/commands/up-process.js'
import { clock, median, timed, type Measured } from './measure.js'
import { deploySteps } from './staged.js'
import { withUp } from './up.js'

/** Between two looks of a client at its node, in milliseconds: so that looking is a small part of the work. */
const POLL_INTERVAL = { alone: 5, among16: 50 }

const withClient = <T>(nodes: number, use: (client: IronicClient) => Promise<T>): Promise<T> =>
  withUp(nodes, [], async (endpoint) => {
    await using transport = new HttpTransport({ clock })
    return await use(new IronicClient({ transport, endpoint, clock }))
  })

const RUNS = 7

/** Starts that a user waits for: the server's first answer, the shortest commands, and the demo. */
export async function starts(): Promise<Measured[]> {
  const demo = await processTime(RUNS, IRONSTAGE, ...DEMO)
  return [
    await firstAnswer(RUNS),
    await shortCommand('--version', RUNS),
    await shortCommand('--help', RUNS),
    { what: 'npm run demo', ours: demo, peer: null, reach: 1500, unit: 'ms', runs: RUNS },
  ]
}

/** A command that only prints, against a Node that does nothing. */
export async function shortCommand(argument: '--version' | '--help', runs: number): Promise<Measured> {
  const node = await processTime(runs, '-e', '0')
  const ours = await processTime(runs, IRONSTAGE, argument)
  return {
    what: `ironstage ${argument}`,
    ours,
    peer: { name: 'node -e 0', value: node },
    reach: 2 * node,
    unit: 'ms',
    runs,
  }
}

/** Arguments of the demo in package.json. */
const DEMO = ['deploy', '--append-karg', 'rehearsal=1', '--delete-karg', 'mitigations=auto,nosmt']

/** From the start of a process until it has ended. */
const processTime = (runs: number, ...argv: string[]): Promise<number> =>
  median(runs, () =>
    timed(async () => {
      const child = spawn(process.execPath, argv, { stdio: ['ignore', 'ignore', 'inherit'] })
      const [code] = (await once(child, 'close')) as [number | null]
      if (code !== 0) throw new Error(`${argv.join(' ')} ended with ${code}`)
    }),
  )

/** From the start of the process until the API has answered a request. */
export async function firstAnswer(runs: number): Promise<Measured> {
  const ours = await median(runs, async () => {
    const since = performance.now()
    return withClient(0, async (client) => {
      await client.nodes()
      return performance.now() - since
    })
  })
  const bare = await bareServer(runs)
  return {
    what: 'start to first 200',
    ours,
    peer: { name: 'node http', value: bare },
    reach: 3 * bare,
    unit: 'ms',
    runs,
  }
}

/** The least that a server in node takes: a process that listens and answers. */
async function bareServer(runs: number): Promise<number> {
  const program = `require('http').createServer((_, r) => r.end('{}')).listen(0, '127.0.0.1', function () { console.log(this.address().port) })`
  return median(runs, async () => {
    const since = performance.now()
    const child = spawn(process.execPath, ['-e', program], { stdio: ['ignore', 'pipe', 'inherit'] })
    const [port] = (await once(child.stdout, 'data')) as [Buffer]
    await (await fetch(`http://127.0.0.1:${port.toString().trim()}/`)).text()
    const took = performance.now() - since
    child.kill()
    await once(child, 'close')
    return took
  })
}

/** enroll -> manageable -> inspected -> available -> active with install_coreos on a disk with bytes. */
async function lifecycle(client: IronicClient, node: string, every = POLL_INTERVAL.alone): Promise<void> {
  const through = async (verb: string, state: 'manageable' | 'available' | 'active') => {
    await client.provision(node, verb, verb === 'active' ? { deploy_steps: deploySteps } : {})
    await client.waitFor(node, [state], { every })
  }
  await through('manage', 'manageable')
  await through('inspect', 'manageable')
  await through('provide', 'available')
  await through('active', 'active')
}

export const lifecycles = (): Promise<Measured[]> =>
  withClient(112, async (client) => {
    const one = await warmLifecycle(client, RUNS)
    const waiting = Array.from({ length: 100 }, (_, n) => `node-${WARMING + RUNS + n}`)
    const hundred = await timed(() =>
      Promise.all(
        Array.from({ length: 16 }, async () => {
          for (let node = waiting.shift(); node !== undefined; node = waiting.shift())
            await lifecycle(client, node, POLL_INTERVAL.among16)
        }),
      ),
    )
    return [one, { what: '100 lifecycles, 16 at once', ours: hundred, peer: null, reach: null, unit: 'ms', runs: 1 }]
  })

/** Part of a quick look. */
export const oneLifecycle = (runs: number): Promise<Measured> =>
  withClient(WARMING + runs, (client) => warmLifecycle(client, runs))

/** The first lifecycles of a server compile what all of them use. */
const WARMING = 5

/** Uses up the first nodes of the server: a few to warm it, and one a run. */
async function warmLifecycle(client: IronicClient, runs: number): Promise<Measured> {
  let next = 0
  while (next < WARMING) await lifecycle(client, `node-${next++}`)
  const ours = await median(runs, () => timed(() => lifecycle(client, `node-${next++}`)))
  return { what: 'one lifecycle over HTTP, warm', ours, peer: null, reach: 300, unit: 'ms', runs }
}
