import { defined, UserError, systemClock, type Clock, type Logger } from '../../base/runtime/index.js'
import type { Dispatch, WireRequest } from '../../base/wire/index.js'
import type { Guard, MemberDatabase } from '../../ironic-mock/index.js'
import type {
  ControlCall,
  ControlHandler,
  ControlOperationId,
  LabRecordings,
  LabReport,
  MissingProcess,
  ProcessReport,
} from '../../control/index.js'
import { controlApi, controlRefusal, isControlPath } from '../control/control-api.js'
import { faultHandlers } from '../control/handlers.js'
import { MAX_ENTRIES, nextUrl } from '../control/journal-handlers.js'
import type { JoinedPast } from '../control/look-handlers.js'
import { makeHar } from '../journal/har.js'
import type { Observation } from '../stage/observation.js'
import { readCursor, type EntryCursor } from './entry-cursor.js'
import { joinedEvents } from './joined-events.js'
import { JoinedJournal, type EntryConditions } from './joined-journal.js'
import { isMemberToken, MEMBER_HEADER } from './member-token.js'
import { SharedFaults } from './shared-faults.js'

type ControlHandlers = Readonly<Record<ControlOperationId, ControlHandler>>

interface LabMemberParts {
  readonly shared: MemberDatabase
  readonly observation: Observation
  /** A secret, used if this process is the first. */
  readonly secret: string
  /** Lab time. */
  readonly clock: Clock
  readonly logger: Logger
}

/** The lab of a process among those of its database: what all of them share, and what is joined of them. */
export interface LabMembers extends AsyncDisposable {
  readonly faults: SharedFaults
  readonly past: JoinedPast
  /**
   * The control API of all processes, beside another API. Another process is answered for this one alone, so that no
   * question goes in a circle.
   */
  beside(
    handlers: ControlHandlers,
    access: { readonly guard?: Guard; readonly recordings?: LabRecordings },
  ): (api: Dispatch) => Dispatch
  /** True for a call of the control API that says to be another process's. */
  isAsking(request: WireRequest): boolean
}

/**
 * Puts the faults of all processes in force.
 *
 * @throws UserError when the database does not answer
 */
export async function openLabMembers(parts: LabMemberParts): Promise<LabMembers> {
  const { shared, observation, clock, logger } = parts
  const { injector, recorder, journal } = observation
  const secret = await shared.faults.secret(parts.secret)
  const faults = new SharedFaults({ shared, injector, recorder, logger })
  await faults.begin()
  const joined = new JoinedJournal({ shared, journal, secret })
  return {
    faults,
    past: {
      entriesOf: async (node) => (await joined.readAll({ node }, new Map())).entries,
      rememberedOf: (node) => journal.remembered(node).map((entry) => ({ ...entry, process: joined.own.process })),
    },
    beside: (handlers, { guard, recordings }) => {
      const ofAll = joinedHandlers(handlers, joined, { shared, faults, recordings, now: () => clock.now() })
      return (api) => {
        const alone = controlApi({ api, handlers, logger })
        const together = controlApi({ api, handlers: ofAll, logger, ...defined({ guard }) })
        return (request) => {
          const token = request.headers[MEMBER_HEADER]
          if (token === undefined) return together(request)
          return isOfMember(request, token) ? alone(request) : Promise.resolve(STRANGER)
        }
      }
    },
    isAsking: ({ headers, target }) => headers[MEMBER_HEADER] !== undefined && isControlPath(target),
    [Symbol.asyncDispose]: () => {
      faults[Symbol.dispose]()
      joined.close()
      return Promise.resolve()
    },
  }

  function isOfMember({ method, target }: WireRequest, token: string): boolean {
    const { stream } = joined.own
    return method === 'GET' && isMemberToken(token, secret, { stream, target }, systemClock().now())
  }
}

const STRANGER = controlRefusal(
  401,
  'unauthorized',
  'this is no process of the same database, or one that meant another',
  'leave the header out: it is for processes of ironstage',
)

