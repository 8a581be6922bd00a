/** How two runs differ in one place. */
export interface Difference {
  /** Method and route of the call: `GET /v1/nodes/{node_ident}`. */
  readonly call: string
  /** `status`, `states`, `header.location`, `body.nodes[0].driver`, or `call` where one side has no such call. */
  readonly place: string
  /** The value is `missing` in the second run, `new` in it, has another `type`, or another `value`. */
  readonly kind: 'missing' | 'new' | 'type' | 'value'
  /** The value in the first run; undefined if absent. */
  readonly was?: unknown
  readonly is?: unknown
}

/** A difference with the exchange in which it was seen. */
export interface SeenDifference extends Difference {
  /** Number of the exchange in the first run; in the second one for a call that only that has. */
  readonly seq: number
}

/** A value for a sentence, in one line. */
function printValue(value: unknown): string {
  const text = JSON.stringify(value) ?? 'nothing'
  const characters = [...text]
  return characters.length > MAX_SHOWN_VALUE_LENGTH
    ? `${characters.slice(0, MAX_SHOWN_VALUE_LENGTH).join('')}... (${characters.length} characters)`
    : text
}
const MAX_SHOWN_VALUE_LENGTH = 160

/** The place and what differs there, as a sentence. */
export function sentenceOf({ place, kind, was, is }: Difference): string {
  if (place === 'call') return kind === 'missing' ? 'is no longer made' : 'is an additional call'
  switch (kind) {
    case 'missing':
      return `${place} is missing, was ${printValue(was)}`
    case 'new':
      return `${place} is new: ${printValue(is)}`
    case 'type':
      return `${place} was ${printValue(was)}, is ${printValue(is)}, of another type`
    case 'value':
      return `${place} was ${printValue(was)}, is ${printValue(is)}`
  }
}

/** Differences of the same kind in the same place of the same call, with the same values where these are compared. */
export interface DifferenceGroup {
  readonly first: SeenDifference
  /** Numbers of all exchanges that have it. */
  readonly seqs: readonly number[]
}

export function groupDifferences(differences: readonly SeenDifference[]): DifferenceGroup[] {
  const groups = new Map<string, { first: SeenDifference; seqs: number[] }>()
  for (const difference of differences) {
    const { call, place, kind, was, is } = difference
    const key = JSON.stringify([call, withoutIndexes(place), kind, was, is])
    const known = groups.get(key)
    if (known) known.seqs.push(difference.seq)
    else groups.set(key, { first: difference, seqs: [difference.seq] })
  }
  return [...groups.values()]
}

export const withoutIndexes = (place: string): string => place.replace(/\[[^\]]*\]/g, '[]')
