import { opensAny, unauthorized } from '../access/authenticate.js'
import type { Session } from '../access/sessions.js'
import { checkCreation, checkPatch, integer, text } from '../protocol/checks.js'
import { collection, head, link, pathOf, status, type Document } from '../protocol/document.js'
import { ofService, type Call, type Outcome, type Resource } from '../protocol/resource.js'
import { refused } from '../protocol/refusal.js'

const SESSIONS = ['SessionService', 'Sessions']

const document = ({ id, credentials, created }: Session): Document => ({
  ...head('Session', [...SESSIONS, id], 'Session'),
  UserName: credentials.username,
  Password: null,
  CreatedTime: new Date(created).toISOString(),
  SessionType: 'Redfish',
})

const find = ({ service, params, caller }: Call): Session | undefined =>
  caller && service.sessions.of(caller).find(({ id }) => id === params['session'])

const service: Resource = ofService('/SessionService', {
  reads: 'read sessions',
  changes: 'change sessions',
  get: ({ service: { sessions } }) => ({
    ...head('SessionService', ['SessionService'], 'Session Service'),
    Status: status(),
    ServiceEnabled: true,
    SessionTimeout: sessions.timeout,
    Sessions: link(...SESSIONS),
  }),
  patch: ({ service: { sessions }, body }) => {
    checkPatch(body, { SessionTimeout: integer(30, 86_400) }, { ServiceEnabled: true, Sessions: {} })
    sessions.changeTimeout(body['SessionTimeout'] as number)
  },
})

/** A session has the rights of the account on each machine that it opens. */
function signIn({ service: parts, body }: Call): Outcome {
  const name = text({ most: 256 })
  checkCreation(body, { UserName: name, Password: name, Token: name, SessionType: name }, ['UserName', 'Password'])
  const credentials = { username: String(body['UserName']), password: String(body['Password']) }
  if (!opensAny(parts, credentials)) throw unauthorized()
  const session = parts.sessions.open(credentials)
  const headers = { 'x-auth-token': session.token, location: pathOf(...SESSIONS, session.id) }
  return { status: 201, headers, document: document(session) }
}

const members = {
  reads: 'read sessions',
  changes: 'sign in',
  get: ({ service: { sessions }, caller }: Call) =>
    collection(
      'SessionCollection',
      SESSIONS,
      'Session Collection',
      (caller ? sessions.of(caller) : []).map(({ id }) => link(...SESSIONS, id)),
    ),
  post: signIn,
}

/** Sessions: each caller sees those with its own credentials. */
export const SESSION_RESOURCES: readonly Resource[] = [
  service,
  ofService('/SessionService/Sessions', members),
  // Both addresses are the specification's for signing in.
  ofService('/SessionService/Sessions/Members', { ...members, get: members.get }),
  ofService('/SessionService/Sessions/{session}', {
    reads: 'read sessions',
    changes: 'sign out',
    get: (call) => {
      const session = find(call)
      return session && document(session)
    },
    delete: (call) => {
      const session = find(call)
      if (!session) throw refused(404, 'ResourceNotFound', ['Session', call.params['session']!])
      call.service.sessions.end(session.id)
    },
  }),
]
