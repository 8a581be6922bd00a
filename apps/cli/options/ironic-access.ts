import { basicAuthorization } from '../../../base/bytes/index.js'
import { UserError, defined, readNamedText } from '../../../base/runtime/index.js'
import type { ClientTls } from '../../../base/wire/index.js'

/** Access to an Ironic elsewhere. */
export interface IronicAccess {
  readonly headers: Readonly<Record<string, string>>
  readonly tls: ClientTls
}

const ironicAccessError = (message: string, remedy: string, cause?: unknown): UserError =>
  new UserError('ironic-access', message, { kind: 'usage', remedy, ...defined({ cause }) })

type AccessVariables = Readonly<Record<string, string | undefined>>

/**
 * The URL of Ironic from the environment, read as python-ironicclient and BareMetal Operator read it.
 *
 * @throws UserError (usage) when it does not say
 */
export function endpointOf(variables: AccessVariables): string {
  const endpoint = variables['OS_ENDPOINT'] || variables['IRONIC_ENDPOINT']
  if (endpoint && /^https?:\/\//.test(endpoint)) return endpoint
  throw ironicAccessError(
    endpoint ? `${endpoint} in the environment is not an http(s) URL` : 'the environment names no Ironic',
    'set OS_ENDPOINT or IRONIC_ENDPOINT, or give a URL',
  )
}

/**
 * Credentials and trusted certificates from the environment, under python-ironicclient's names, and BareMetal Operator's
 * for the latter. `OS_USERNAME` counts with `OS_AUTH_TYPE=http_basic` only: else it names a user of a cloud.
 *
 * @throws UserError (usage) for half of the credentials, and for a file that cannot be read
 */
export async function accessOf(variables: AccessVariables): Promise<IronicAccess> {
  const file = variables['OS_CACERT'] || variables['IRONIC_CACERT_FILE']
  const ca = file
    ? await readNamedText(file).catch((cause: unknown) => {
        throw ironicAccessError(
          `the certificates in ${file} cannot be read`,
          'name a PEM file in OS_CACERT or IRONIC_CACERT_FILE',
          cause,
        )
      })
    : undefined
  const insecure = /^(1|true|yes)$/i.test(variables['IRONIC_INSECURE'] ?? '')
  return { headers: credentialsIn(variables), tls: { insecure, ...defined({ ca }) } }
}

function credentialsIn(variables: AccessVariables): Record<string, string> {
  if (variables['OS_AUTH_TYPE'] !== 'http_basic') return {}
  const { OS_USERNAME: username, OS_PASSWORD: password } = variables
  if (!username || password === undefined)
    throw ironicAccessError(
      `OS_AUTH_TYPE is http_basic, and ${username ? 'OS_PASSWORD' : 'OS_USERNAME'} is missing`,
      'set OS_USERNAME and OS_PASSWORD, or OS_AUTH_TYPE=none',
    )
  return { authorization: basicAuthorization({ username, password }) }
}
