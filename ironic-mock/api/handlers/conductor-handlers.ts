import { ironicErrors, type JsonObject } from '../../../base/wire/index.js'
import type { Backend, IronicApiCall, HandlersOf } from '../call.js'
import { renderPage } from '../listing.js'
import { shownTime } from '../render-node.js'

const SORTABLE = ['id', 'hostname', 'conductor_group', 'created_at', 'updated_at', 'online', 'version']
const NOT_SORTABLE = ['alive', 'drivers']

/** The only conductor: this process, which is alive. */
function showConductor({ links }: IronicApiCall<object>, { conductor, startedAt }: Backend): JsonObject {
  return {
    created_at: shownTime(startedAt),
    updated_at: shownTime(startedAt),
    hostname: conductor.host,
    conductor_group: conductor.group,
    drivers: conductor.drivers().map(({ name }) => name),
    links: links.pair(`conductors/${conductor.host}`),
    alive: true,
  }
}

function selectConductorFields(out: JsonObject, fields: readonly string[]): JsonObject {
  const unknown = fields.filter((field) => !Object.hasOwn(out, field))
  if (unknown.length > 0) throw ironicErrors.unknownFields(unknown)
  return Object.fromEntries(Object.entries(out).filter(([name]) => fields.includes(name) || name === 'links'))
}

export const conductorHandlers: HandlersOf<'conductors.list' | 'conductors.get'> = {
  'conductors.list': (call, backend) => {
    const { fields, detail, marker, sort_key: sortKey = 'id', sort_dir: sortDir } = call.args
    const limit = call.args.limit ?? Infinity
    if (detail && fields) throw ironicErrors.fieldsAndDetail()
    if (limit <= 0) throw ironicErrors.limitNotPositive()
    if (NOT_SORTABLE.includes(sortKey ?? '')) throw ironicErrors.notSortable(sortKey ?? '')
    if (!SORTABLE.includes(sortKey ?? '')) throw ironicErrors.sortKey(sortKey ?? '')
    if (marker && marker !== backend.conductor.host) throw ironicErrors.conductorNotFound(marker)
    const whole = showConductor(call, backend)
    const shownFields = fields ?? (detail ? undefined : ['hostname', 'conductor_group', 'alive'])
    const conductors = marker ? [] : [shownFields ? selectConductorFields(whole, shownFields) : whole]
    const paging = { limit, sortKey: sortKey ?? 'id', sortDir: sortDir === 'desc' ? 'desc' : 'asc' } as const
    const repeated = { detail, fields: shownFields?.join(',') }
    return {
      body: renderPage(
        'conductors',
        conductors,
        paging,
        call.links.href('conductors'),
        repeated,
        backend.conductor.host,
      ),
    }
  },
  'conductors.get': (call, backend) => {
    const { hostname, fields } = call.args
    if (hostname !== backend.conductor.host) throw ironicErrors.conductorNotFound(hostname)
    const whole = showConductor(call, backend)
    return { body: fields ? selectConductorFields(whole, fields) : whole }
  },
}
