import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { BenchClient } from './bench-client.js'
import { create, lifeAfterCreation, lifecycle, times } from './fake-nodes.js'
import { median, timed, type Measured } from './measure.js'
import { withUp } from './up.js'

/** Bodies that an Ironic answered a lifecycle with; requests without one in their answer have none here. */
export interface LifecycleAnswers {
  uuid: string
  /** The new node, as the request that made it was answered. */
  made: string
  /** Each look at the node, one after each verb. */
  looks: string[]
}

const AT_ONCE = 8
/** Milliseconds between two looks, so that clients wait for the server and not for their own pause. */
const POLL_INTERVAL = 1
/** Enough for a second or more. */
const LIFECYCLES = 600
const RUNS = 5

/**
 * The same eight clients ask ours, and a bare server of Node.js that keeps nothing but how far each node is and answers
 * with bodies that ours has given. Both in turns, so that what else the machine does meets both.
 */
export async function besideBareServer(): Promise<Measured[]> {
  return withUp(0, ['--profile', 'upstream'], async (url) => {
    using ours = new BenchClient(url)
    const answers = await answersOf(ours)
    return await withBareServer(answers, async (bareUrl) => {
      using bare = new BenchClient(bareUrl)
      await Promise.all([aMinute(ours), aMinute(bare)])
      const rates = { ours: [] as number[], bare: [] as number[] }
      const own = await median(RUNS, async () => {
        rates.bare.push(await aMinute(bare))
        return aMinute(ours)
      })
      const least = rates.bare.sort((a, b) => a - b)[Math.floor(RUNS / 2)]!
      return [
        {
          what: 'lifecycles a minute, 8 at once, against a bare server',
          ours: own,
          peer: { name: 'node http', value: least },
          reach: least / 1.8,
          unit: '',
          runs: RUNS,
        },
      ]
    })
  })
}

/** Lifecycles a minute of {@link AT_ONCE} clients. */
async function aMinute(client: BenchClient): Promise<number> {
  return (LIFECYCLES / (await timed(() => times(LIFECYCLES, AT_ONCE, () => lifecycle(client, POLL_INTERVAL))))) * 60_000
}

async function answersOf(client: BenchClient): Promise<LifecycleAnswers> {
  const uuid = await create(client)
  const look = () => client.ask('GET', `/v1/nodes/${uuid}`)
  const made = await look()
  const looks: string[] = []
  await lifeAfterCreation(client, uuid, { rested: async () => void looks.push(await look()) })
  return { uuid, made, looks }
}

async function withBareServer<T>(answers: LifecycleAnswers, use: (url: string) => Promise<T>): Promise<T> {
  const main = fileURLToPath(new URL('./bare-server-process.js', import.meta.url))
  const child = spawn(process.execPath, [main, JSON.stringify(answers)], { stdio: ['pipe', 'pipe', 'inherit'] })
  try {
    const [port] = (await once(child.stdout, 'data')) as [Buffer]
    return await use(`http://127.0.0.1:${port.toString().trim()}`)
  } finally {
    child.stdin.end()
    await once(child, 'close')
  }
}
