import type { RecordingExchange, Recording } from '../format/recording-exchange.js'
import { type ComparedCall, callsOf, firstOf } from './compared-calls.js'
import { compareCalls } from './compare-calls.js'
import type { SeenDifference } from './difference.js'
import { IdMap } from './ids.js'
import { callName } from './call-routes.js'

export interface Comparison {
  readonly differences: readonly SeenDifference[]
  /** Number of calls that were compared. */
  readonly calls: number
}

/** Longest distance of the same call in two recordings. */
const MAX_CALL_DISTANCE = 200

/** Where two recordings differ: which calls each has, and how those that both have were made and answered. */
export function diffRecordings(was: Recording, is: Recording): Comparison {
  const ids = new IdMap()
  const differences: SeenDifference[] = []
  let calls = 0
  const before = channelsOf(was.exchanges)
  const now = channelsOf(is.exchanges)
  const taken = new Set<string>()
  // Clients create what agents are asked about, so that ids are known by then.
  for (const [name, exchanges] of [...before].sort(
    ([one], [other]) => Number(other.startsWith('client')) - Number(one.startsWith('client')),
  )) {
    const partner = [ids.text(name), name, firstLike(name, now, taken)].find(
      (each) => each !== undefined && now.has(each) && !taken.has(each),
    )
    if (partner !== undefined) taken.add(partner)
    const pairs = aligned(callsOf(exchanges), callsOf(partner === undefined ? [] : now.get(partner)!))
    for (const [mine, other] of pairs) {
      calls += 1
      if (mine && other) differences.push(...compareCalls(mine, other, { ids, requests: true }))
      else differences.push(onlyIn(mine ?? other!, mine ? 'missing' : 'new'))
    }
  }
  for (const [name, exchanges] of now)
    if (!taken.has(name))
      for (const call of callsOf(exchanges)) {
        calls += 1
        differences.push(onlyIn(call, 'new'))
      }
  return { differences, calls }
}

export const onlyIn = (call: ComparedCall, kind: 'missing' | 'new'): SeenDifference => {
  const { seq, target } = firstOf(call)
  return {
    call: callName(firstOf(call)),
    place: 'call',
    kind,
    ...(kind === 'missing' ? { was: target } : { is: target }),
    seq,
  }
}

/** Exchanges by who asks whom; those with an agent by its node. */
function channelsOf(exchanges: readonly RecordingExchange[]): Map<string, RecordingExchange[]> {
  const channels = new Map<string, RecordingExchange[]>()
  for (const exchange of exchanges) {
    const { from, to } = exchange
    const name = `${from} ${to} ${from === 'client' ? '' : exchangeNodeOf(exchange)}`
    const known = channels.get(name)
    if (known) known.push(exchange)
    else channels.set(name, [exchange])
  }
  return channels
}

/** The node that an agent's request is about, or Ironic's to an agent. */
export function exchangeNodeOf({ node, target, response }: RecordingExchange): string {
  if (node !== undefined) return node
  const [, beat] = /^\/v1\/heartbeat\/([^/?]+)/.exec(target) ?? []
  const found = (response?.body as { node?: { uuid?: unknown } } | null | undefined)?.node?.uuid
  return beat ?? (typeof found === 'string' ? found : '')
}

function firstLike(
  name: string,
  channels: ReadonlyMap<string, unknown>,
  taken: ReadonlySet<string>,
): string | undefined {
  const parties = name.split(' ').slice(0, 2).join(' ')
  return [...channels.keys()].find((each) => each.startsWith(`${parties} `) && !taken.has(each))
}

/** Pairs the calls of two runs in their order; one that only one of them has stands alone. */
function aligned(
  was: readonly ComparedCall[],
  is: readonly ComparedCall[],
): [was: ComparedCall | undefined, is: ComparedCall | undefined][] {
  const before = was.map(labelOf)
  const now = is.map(labelOf)
  const pairs: [ComparedCall | undefined, ComparedCall | undefined][] = []
  let at = 0
  let other = 0
  while (at < was.length && other < is.length) {
    const [skip, skipOther] = before[at] === now[other] ? [0, 0] : nearest(before, at, now, other)
    for (let count = 0; count < skip; count++) pairs.push([was[at++], undefined])
    for (let count = 0; count < skipOther; count++) pairs.push([undefined, is[other++]])
    if (at < was.length && other < is.length) pairs.push([was[at++], is[other++]])
  }
  while (at < was.length) pairs.push([was[at++], undefined])
  while (other < is.length) pairs.push([undefined, is[other++]])
  return pairs
}

/** How many calls to leave out on each side until both go on alike; all that are left where they never do. */
function nearest(was: readonly string[], at: number, is: readonly string[], other: number): [number, number] {
  for (let sum = 1; sum <= MAX_CALL_DISTANCE; sum++)
    for (let skip = 0; skip <= sum; skip++) {
      const mine = was[at + skip]
      const theirs = is[other + sum - skip]
      if (mine !== undefined && mine === theirs) return [skip, sum - skip]
    }
  return [Math.min(MAX_CALL_DISTANCE, was.length - at), Math.min(MAX_CALL_DISTANCE, is.length - other)]
}

/** The call, and what it asks for where that decides what it does. */
function labelOf(call: ComparedCall): string {
  const { request } = firstOf(call)
  const body = request.body
  const { target, name } = (typeof body === 'object' && body !== null ? body : {}) as Record<string, unknown>
  const asked = [target, name].filter((each) => typeof each === 'string').join(' ')
  return `${callName(firstOf(call))} ${asked}`
}
