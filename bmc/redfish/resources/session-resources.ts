import { opensAny, unauthorizedRefusal } from '../access/authenticate.js'
import type { Session } from '../access/redfish-sessions.js'
import { checkCreation, checkPatch, integerCheck, textCheck } from '../protocol/value-checks.js'
import {
  makeCollection,
  resourceHead,
  referenceTo,
  redfishPath,
  enabledStatus,
  type RedfishDocument,
} from '../protocol/redfish-document.js'
import { ofService, type RedfishCall, type RedfishOutcome, type RedfishResource } from '../protocol/resource.js'
import { messageRefusal } from '../protocol/redfish-refusal.js'

const SESSIONS = ['SessionService', 'Sessions']

const document = ({ id, credentials, created }: Session): RedfishDocument => ({
  ...resourceHead('Session', [...SESSIONS, id], 'Session'),
  UserName: credentials.username,
  Password: null,
  CreatedTime: new Date(created).toISOString(),
  SessionType: 'Redfish',
})

const findSession = ({ service, params, caller }: RedfishCall): Session | undefined =>
  caller && service.sessions.of(caller).find(({ id }) => id === params['session'])

const sessionService: RedfishResource = ofService('/SessionService', {
  reads: 'read sessions',
  changes: 'change sessions',
  get: ({ service: { sessions } }) => ({
    ...resourceHead('SessionService', ['SessionService'], 'Session Service'),
    Status: enabledStatus(),
    ServiceEnabled: true,
    SessionTimeout: sessions.timeout,
    Sessions: referenceTo(...SESSIONS),
  }),
  patch: ({ service: { sessions }, body }) => {
    checkPatch(body, { SessionTimeout: integerCheck(30, 86_400) }, { ServiceEnabled: true, Sessions: {} })
    sessions.changeTimeout(body['SessionTimeout'] as number)
  },
})

/** A session has the rights of the account on each machine that it opens. */
function signIn({ service: parts, body }: RedfishCall): RedfishOutcome {
  const name = textCheck({ most: 256 })
  checkCreation(body, { UserName: name, Password: name, Token: name, SessionType: name }, ['UserName', 'Password'])
  const credentials = { username: String(body['UserName']), password: String(body['Password']) }
  if (!opensAny(parts, credentials)) throw unauthorizedRefusal()
  const session = parts.sessions.open(credentials)
  const headers = { 'x-auth-token': session.token, location: redfishPath(...SESSIONS, session.id) }
  return { status: 201, headers, document: document(session) }
}

const sessionCollection = {
  reads: 'read sessions',
  changes: 'sign in',
  get: ({ service: { sessions }, caller }: RedfishCall) =>
    makeCollection(
      'SessionCollection',
      SESSIONS,
      'Session Collection',
      (caller ? sessions.of(caller) : []).map(({ id }) => referenceTo(...SESSIONS, id)),
    ),
  post: signIn,
}

/** Sessions: each caller sees those with its own credentials. */
export const SESSION_RESOURCES: readonly RedfishResource[] = [
  sessionService,
  ofService('/SessionService/Sessions', sessionCollection),
  // Both addresses are the specification's for signing in.
  ofService('/SessionService/Sessions/Members', { ...sessionCollection, get: sessionCollection.get }),
  ofService('/SessionService/Sessions/{session}', {
    reads: 'read sessions',
    changes: 'sign out',
    get: (call) => {
      const session = findSession(call)
      return session && document(session)
    },
    delete: (call) => {
      const session = findSession(call)
      if (!session) throw messageRefusal(404, 'ResourceNotFound', ['Session', call.params['session']!])
      call.service.sessions.end(session.id)
    },
  }),
]
