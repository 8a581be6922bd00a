import { fork, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { fileURLToPath } from 'node:url'
import { createStagedLab, type StagedLab } from '../../lab/index.js'
import type { VirtualClock } from '../../base/runtime/index.js'
import { BenchClient } from './bench-client.js'
import type { Reported } from './control-process.js'
import { times } from './fake-nodes.js'
import { median, percentile, type Measured } from './measure.js'
import type { Row } from './rows.js'

/** Rounds with and without what is measured, in turns: what else the machine does strikes both. */
const ROUNDS = 7
/** Requests of a round. */
const REQUESTS = 500
/** Requests before the first round: what they use is compiled then. */
const WARM = 3000
const CONTROL_PARALLEL_CALLS = 16
const READERS = 1000
const NODES = 100
const RUNS = 5

/** Cost of what shows a lab from outside, and how fast a lab goes back. */
export async function controlOfLabs(): Promise<Measured[]> {
  return [...(await journal()), await readers(), await resetOfThousand(), await snapshotOfTenThousand()]
}

/** Requests to a lab with a journal, and to one without, both in this process: only the entries make the difference. */
async function journal(): Promise<Measured[]> {
  await using noting = await dispatching(10_000)
  await using none = await dispatching(0)
  for (const lab of [noting, none]) await ask(lab, WARM)
  const rounds = await alternately(
    () => ask(noting, REQUESTS),
    () => ask(none, REQUESTS),
  )
  const entry = middle(rounds.map(({ ours, other }) => ours - other))
  const one = { peer: null, unit: 'ms', runs: ROUNDS } as const
  return [
    { what: 'processor time of 10,000 entries of the journal', ...one, ours: entry * 10_000, reach: 100 },
    {
      what: 'processor time of 10,000 requests without a journal',
      ...one,
      ours: middle(rounds.map(({ other }) => other)) * 10_000,
      reach: null,
    },
  ]
}

/** Requests by HTTP to a lab whose events a thousand programs read, each those of a node, and to one without readers. */
async function readers(): Promise<Measured> {
  await using read = await LabProcess.start()
  await using unread = await LabProcess.start()
  for (const lab of [read, unread]) await lab.serve(WARM)
  using followers = await Followers.of(read.url, READERS)
  const rounds = await alternately(
    () => read.serve(REQUESTS),
    () => unread.serve(REQUESTS),
  )
  if (followers.left < READERS) throw new Error(`${READERS - followers.left} readers were cut off`)
  const more = middle(rounds.map(({ ours, other }) => (ours / other - 1) * 100))
  const what = 'processor time of a request while 1,000 read events, more than without' satisfies Row
  return { what, ours: more, peer: null, reach: 10, unit: '%', runs: ROUNDS }
}

/** Milliseconds of processor time of a request. */
interface Round {
  readonly ours: number
  readonly other: number
}

async function alternately(ours: () => Promise<number>, other: () => Promise<number>): Promise<Round[]> {
  const rounds: Round[] = []
  for (let n = 0; n < ROUNDS; n++) rounds.push({ ours: await ours(), other: await other() })
  return rounds
}

const middle = (values: readonly number[]): number => percentile(values, 50)

const machines = (count: number) => Array.from({ length: count }, (_, n) => ({ spec: n + 1, name: `node-${n}` }))

const labOf = (nodes: number): Promise<StagedLab<VirtualClock>> => createStagedLab({ machines: machines(nodes) })

/** A lab whose requests need not find their place in a history that can be repeated. */
const dispatching = (capacity: number): Promise<StagedLab> =>
  createStagedLab({ clock: 1, journal: { capacity }, machines: machines(NODES) })

/** Milliseconds of processor time that a request in this process takes. */
async function ask(lab: StagedLab, requests: number): Promise<number> {
  const headers = { 'x-openstack-ironic-api-version': '1.72', accept: 'application/json' }
  const paths = [...lab.nodes()].map(({ uuid }) => `/v1/nodes/${uuid}`)
  const took = await processorTime(async () => {
    for (let n = 0; n < requests; n++) {
      const target = paths[n % paths.length]!
      const { status } = await lab.dispatch({ method: 'GET', target, base: lab.url, headers })
      if (status !== 200) throw new Error(`GET ${target} was answered with ${status}`)
    }
  })
  return took / requests
}

/** Milliseconds of processor time of this process. */
async function processorTime(work: () => Promise<unknown>): Promise<number> {
  const before = process.cpuUsage()
  await work()
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1000
}

/** A lab in a process of its own, which serves its API. */
class LabProcess implements AsyncDisposable {
  readonly #child: ChildProcess
  readonly #client: BenchClient
  readonly url: string

  private constructor(child: ChildProcess, url: string) {
    this.#child = child
    this.#client = new BenchClient(url)
    this.url = url
  }

  static async start(): Promise<LabProcess> {
    const child = fork(fileURLToPath(new URL('./control-process.js', import.meta.url)), [String(NODES)])
    const [{ url }] = (await once(child, 'message')) as [Extract<Reported, { url: string }>]
    return new LabProcess(child, url)
  }

  /** Milliseconds of processor time that the process takes for a request of so many. */
  async serve(requests: number): Promise<number> {
    const before = await this.#used()
    let n = 0
    await times(requests, CONTROL_PARALLEL_CALLS, () => this.#client.ask('GET', `/v1/nodes/node-${n++ % NODES}`))
    return ((await this.#used()) - before) / requests
  }

  async #used(): Promise<number> {
    this.#child.send('used')
    const [{ milliseconds }] = (await once(this.#child, 'message')) as [Extract<Reported, { milliseconds: number }>]
    return milliseconds
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#client[Symbol.dispose]()
    // A child that was disconnected has no event 'close'.
    const ended = once(this.#child, 'exit')
    this.#child.disconnect()
    await ended
  }
}

/** Programs that read the events of a node each, and throw them away. */
class Followers implements Disposable {
  readonly #sockets: Socket[] = []
  #ended = 0

  static async of(url: string, count: number): Promise<Followers> {
    const followers = new Followers()
    let n = 0
    await times(count, 50, () => followers.#follow(Number(new URL(url).port), n++ % NODES))
    return followers
  }

  /** Readers that were not cut off. */
  get left(): number {
    return this.#sockets.length - this.#ended
  }

  async #follow(port: number, node: number): Promise<void> {
    const socket = connect({ host: '127.0.0.1', port })
    this.#sockets.push(socket)
    await once(socket, 'connect')
    socket.write(`GET /_lab/events?node=node-${node} HTTP/1.1\r\nhost: localhost\r\n\r\n`)
    await once(socket, 'data')
    socket.once('end', () => this.#ended++)
    socket.resume()
  }

  [Symbol.dispose](): void {
    for (const socket of this.#sockets) socket.destroy()
  }
}

/** A lab whose nodes were all managed goes back to its start. */
async function resetOfThousand(): Promise<Measured> {
  await using lab = await labOf(1000)
  const manageAll = async (): Promise<void> => {
    const nodes = await Promise.all(Array.from({ length: 1000 }, (_, n) => lab.node(`node-${n}`)))
    await lab.wait(Promise.all(nodes.map((node) => node.provision('manage').then(() => node.settled()))))
  }
  const ours = await median(RUNS, async () => {
    await manageAll()
    return processorTime(() => lab.snapshots.reset())
  })
  return { what: 'reset of 1,000 nodes that were managed', ours, reach: 10, peer: null, unit: 'ms', runs: RUNS }
}

async function snapshotOfTenThousand(): Promise<Measured> {
  await using lab = await labOf(10_000)
  const ours = await median(RUNS, () =>
    processorTime(async () => lab.snapshots.restore((await lab.snapshots.take()).id)),
  )
  const what = 'snapshot of 10,000 described nodes, and back to it' satisfies Row
  return { what, ours, reach: 200, peer: null, unit: 'ms', runs: RUNS }
}
