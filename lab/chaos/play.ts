import { hours, minutes, seconds } from '../../base/runtime/index.js'
import { ConnectionFailed, IronicClient, type Transport } from '../../base/wire/index.js'
import { createStagedLab, type StagedLab } from '../create-lab.js'
import { enroll } from '../enroll.js'
import type { JournalEntry } from '../journal/entry.js'
import { Watch, type InvariantViolation } from './invariants.js'
import { Owner } from './owner.js'
import { nodeNumberOf, type ChaosPlan } from './chaos-plan.js'

/** Outcome of a run. */
export interface ChaosOutcome {
  violations: readonly InvariantViolation[]
  /** How often a fault struck. */
  strikes: number
  /** How often a deployment was asked for. */
  deployments: number
  /** How often a node became active. */
  active: number
  /** Entries of the journal. */
  entries: number
}

/** Lab time that nodes get once all faults are lifted: longer than several of Ironic's limits one after another. */
const CHAOS_SETTLE_TIME = hours(4)

/** Plays a plan in a lab of its own, in virtual time. */
export async function playChaos(
  plan: ChaosPlan,
  options: { signal?: AbortSignal; onEntry?: (entry: JournalEntry) => void } = {},
): Promise<ChaosOutcome> {
  await using lab = await createStagedLab({ seed: plan.seed })
  using watch = new Watch(lab)
  let entries = 0
  let active = 0
  using _entries = lab.journal.listen((entry) => {
    entries++
    if (entry.kind === 'state' && entry.state === 'active' && entry.was !== 'active') active++
    options.onEntry?.(entry)
  })
  const ended = new AbortController()
  const owners = ownersOf(plan, lab, watch, ended.signal)
  // A fault names a node, which must be there.
  for (const owner of owners) await owner.enroll()
  for (const fault of plan.faults) lab.faults.add(fault)
  const working = Promise.all(owners.map((owner) => owner.work()))
  const sleep = (ms: number): Promise<unknown> =>
    lab.wait<unknown>(Promise.race<unknown>([lab.clock.sleep(ms), working]))
  try {
    await sleep(plan.duration - lab.clock.elapsed())
    const strikes = lab.faults.list().reduce((sum, { struck }) => sum + struck, 0)
    lab.faults.clear()
    for (const owner of owners) owner.wantLast()
    const unsettled = await settle(owners, sleep, options.signal)
    ended.abort()
    await lab.wait(working)
    await lab.clock.advance(seconds(1))
    watch.atEnd(unsettled, strikes)
    const deployments = owners.reduce((sum, owner) => sum + owner.deployments, 0)
    return { violations: watch.violations, strikes, active, entries, deployments }
  } finally {
    ended.abort()
  }
}

function ownersOf(plan: ChaosPlan, lab: StagedLab, watch: Watch, signal: AbortSignal): Owner[] {
  const client = clientOf(lab, () => watch.sent())
  const account = () => undefined
  // Its BMCs take the account of their first caller.
  const setAccount = () => {}
  return plan.nodes.map(
    (node) =>
      new Owner(node, plan.actions, {
        lab,
        client,
        signal,
        enroll: (name) => enroll({ ...lab, client, account, setAccount }, lab.spec(nodeNumberOf(name) + 1), { name }),
        asks: (name, config) => watch.asks(name, config),
        reached: (name, config) => watch.active(name, config),
      }),
  )
}

/** Waits until all owners have what they want, and returns the nodes that never got there. */
async function settle(
  owners: readonly Owner[],
  sleep: (ms: number) => Promise<unknown>,
  signal: AbortSignal | undefined,
): Promise<{ node: string; why: string }[]> {
  const missing = () => owners.filter(({ isReached }) => !isReached)
  for (let waited = 0; waited < CHAOS_SETTLE_TIME && missing().length > 0; waited += minutes(1)) {
    signal?.throwIfAborted()
    await sleep(minutes(1))
  }
  return Promise.all(missing().map(async (owner) => ({ node: owner.node, why: await owner.standing() })))
}

/** Lab time after which a client no longer waits for an answer. */
const CHAOS_CLIENT_TIMEOUT = minutes(1)

/** A client as another program is one: it gives up on an answer, and all that it sends is counted. */
function clientOf(lab: StagedLab, sent: () => void): IronicClient {
  const transport: Transport = {
    send: async (request) => {
      sent()
      const answered = new AbortController()
      const gaveUp = new AbortController()
      void lab.clock
        .sleep(CHAOS_CLIENT_TIMEOUT, { signal: answered.signal })
        .then(() => gaveUp.abort(new ConnectionFailed('no answer came')))
        .catch(() => {})
      try {
        return await lab.transport.send({ ...request, signal: gaveUp.signal })
      } finally {
        answered.abort()
      }
    },
  }
  return new IronicClient({ transport, endpoint: lab.url, headers: lab.headers, clock: lab.clock })
}
