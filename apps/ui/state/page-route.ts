import { EVERYTHING, type Filter } from './filter.js'

/** A place in the page, which its address holds. */
export interface PageRoute {
  /** `fleet`, `nodes`, `machines`, `exchanges`, `faults`, `run`. */
  readonly view: string
  /** Name or uuid of a node; id of a machine. */
  readonly ident: string | null
  readonly query: Readonly<Record<string, string>>
}

const HOME: PageRoute = { view: 'fleet', ident: null, query: {} }

/** `#/nodes/NAME?tab=record` as a route. */
export function routeIn(hash: string): PageRoute {
  const [path = '', search = ''] = hash.replace(/^#\/?/, '').split(/\?(.*)/s)
  const [view = '', ...rest] = path.split('/')
  if (view === '') return HOME
  return {
    view,
    ident: rest.length > 0 && rest[0] !== '' ? decoded(rest.join('/')) : null,
    query: Object.fromEntries(new URLSearchParams(search)),
  }
}

export function formatRoute({ view, ident = null, query = {} }: Partial<PageRoute> & Pick<PageRoute, 'view'>): string {
  const search = new URLSearchParams(Object.entries(query).filter(([, value]) => value !== ''))
  return `#/${view}${ident === null ? '' : `/${encodeURIComponent(ident)}`}${search.size > 0 ? `?${search}` : ''}`
}

/** The filter that an address holds. */
export const filterIn = ({ query }: PageRoute): Filter => ({
  ...EVERYTHING,
  text: query['text'] ?? '',
  fault: query['fault'] ?? '',
  error: query['error'] ?? '',
  states: (query['state'] ?? '').split(',').filter(Boolean),
})

export const filterQueryOf = ({ states, text, fault, error }: Filter): Record<string, string> => ({
  state: states.join(','),
  text,
  fault,
  error,
})

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
