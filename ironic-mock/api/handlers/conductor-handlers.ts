import { ironicErrors, type JsonObject } from '../../../base/wire/index.js'
import type { ConductorMember } from '../../members/work-share.js'
import type { IronicApiCall, HandlersOf } from '../call.js'
import { renderPage } from '../listing.js'
import { shownTime } from '../render-node.js'

type ConductorOrder = (conductor: ConductorMember) => number | string

/** Keys that sort conductors. All of them run the same release. */
const ORDERS: Readonly<Record<string, ConductorOrder>> = {
  id: ({ id }) => id,
  hostname: ({ host }) => host,
  conductor_group: ({ group }) => group,
  created_at: ({ createdAt }) => createdAt,
  updated_at: ({ seenAt }) => seenAt,
  online: ({ alive }) => Number(alive),
  version: () => 0,
}
const NOT_SORTABLE = ['alive', 'drivers']

const timeOf = (at: number): string | null => shownTime(new Date(at).toISOString().replace('Z', '000'))

function showConductor({ links }: IronicApiCall<object>, conductor: ConductorMember): JsonObject {
  const { host, group, drivers, alive, createdAt, seenAt } = conductor
  return {
    created_at: timeOf(createdAt),
    updated_at: timeOf(seenAt),
    hostname: host,
    conductor_group: group,
    drivers: [...drivers],
    links: links.pair(`conductors/${host}`),
    alive,
  }
}

function selectConductorFields(out: JsonObject, fields: readonly string[]): JsonObject {
  const unknown = fields.filter((field) => !Object.hasOwn(out, field))
  if (unknown.length > 0) throw ironicErrors.unknownFields(unknown)
  return Object.fromEntries(Object.entries(out).filter(([name]) => fields.includes(name) || name === 'links'))
}

function sortConductors(
  conductors: readonly ConductorMember[],
  order: ConductorOrder,
  sortDir: 'asc' | 'desc',
): ConductorMember[] {
  const sign = sortDir === 'asc' ? 1 : -1
  return [...conductors].sort((a, b) => {
    const left = order(a)
    const right = order(b)
    if (left === right) return sign * (a.id - b.id)
    return left < right ? -sign : sign
  })
}

export const conductorHandlers: HandlersOf<'conductors.list' | 'conductors.get'> = {
  'conductors.list': (call, { conductor }) => {
    const { fields, detail, marker, sort_key, sort_dir } = call.args
    const limit = call.args.limit ?? Infinity
    const sortKey = sort_key ?? 'id'
    const sortDir = sort_dir === 'desc' ? 'desc' : 'asc'
    if (detail && fields) throw ironicErrors.fieldsAndDetail()
    if (limit <= 0) throw ironicErrors.limitNotPositive()
    if (NOT_SORTABLE.includes(sortKey)) throw ironicErrors.notSortable(sortKey)
    const order = Object.hasOwn(ORDERS, sortKey) ? ORDERS[sortKey] : undefined
    if (!order) throw ironicErrors.sortKey(sortKey)
    const sorted = sortConductors(conductor.conductors(), order, sortDir)
    const before = marker ? sorted.findIndex(({ host }) => host === marker) : -1
    if (marker && before < 0) throw ironicErrors.conductorNotFound(marker)
    const page = sorted.slice(before + 1).slice(0, limit)
    const shownFields = fields ?? (detail ? undefined : ['hostname', 'conductor_group', 'alive'])
    const shown = page.map((each) => {
      const whole = showConductor(call, each)
      return shownFields ? selectConductorFields(whole, shownFields) : whole
    })
    const repeated = { detail, fields: shownFields?.join(',') }
    const url = call.links.href('conductors')
    const last = page.at(-1)?.host
    return { body: renderPage('conductors', shown, { limit, sortKey, sortDir }, url, repeated, last) }
  },
  'conductors.get': (call, { conductor }) => {
    const { hostname, fields } = call.args
    const found = conductor.conductors().find(({ host }) => host === hostname)
    if (!found) throw ironicErrors.conductorNotFound(hostname)
    const whole = showConductor(call, found)
    return { body: fields ? selectConductorFields(whole, fields) : whole }
  },
}
