import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { installCoreos } from '../../lab/index.js'
import { HttpTransport, IronicClient } from '../../wire/index.js'
import { IRONSTAGE, type UpProcess } from '../kit/commands/up-process.js'
import { REST } from './against-ironic.js'
import { clock, median, timed, type Measured } from './measure.js'
import { withUp } from './up.js'

const MIB = 2 ** 20
const steps = [installCoreos({ ignition: { ignition: { version: '3.4.0' } } })]

/** Between two looks of a client at its node, in milliseconds: so that looking is a small part of the work. */
const LOOK = { alone: 5, among16: 50 }

const withClient = <T>(nodes: number, use: (client: IronicClient, up: UpProcess) => Promise<T>): Promise<T> =>
  withUp(nodes, [], async (endpoint, up) => {
    await using transport = new HttpTransport({ clock })
    return await use(new IronicClient({ transport, endpoint, clock }), up)
  })

/** Starts that a user waits for: the server's first answer, the shortest commands, and the demo. */
export async function starts(): Promise<Measured[]> {
  const node = await processTime('-e', '0')
  const short = async (argument: string): Promise<Measured> => ({
    what: `ironstage ${argument}`,
    ours: await processTime(IRONSTAGE, argument),
    peer: { name: 'node -e 0', value: node },
    reach: 2 * node,
    unit: 'ms',
    runs: 7,
  })
  const demo = await processTime(IRONSTAGE, ...DEMO)
  return [
    await firstAnswer(),
    await short('--version'),
    await short('--help'),
    { what: 'npm run demo', ours: demo, peer: { name: 'node -e 0', value: node }, reach: 1500, unit: 'ms', runs: 7 },
  ]
}

/** Arguments of the demo in package.json. */
const DEMO = ['deploy', '--append-karg', 'rehearsal=1', '--delete-karg', 'mitigations=auto,nosmt']

/** From the start of a process until it has ended. */
const processTime = (...argv: string[]): Promise<number> =>
  median(7, () =>
    timed(async () => {
      const child = spawn(process.execPath, argv, { stdio: ['ignore', 'ignore', 'inherit'] })
      const [code] = (await once(child, 'close')) as [number | null]
      if (code !== 0) throw new Error(`${argv.join(' ')} ended with ${code}`)
    }),
  )

/** From the start of the process until the API has answered a request. */
async function firstAnswer(): Promise<Measured> {
  const ours = await median(7, async () => {
    const since = performance.now()
    return withClient(0, async (client) => {
      await client.nodes()
      return performance.now() - since
    })
  })
  const bare = await bareServer()
  return {
    what: 'start to first 200',
    ours,
    peer: { name: 'node http', value: bare },
    reach: 3 * bare,
    unit: 'ms',
    runs: 7,
  }
}

/** The least that a server in node takes: a process that listens and answers. */
async function bareServer(): Promise<number> {
  const program = `require('http').createServer((_, r) => r.end('{}')).listen(0, '127.0.0.1', function () { console.log(this.address().port) })`
  return median(7, async () => {
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
async function lifecycle(client: IronicClient, node: string, every = LOOK.alone): Promise<void> {
  const through = async (verb: string, state: 'manageable' | 'available' | 'active') => {
    await client.provision(node, verb, verb === 'active' ? { deploy_steps: steps } : {})
    await client.waitFor(node, [state], { every })
  }
  await through('manage', 'manageable')
  await through('inspect', 'manageable')
  await through('provide', 'available')
  await through('active', 'active')
}

export async function lifecycles(): Promise<Measured[]> {
  return withClient(112, async (client) => {
    // Warm: the first ones compile what all of them use.
    for (let warming = 100; warming < 105; warming++) await lifecycle(client, `node-${warming}`)
    let next = 105
    const one = await median(7, () => timed(() => lifecycle(client, `node-${next++}`)))
    const waiting = Array.from({ length: 100 }, (_, n) => `node-${n}`)
    const hundred = await timed(() =>
      Promise.all(
        Array.from({ length: 16 }, async () => {
          for (let node = waiting.shift(); node !== undefined; node = waiting.shift())
            await lifecycle(client, node, LOOK.among16)
        }),
      ),
    )
    return [
      { what: 'one lifecycle over HTTP, warm', ours: one, peer: null, reach: 300, unit: 'ms', runs: 7 },
      { what: '100 lifecycles, 16 at once', ours: hundred, peer: null, reach: null, unit: 'ms', runs: 1 },
    ]
  })
}

/** Resident memory of a server with a thousand nodes that nothing happens to, against one without any. */
export async function idleMemory(): Promise<Measured> {
  const resident = async (nodes: number) =>
    withClient(nodes, async (client, { pid }) => {
      await client.nodes({ limit: '1' })
      await clock.sleep(REST)
      return (Number(/^VmRSS:\s+(\d+)/m.exec(await readFile(`/proc/${pid}/status`, 'utf8'))?.[1]) * 1024) / MIB
    })
  const [empty, full] = [await resident(0), await resident(1000)]
  return {
    what: 'memory at 1,000 idle nodes',
    ours: full,
    peer: { name: 'no nodes', value: empty },
    reach: null,
    unit: 'MiB',
    runs: 1,
  }
}
