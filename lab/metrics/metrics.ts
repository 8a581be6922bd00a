import type * as Prometheus from 'prom-client'
import type { Machines } from '../../machine/index.js'
import { systemClock, type Clock } from '../../base/runtime/index.js'
import type { Dispatch, NodeRecord, WireResponse } from '../../base/wire/index.js'
import type { Guard } from '../../ironic-mock/index.js'
import type { LabFaults, LabJournal } from '../../control/index.js'
import { CallCounts, observeCalls } from './call-counts.js'

/** The parts of a lab that are counted. */
export interface MeteredParts {
  clock: Clock
  machines: Machines
  faults: LabFaults
  journal: LabJournal
  nodes: () => Iterable<Readonly<NodeRecord>>
  /** Times that faults of each effect have struck, also those that were lifted. */
  strikes: ReadonlyMap<string, number>
  /** Lengths of the conductor's queues. */
  queues: () => { effects: number; deadlines: number }
}

const METRICS_PATH = '/metrics'

/** Counts the calls of an API, and serves what was counted of a lab at `/metrics`, for Prometheus. */
export class Metrics {
  readonly #parts: MeteredParts
  readonly #wall = systemClock()
  readonly #calls = new CallCounts((calls) => {
    this.#flushed = Promise.all([this.#registry(), this.#flushed]).then(([{ durations }]) =>
      observeCalls(calls, durations),
    )
  })
  #flushed: Promise<void> = Promise.resolve()
  #opened: ReturnType<typeof openRegistry> | undefined

  constructor(parts: MeteredParts) {
    this.#parts = parts
  }

  /** @param guard of the API, which guards its metrics too */
  beside(api: Dispatch, guard: Guard | undefined): Dispatch {
    return async (request) => {
      if (request.target.replace(/\/*(\?.*)?$/s, '') === METRICS_PATH) {
        if (request.method !== 'GET' && request.method !== 'HEAD')
          return { status: 405, headers: { allow: 'GET, HEAD', 'content-type': 'text/plain' }, body: 'GET it\n' }
        return (await guard?.(request)) ?? (await this.#answer())
      }
      const { method, target } = request
      const began = this.#wall.elapsed()
      const answer = await api(request)
      this.#calls.note({ method, target, status: answer.status, seconds: (this.#wall.elapsed() - began) / 1000 })
      return answer
    }
  }

  async #answer(): Promise<WireResponse> {
    this.#calls.flush()
    const { registry } = await this.#registry()
    await this.#flushed
    return { status: 200, headers: { 'content-type': registry.contentType }, body: await registry.metrics() }
  }

  #registry(): ReturnType<typeof openRegistry> {
    return (this.#opened ??= openRegistry(this.#parts))
  }
}

/** Loads prom-client when it is first needed: most labs never are asked. */
async function openRegistry(
  parts: MeteredParts,
): Promise<{ registry: Prometheus.Registry; durations: Prometheus.Histogram }> {
  const { default: prometheus } = await import('prom-client')
  const registry = new prometheus.Registry()
  const registers = [registry]
  const durations = new prometheus.Histogram({
    name: 'ironstage_http_request_duration_seconds',
    registers,
    labelNames: ['method', 'route', 'status'],
    help: 'Wall time from a call of the API to its answer',
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5],
  })
  /** Reads its values when it is asked. */
  const read = (kind: 'Gauge' | 'Counter', name: string, help: string, label: string | undefined, now: () => Counts) =>
    new prometheus[kind]({
      name: `ironstage_${name}`,
      help,
      registers,
      labelNames: label === undefined ? [] : [label],
      collect() {
        this.reset()
        for (const [value, count] of now()) this.inc(label === undefined ? {} : { [label]: value }, count)
      },
    })
  const { clock, machines, faults, journal, nodes, strikes, queues } = parts
  const tally = <T>(all: Iterable<T>, key: (one: T) => string): Counts => {
    const counts = new Map<string, number>()
    for (const one of all) counts.set(key(one), (counts.get(key(one)) ?? 0) + 1)
    return counts
  }
  const one = (count: number): Counts => [['', count]]
  read('Gauge', 'nodes', 'Nodes by provision state', 'provision_state', () =>
    tally(nodes(), (node) => node.provision_state),
  )
  read('Gauge', 'nodes_reserved', 'Nodes that are locked', undefined, () =>
    one([...nodes()].filter((node) => node.reservation !== null).length),
  )
  read('Gauge', 'machines', 'Machines by power', 'power', () => tally(machines.list(), (machine) => machine.power()))
  read('Gauge', 'faults', 'Faults that were added and not lifted, by effect', 'effect', () =>
    tally(faults.list(), ({ effect }) => effect.kind),
  )
  read('Counter', 'fault_strikes_total', 'Times that faults have struck, by effect', 'effect', () => strikes)
  read('Gauge', 'conductor_queue_length', "Work that waits in the conductor's queues", 'queue', () =>
    Object.entries(queues()),
  )
  read('Gauge', 'journal_entries', 'Entries that the journal keeps', undefined, () =>
    one(Math.max(0, journal.last - journal.first + 1)),
  )
  read('Counter', 'journal_entries_total', 'Entries that were written into the journal', undefined, () =>
    one(journal.last),
  )
  read('Gauge', 'lab_time_seconds', 'Lab time since the lab began', undefined, () => one(clock.elapsed() / 1000))
  return { registry, durations }
}

type Counts = Iterable<readonly [label: string, count: number]>
