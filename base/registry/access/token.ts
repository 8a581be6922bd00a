import { basicAuthorization, FetchFailure, type HttpClient } from '../../bytes/index.js'
import { isObject, UserError } from '../../runtime/index.js'
import type { Challenge } from './challenge.js'
import type { RegistryCredentials } from './registry-credentials.js'
import { answerWords } from './registry-failures.js'

interface TokenRequest {
  repository: string
  actions: string
  credentials: RegistryCredentials | null
  /** The registry's, for messages. */
  host: string
  /** Whether the registry itself is reached by https. */
  isSecure: boolean
  http: HttpClient
  signal: AbortSignal
}

const MAX_TOKEN_ANSWER_BYTES = 2 ** 20

/**
 * Asks a token server for access to a repository: anonymously without credentials, with a GET and Basic credentials, or with
 * a POST and a refresh token (distribution spec, auth/token and auth/oauth).
 *
 * @throws UserError `registry-protocol`, `registry-unauthorized`, `registry-unreachable`
 */
export async function bearerToken({ parameters }: Challenge, request: TokenRequest): Promise<string> {
  const { host, credentials, http, signal, repository, actions, isSecure } = request
  const { realm = '', service } = parameters
  const wrong = (what: string) =>
    new UserError('registry-protocol', `the registry ${host} ${what}`, {
      remedy: 'check the token server of the registry',
    })
  if (!URL.canParse(realm)) throw wrong('asks for a token and names no server for it')
  const url = new URL(realm)
  const at = `${url.protocol}//${url.host}`
  // Otherwise an attacker who changes the registry's answer could have the password sent in plain text.
  if (isSecure && url.protocol !== 'https:') throw wrong(`is reached by https, and sends for its tokens to ${at}`)
  if (url.username !== '' || url.password !== '')
    throw wrong(`sends for its tokens to ${url.host} with a password of its own`)
  const fields = [
    ...(service === undefined ? [] : [['service', service] as const]),
    ['scope', `repository:${repository}:${actions}`] as const,
  ]
  try {
    const answer = await http.get(
      credentials?.kind === 'identity token'
        ? { url: url.href, signal, ...refreshing(credentials.token, fields) }
        : { url: withFields(url, fields), signal, headers: basic(credentials) },
    )
    const { status } = answer
    if (status === 401 || status === 403) {
      const words = await answerWords(answer)
      const by = credentials ? 'the credentials of the auth file' : 'a request without credentials'
      throw new UserError(
        'registry-unauthorized',
        `the token server ${at} of the registry ${host} refuses ${by}${words}`,
        {
          remedy: `log in with podman login --authfile FILE ${host}, and name the file with --authfile`,
        },
      )
    }
    if (status !== 200) throw wrong(`has a token server, ${at}, that answers ${status}${await answerWords(answer)}`)
    try {
      return tokenOf(await answer.bytes(MAX_TOKEN_ANSWER_BYTES)) ?? unusable()
    } finally {
      await answer.close()
    }
  } catch (cause) {
    if (!(cause instanceof FetchFailure)) throw cause
    throw new UserError(
      'registry-unreachable',
      `the token server ${at} of the registry ${host} fails: ${cause.message}`,
      {
        cause,
        remedy: cause.remedy,
      },
    )
  }

  function unusable(): never {
    throw wrong(`has a token server, ${at}, whose answer holds no token`)
  }
}

function withFields(url: URL, fields: readonly (readonly [string, string])[]): string {
  const asked = new URL(url)
  for (const [name, value] of fields) asked.searchParams.append(name, value)
  return asked.href
}

function basic(credentials: RegistryCredentials | null): Record<string, string> {
  if (credentials?.kind !== 'password') return {}
  return { authorization: basicAuthorization({ username: credentials.user, password: credentials.password }) }
}

function refreshing(token: string, fields: readonly (readonly [string, string])[]) {
  const form = new URLSearchParams([
    ...fields.map(([name, value]): [string, string] => [name, value]),
    ['grant_type', 'refresh_token'],
    ['client_id', 'ironstage'],
    ['refresh_token', token],
  ])
  return {
    method: 'POST' as const,
    body: Buffer.from(form.toString()),
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
  }
}

/** A token goes into a header: only what such a one may hold is taken. */
function tokenOf(bytes: Buffer): string | undefined {
  let value: unknown
  try {
    value = JSON.parse(bytes.toString())
  } catch {
    return undefined
  }
  if (!isObject(value)) return undefined
  const token = value['token'] ?? value['access_token']
  return typeof token === 'string' && /^[\x21-\x7e]+$/.test(token) ? token : undefined
}
