/**
 * Keys with JSON types. `a|b`: either; `key?`: may be missing; `*`: any key; `internal 3`: an object with the
 * keys of that row; `2 links`.
 */
export type Shape = string | [Shape] | { [key: string]: Shape }

export interface ConformsOptions {
  internals: readonly (readonly string[])[]
  /** Keys that may be null or missing in one and not in the other: they depend on the moment or on the hardware. */
  momentary?: readonly string[]
  /** Keys of internals that one side may have and the other not. */
  internalApart?: readonly string[]
}

/** Where a value of ours parts from what was recorded; empty when it does not. */
export function differences(value: unknown, shape: Shape, options: ConformsOptions): string[] {
  const found: string[] = []
  walk(value, shape, '', options, found)
  return found
}

function walk(value: unknown, shape: Shape, at: string, options: ConformsOptions, found: string[]): void {
  const momentary = options.momentary?.includes(at.slice(at.lastIndexOf('.') + 1))
  if (momentary && (value === null || (typeof shape === 'string' && shape.split('|').includes('null')))) return
  if (typeof shape === 'string') scalar(value, shape, at, options, found)
  else if (Array.isArray(shape)) {
    if (!Array.isArray(value)) return void found.push(`${at} is ${typeOf(value)}, recorded list`)
    const [item] = shape
    if (item === 'nothing') {
      if (value.length > 0) found.push(`${at} has ${value.length} items, recorded none`)
    } else value.forEach((each, index) => walk(each, item, `${at}[${index}]`, options, found))
  } else if (typeOf(value) !== 'object') found.push(`${at} is ${typeOf(value)}, recorded object`)
  else members(value as Record<string, unknown>, shape, at, options, found)
}

function members(
  value: Record<string, unknown>,
  shape: { [key: string]: Shape },
  at: string,
  options: ConformsOptions,
  found: string[],
): void {
  const any = shape['*']
  if (any !== undefined) {
    for (const [key, member] of Object.entries(value)) walk(member, any, `${at}.${key}`, options, found)
    return
  }
  const ours = Object.keys(value)
  const recorded = Object.entries(shape).map(
    ([key, member]) => [key.replace(/\?$/, ''), key.endsWith('?'), member] as const,
  )
  const missing = recorded
    .filter(([key, optional]) => !optional && !ours.includes(key) && !options.momentary?.includes(key))
    .map(([key]) => key)
  const more = ours.filter((key) => !recorded.some(([name]) => name === key) && !options.momentary?.includes(key))
  if (missing.length > 0) found.push(`${at} lacks ${missing.join()}`)
  if (more.length > 0) found.push(`${at} has ${more.join()} besides`)
  for (const [key, , member] of recorded) if (key in value) walk(value[key], member, `${at}.${key}`, options, found)
}

function scalar(value: unknown, shape: string, at: string, options: ConformsOptions, found: string[]): void {
  const internal = /^internal (\d+)$/.exec(shape)?.[1]
  if (internal !== undefined) {
    const why = internalDifference(Object.keys(value as object), Number(internal), options)
    if (why !== undefined) found.push(`${at} ${why}`)
    return
  }
  const type = typeOf(value)
  if (!shape.split('|').includes(type)) found.push(`${at} is ${type}, recorded ${shape}`)
}

/** How two sets of keys of driver_internal_info differ; undefined when they do not. */
function internalDifference(
  ours: readonly string[],
  row: number,
  { internals, internalApart = [] }: ConformsOptions,
): string | undefined {
  const recorded = internals[row]!
  const counts = (key: string) => !internalApart.includes(key)
  const missing = recorded.filter((key) => counts(key) && !ours.includes(key))
  const more = ours.filter((key) => counts(key) && !recorded.includes(key))
  if (missing.length + more.length === 0) return undefined
  return [missing.length > 0 && `lacks ${missing.join()}`, more.length > 0 && `has ${more.join()} besides`]
    .filter(Boolean)
    .join(' and ')
}

function typeOf(value: unknown): string {
  if (value === null) return 'null'
  if (!Array.isArray(value)) return typeof value
  const links = value.length > 0 && value.every((each: { href?: string; rel?: string }) => each?.href && each.rel)
  return links ? `${value.length} links` : 'list'
}
