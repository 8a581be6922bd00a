import { basicAuthorization } from '../../base/bytes/index.js'
import { defined, errorChain, isSameSecret, UserError, type Clock, type Logger } from '../../base/runtime/index.js'
import type { WireRequest, WireResponse } from '../../base/wire/index.js'
import type { Guard } from '../api/ironic-api.js'
import { Htpasswd, UnusableUserFile } from './htpasswd.js'
import { TooManyPasswords } from './password-comparisons.js'

export interface BasicAuthOptions {
  /** `[DEFAULT]http_basic_auth_user_file` */
  file: string
  /** Credentials of the process itself, accepted beside those of the file. */
  own?: BasicCredentials
  clock: Clock
  logger: Logger
}

interface BasicCredentials {
  readonly username: string
  readonly password: string
}

/**
 * Routes without authentication: the calls of a ramdisk and the root documents. A heartbeat whose ident has other
 * characters is not public.
 */
const PUBLIC = /^\/(v1(\/(lookup|heartbeat\/[a-z0-9-]+|continue_inspection))?)?(\.json|\.xml)?$/

/**
 * Authentication as by Ironic's `http_basic`: a request without credentials of the file gets a 401, in that
 * middleware's own shape.
 *
 * @throws UserError `htpasswd` for a file that cannot be used
 */
export async function basicAuth({ file, own, clock, logger }: BasicAuthOptions): Promise<Guard> {
  const users = new Htpasswd(file, clock)
  await users.check().catch((cause: unknown) => {
    throw new UserError('htpasswd', `the users of the API cannot be read from ${file}`, {
      cause,
      remedy: 'create it with htpasswd -B -c FILE USER, and name it in [DEFAULT]http_basic_auth_user_file',
      kind: 'usage',
    })
  })
  return async (request) => {
    if (isPublic(request)) return undefined
    try {
      const refused = await checkCredentials(request, users, own)
      return refused && makeAuthAnswer(request, refused)
    } catch (error) {
      if (error instanceof TooManyPasswords) return makeAuthAnswer(request, { status: 503, message: error.message })
      if (!(error instanceof UnusableUserFile)) throw error
      logger('error', `no user can log in: ${errorChain(error).join(': ')}`)
      return makeAuthAnswer(request, { status: 500, message: `Invalid configuration file. ${error.message}` })
    }
  }
}

/** Compares the path as it was sent: a needlessly encoded one is not public. */
function isPublic({ target }: WireRequest): boolean {
  const path = target.replace(/\?.*$/s, '')
  return PUBLIC.test(path.replace(/\/+$/, '') || path)
}

interface Refusal {
  readonly status: 400 | 401 | 500 | 503
  readonly message: string
}

/** Checks credentials; sentences and their order are those of Ironic 39.0.0's middleware, as recorded. */
async function checkCredentials(
  { headers: { authorization: header }, peer = '' }: WireRequest,
  users: Htpasswd,
  own: BasicCredentials | undefined,
): Promise<Refusal | undefined> {
  if (header === undefined) return { status: 401, message: 'Authorization required' }
  const [, type, token] = /^(\S+)\s+(.+)$/s.exec(header.trim()) ?? []
  if (type === undefined || token === undefined) return { status: 400, message: 'Could not parse Authorization header' }
  if (type.toLowerCase() !== 'basic') return { status: 400, message: `Unsupported authorization type "${type}"` }
  const sent = credentials(token)
  if (!sent) return { status: 400, message: 'Could not decode authorization token' }
  if (own && isSameLogin(sent, own)) return undefined
  if (await users.matches(sent.username, sent.password, peer)) return undefined
  return { status: 401, message: 'Incorrect username or password' }
}

function credentials(token: string): BasicCredentials | undefined {
  if (!/^([A-Za-z0-9+/]{4})*([A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/.test(token)) return undefined
  const pair = Buffer.from(token, 'base64')
  const colon = pair.indexOf(':')
  if (colon < 0) return undefined
  try {
    const username = new TextDecoder('utf-8', { fatal: true }).decode(pair.subarray(0, colon))
    return { username, password: pair.subarray(colon + 1).toString('utf8') }
  } catch {
    return undefined
  }
}

const isSameLogin = (sent: BasicCredentials, own: BasicCredentials): boolean =>
  isSameSecret(basicAuthorization(sent), basicAuthorization(own))

const makeAuthAnswer = ({ method }: WireRequest, { status, message }: Refusal): WireResponse => ({
  status,
  headers: {
    ...defined({
      'www-authenticate': status === 401 ? 'Basic realm="Baremetal API"' : undefined,
      'retry-after': status === 503 ? '1' : undefined,
    }),
    'content-type': 'application/json',
  },
  ...defined({ body: method === 'HEAD' ? undefined : JSON.stringify({ error: { message, code: status } }) }),
})
