import { ironicErrors, type JsonObject } from '../../../wire/index.js'
import type { Backend, Call, HandlersOf } from '../call.js'
import { shownTime } from '../render.js'

/** There is one conductor, and it is alive: it is this process. */
function shown({ links }: Call<object>, { conductor, startedAt }: Backend): JsonObject {
  return {
    created_at: shownTime(startedAt),
    updated_at: shownTime(startedAt),
    hostname: conductor.host,
    conductor_group: '',
    drivers: conductor.drivers().map(({ name }) => name),
    links: links.pair(`conductors/${conductor.host}`),
    alive: true,
  }
}

function selected(out: JsonObject, fields: readonly string[]): JsonObject {
  for (const field of fields) if (!Object.hasOwn(out, field)) throw ironicErrors.unknownField(field)
  return Object.fromEntries(Object.entries(out).filter(([name]) => fields.includes(name) || name === 'links'))
}

export const conductorHandlers: HandlersOf<'conductors.list' | 'conductors.get'> = {
  'conductors.list': (call, backend) => {
    const { fields, detail, limit, marker } = call.args
    if (detail && fields?.length) throw ironicErrors.fieldsAndDetail()
    if (limit != null && limit <= 0) throw ironicErrors.limitNotPositive()
    if (marker && marker !== backend.conductor.host) throw ironicErrors.conductorNotFound(marker)
    const whole = shown(call, backend)
    const shownFields = fields?.length ? fields : ['hostname', 'conductor_group', 'alive']
    return { body: { conductors: marker ? [] : [detail ? whole : selected(whole, shownFields)] } }
  },
  'conductors.get': (call, backend) => {
    const { hostname, fields } = call.args
    if (hostname !== backend.conductor.host) throw ironicErrors.conductorNotFound(hostname)
    const whole = shown(call, backend)
    return { body: fields?.length ? selected(whole, fields) : whole }
  },
}
