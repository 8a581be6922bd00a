import { isObject } from '../../../base/runtime/index.js'
import { isMasked } from '../masking/masker.js'
import type { Difference } from './difference.js'
import { variationOf } from './varying-fields.js'
import type { IdMap } from './ids.js'

/** A difference at one place of a message, without its call. */
export type PlaceDifference = Pick<Difference, 'place' | 'kind' | 'was' | 'is'>

export interface DocumentComparison {
  readonly ids: IdMap
  /** Compare keys and types only: the values are those of another moment. */
  readonly shapeOnly?: boolean
}

/** Where two JSON documents differ, apart from values that vary by their field. */
export function compareDocuments(
  was: unknown,
  is: unknown,
  place: string,
  comparison: DocumentComparison,
): PlaceDifference[] {
  const found: PlaceDifference[] = []
  new Comparer(comparison, found).compare(was, is, place, '')
  return found
}

class Comparer {
  readonly #ids: IdMap
  readonly #shapeOnly: boolean
  readonly #found: PlaceDifference[]

  constructor({ ids, shapeOnly = false }: DocumentComparison, found: PlaceDifference[]) {
    this.#ids = ids
    this.#shapeOnly = shapeOnly
    this.#found = found
  }

  compare(was: unknown, is: unknown, place: string, key: string): void {
    switch (variationOf(key)) {
      case 'moment':
        return
      case 'id':
        if (!isContainer(was) && !isContainer(is)) return this.#id(was, is, place)
        break
      case 'time':
        // A time of another form is another type, and one that is there or not is a value.
        if (typeof was === typeof is && (was === null) === (is === null)) return
        break
      case 'url':
        if (typeof was === 'string' && typeof is === 'string') {
          const from = this.#ids.text(urlPathOf(was))
          const to = urlPathOf(is)
          return from === to ? undefined : this.#value(was, is, place)
        }
        break
      case undefined:
    }
    if (typeof was === 'string' && typeof is === 'string') return this.#texts(was, is, place)
    if (Array.isArray(was) && Array.isArray(is)) return this.#lists(was, is, place)
    if (isObject(was) && isObject(is)) return this.#objects(was, is, place)
    if (was === is) return
    // Null stands for a value that is not there yet, of any type.
    const kind = valueKindOf(was) === valueKindOf(is) || was === null || is === null ? 'value' : 'type'
    if (kind === 'type') this.#found.push({ place, kind, was, is })
    else this.#value(was, is, place)
  }

  #value(was: unknown, is: unknown, place: string): void {
    if (!this.#shapeOnly) this.#found.push({ place, kind: 'value', was, is })
  }

  #id(was: unknown, is: unknown, place: string): void {
    if (!this.#ids.match(was, is)) this.#value(was, is, place)
  }

  #texts(was: string, is: string, place: string): void {
    if (isMasked(was) && isMasked(is)) {
      // Ironic itself hides one of them.
      if (was.endsWith('*') !== is.endsWith('*')) this.#value(was, is, place)
      return
    }
    const before = inner(was)
    const now = inner(is)
    if (before !== undefined && now !== undefined) return this.compare(before, now, place, '')
    if (this.#ids.text(was) !== is) this.#value(was, is, place)
  }

  #lists(was: readonly unknown[], is: readonly unknown[], place: string): void {
    const left = is.map((item, index) => ({ item, index }))
    const pairs = was.map((item) => {
      const at = left.findIndex((other) => this.#same(item, other.item))
      return { item, other: at < 0 ? undefined : left.splice(at, 1)[0]! }
    })
    for (const [index, { item, other }] of pairs.entries()) {
      const here = `${place}[${itemNameOf(item) ?? index}]`
      // Items without a name are those in the same place.
      const partner = other ?? (itemNameOf(item) === undefined ? takeAt(left, index) : undefined)
      if (partner) this.compare(item, partner.item, here, '')
      else this.#found.push({ place: here, kind: 'missing', was: item })
    }
    for (const { item, index } of left)
      this.#found.push({ place: `${place}[${itemNameOf(item) ?? index}]`, kind: 'new', is: item })
  }

  /** True if two items of a list are the same thing: by what is known of their ids, by name, or as a whole. */
  #same(was: unknown, is: unknown): boolean {
    if (!isObject(was) || !isObject(is))
      return typeof was === 'string' && typeof is === 'string' && this.#ids.text(was) === is
    for (const key of ['uuid', 'id']) {
      if (this.#ids.known(was[key], is[key])) return true
      if (was[key] !== undefined && was[key] === is[key]) return true
    }
    const name = itemNameOf(was)
    return name !== undefined && name === itemNameOf(is)
  }

  #objects(was: Record<string, unknown>, is: Record<string, unknown>, place: string): void {
    // Ids first: texts in the same document may name them.
    const keys = Object.keys(was).sort(
      (one, other) => Number(variationOf(other) === 'id') - Number(variationOf(one) === 'id'),
    )
    const names = new Map(keys.map((key) => [this.#ids.text(key), key]))
    for (const [name, key] of names) {
      const here = place === '' ? key : `${place}.${key}`
      if (Object.hasOwn(is, name)) this.compare(was[key], is[name], here, key)
      else if (variationOf(key) !== 'moment') this.#found.push({ place: here, kind: 'missing', was: was[key] })
    }
    for (const key of Object.keys(is))
      if (!names.has(key) && variationOf(key) !== 'moment')
        this.#found.push({ place: place === '' ? key : `${place}.${key}`, kind: 'new', is: is[key] })
  }
}

/** Text that identifies an item of a list. */
function itemNameOf(item: unknown): string | undefined {
  if (!isObject(item)) return undefined
  const { interface: of, step, name, address, rel, mac_address: mac } = item
  const text = (value: unknown) => (typeof value === 'string' && value !== '' ? value : undefined)
  if (text(step) !== undefined) return [text(of), text(step)].filter(Boolean).join('.')
  return text(name) ?? text(address) ?? text(mac) ?? text(rel)
}

function takeAt<T extends { index: number }>(left: T[], index: number): T | undefined {
  const at = left.findIndex((one) => one.index === index)
  return at < 0 ? undefined : left.splice(at, 1)[0]
}

/** A document in a text, as in Ironic's `error_message`. */
function inner(text: string): unknown {
  if (!/^\s*\{/.test(text)) return undefined
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

const urlPathOf = (url: string): string => url.replace(/^[a-z][a-z\d+.-]*:\/\/[^/]*/i, '')
const isContainer = (value: unknown): boolean => typeof value === 'object' && value !== null
const valueKindOf = (value: unknown): string => (Array.isArray(value) ? 'list' : typeof value)
