import { IPA_PACE } from '../../../agent/index.js'
import { installCoreos, composeStage, type Stage } from '../../../lab/index.js'
import { LabClock, minutes, seededRandom } from '../../../base/runtime/index.js'
import { journalOf, SPREAD_MACHINE_TIMES } from './lab-journal.js'

/** How clients reach a lab. */
export type Connection = 'in process' | 'by sockets'

const CLEANED = 'node-0'
const INSTALLED = 'node-1'
const LENGTH = minutes(40)
const HEADERS = { 'content-type': 'application/json', 'x-openstack-ironic-api-version': '1.95' }

/** Two nodes that were just asked for something: one is cleaned, the other installed and booted, with faults on the way. */
export interface WholeLife extends AsyncDisposable {
  readonly stage: Stage
  /** Everything that happened since the two were asked, or since the last restore. */
  readonly journal: string[]
  /** Snapshots, with the number of lines of the journal before them. */
  readonly taken: { id: string; at: number; states: readonly string[] }[]
  restore(id: string): Promise<void>
  /** Waits until both have come to their end; what became of them. */
  end(): Promise<{ nodes: unknown[]; machines: unknown[]; journal: readonly string[] }>
}

/** @param moments lines of the journal at which a snapshot is taken, in order */
export async function wholeLife(connection: Connection, seed: number, moments: readonly number[]): Promise<WholeLife> {
  const clock = new LabClock({ mode: 'manual', start: Date.UTC(2026, 0, 1) })
  const lab = await composeStage({
    clock,
    seed,
    random: seededRandom(seed),
    disks: 'described',
    machinePace: SPREAD_MACHINE_TIMES,
    agentPace: IPA_PACE,
    ...(connection === 'by sockets' ? { network: { host: '127.0.0.1', port: 0 }, agentTls: true } : {}),
  })
  const ask = async (method: string, path: string, body?: unknown): Promise<unknown> => {
    const text = body === undefined ? {} : { body: JSON.stringify(body) }
    if (connection === 'by sockets') {
      const answer = await fetch(lab.url + path, { method, headers: HEADERS, ...text })
      if (answer.status >= 400) throw new Error(`${method} ${path}: ${answer.status} ${await answer.text()}`)
      return answer.status === 204 ? undefined : answer.json().catch(() => undefined)
    }
    const answer = await lab.dispatch({ method, target: path, headers: HEADERS, base: lab.url, ...text })
    if (answer.status >= 400) throw new Error(`${method} ${path}: ${answer.status} ${answer.body}`)
    return undefined
  }
  const provision = (node: string, target: string, more = {}) =>
    ask('PUT', `/v1/nodes/${node}/states/provision`, { target, ...more })
  const until = (node: string, state: string) => ask('POST', '/_lab/clock/advance', { until: { node, state } })

  // From the start: a disk that is watched is read more often.
  let isAsked = false
  const taken: { id: string; at: number; states: readonly string[] }[] = []
  const left = [...moments]
  const takes: Promise<unknown>[] = []
  const states = () => [...lab.nodes()].map(({ provision_state: state }) => state)
  const journal = journalOf(lab, (lines) => {
    if (!isAsked || lines !== left[0]) return
    left.shift()
    takes.push(lab.snapshots.take().then(({ id }) => taken.push({ id, at: journal.length, states: states() })))
  })
  await ask('POST', '/_lab/nodes', { count: 2 })
  for (const node of [CLEANED, INSTALLED]) {
    await provision(node, 'manage')
    await until(node, 'manageable')
  }
  await provision(INSTALLED, 'provide')
  await until(INSTALLED, 'available')
  for (const fault of FAULTS) await ask('POST', '/_lab/faults', fault)

  journal.length = 0
  isAsked = true
  await provision(CLEANED, 'provide')
  await clock.advance(15_000)
  await provision(INSTALLED, 'active', { deploy_steps: [installCoreos({ append_karg: ['quiet'] })] })
  const over = clock.now() + LENGTH
  return {
    stage: lab,
    journal,
    taken,
    restore: async (id) => {
      await ask('POST', `/_lab/snapshots/${id}/restore`)
      journal.length = 0
    },
    end: async () => {
      await ask('POST', '/_lab/clock/advance', { by: `${over - clock.now()}ms` })
      await Promise.all(takes)
      return {
        nodes: [...lab.nodes()].map((node) => ({ ...node })),
        machines: lab.machines.list().map((machine) => [machine.power(), machine.firstBoot(), machine.journal()]),
        journal: [...journal],
      }
    },
    [Symbol.asyncDispose]: () => lab[Symbol.asyncDispose](),
  }
}

const FAULTS = [
  { match: { node: CLEANED, disk: 'sdb' }, effect: { kind: 'delay', for: '80ms' }, times: 60 },
  { match: { node: INSTALLED, disk: 'sda' }, effect: { kind: 'delay', for: '30ms' }, probability: 0.3 },
  { match: { program: 'lsblk' }, effect: { kind: 'delay', for: '300ms' }, probability: 0.5 },
  { match: { node: INSTALLED, route: 'POST /v1/heartbeat' }, effect: { kind: 'connection-reset' }, times: 2 },
  { match: { node: CLEANED, route: 'POST /v1/heartbeat' }, effect: { kind: 'delay', for: '7s' }, times: 3 },
]