interface JoinedParts {
  readonly shared: MemberDatabase
  readonly faults: SharedFaults
  readonly recordings: LabRecordings | undefined
  readonly now: () => number
}

/** The calls whose answer is of all processes, in the place of those of one. */
function joinedHandlers(
  own: ControlHandlers,
  joined: JoinedJournal,
  { shared, faults, recordings, now }: JoinedParts,
): ControlHandlers {
  const all = ({ query }: ControlCall) => {
    const { conditions, start } = readQuery(query)
    return joined.readAll(conditions, start ?? new Map())
  }
  return {
    ...own,
    ...faultHandlers(faults),
    index: async (call) => ({
      ...((await own.index(call)) as LabReport),
      processes: processesOf(shared),
      journal: { first: joined.own.journal.first, last: joined.own.journal.last, cursor: await joined.end() },
    }),
    journal: async ({ query, request }) => {
      const { conditions, start = new Map() } = readQuery(query)
      const limit = Math.min(Number(query['limit'] ?? 100), MAX_ENTRIES)
      const last = query['last'] === undefined ? undefined : Math.min(Number(query['last']), MAX_ENTRIES)
      const { isMore, ...page } = await joined.page(conditions, start, last === undefined ? { limit } : { last })
      const cursor = page.entries.at(-1)?.cursor
      return { ...page, next: isMore && cursor !== undefined ? nextUrl(request.base, request.target, cursor) : null }
    },
    journalNdjson: async (call) => {
      const { entries, missing } = await all(call)
      const lines = [...entries, ...missing.map(missingLine)].map((line) => `${JSON.stringify(line)}\n`)
      return { status: 200, headers: { 'content-type': 'application/x-ndjson' }, body: lines.join('') }
    },
    journalHar: async (call) => {
      const { entries, missing } = await all(call)
      const absent = missing.map(({ process, why }) => `${process} is missing: ${why}`)
      return makeHar(entries, absent.length === 0 ? undefined : absent.join('; '))
    },
    recording: async (call) => {
      if (!recordings) return own.recording(call)
      const { entries } = await all(call)
      return { status: 200, headers: { 'content-type': 'application/x-ndjson' }, body: recordings.write(entries) }
    },
    events: async ({ query, request }) => {
      const { conditions, start } = readQuery(query)
      const header = request.headers['last-event-id']
      const from = header === undefined ? start : readCursor(header, 'Last-Event-ID')
      return joinedEvents(joined, conditions, from ?? readCursor(await joined.end(), 'cursor'), now)
    },
    ...WITHOUT_SNAPSHOTS,
  }
}

const refuseSnapshot: ControlHandler = () => {
  throw new UserError(
    'shared-database',
    'several processes have this database, and machines elsewhere would not go back with it: there are no snapshots and no reset',
  )
}

const WITHOUT_SNAPSHOTS = {
  takeSnapshot: refuseSnapshot,
  restoreSnapshot: refuseSnapshot,
  fork: refuseSnapshot,
  removeSnapshot: refuseSnapshot,
  exportSnapshot: refuseSnapshot,
  importSnapshot: refuseSnapshot,
  reset: refuseSnapshot,
} satisfies Partial<ControlHandlers>

const missingLine = ({ process, why }: MissingProcess): object => ({ kind: 'missing', process, why })

/** The conditions of a query, and the place from which on entries are wanted. */
function readQuery(query: ControlCall['query']): { conditions: EntryConditions; start?: EntryCursor } {
  const { after, limit: _, last: _last, ...conditions } = query
  return { conditions, ...defined({ start: after === undefined ? undefined : readCursor(after, 'after') }) }
}

/** The processes that live, and those that have ended without a word. */
function processesOf({ members, self }: MemberDatabase): ProcessReport[] {
  return (members?.members ?? [])
    .filter(({ isOnline, host }) => isOnline || host === self.host)
    .map((row) => ({ name: row.host, role: row.role, alive: members!.isAlive(row) }))
}
