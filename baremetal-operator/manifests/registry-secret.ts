import { isObject } from '../../base/runtime/index.js'
import { goQuote } from '../go/quote.js'
import { BadSecret, hasKey, secretValue } from './manifest-secrets.js'
import type { HostImageManifest, SecretManifest } from './manifest-types.js'

export const DOCKER_CONFIG_TYPE = 'kubernetes.io/dockerconfigjson'
const OLD_DOCKER_CONFIG_TYPE = 'kubernetes.io/dockercfg'
export const DOCKER_CONFIG_KEY = '.dockerconfigjson'
const OLD_DOCKER_CONFIG_KEY = '.dockercfg'

/** Key of Docker Hub in such files. */
const DOCKER_HUB_KEY = 'https://index.docker.io/v1/'
const DOCKER_HUB_NAMES = ['docker.io', 'index.docker.io', 'registry-1.docker.io']

/** Secret that opens the registry of a host's image; undefined for an image that is in none. */
export const registrySecretOf = ({ url, ociAuthSecretName }: HostImageManifest = {}): string | undefined =>
  /^oci:/i.test(url ?? '') && ociAuthSecretName ? ociAuthSecretName : undefined

/**
 * `USER:PASSWORD` for the registry of an image, in the words of baremetal-operator 02aa505 (image_auth_validator.go and
 * secretutils/dockerconfig.go).
 *
 * @throws BadSecret
 */
export function registryAccount(secret: SecretManifest, url: string): string {
  const { type = 'Opaque', metadata } = secret
  const name = goQuote(metadata.name)
  if (type !== DOCKER_CONFIG_TYPE && type !== OLD_DOCKER_CONFIG_TYPE)
    throw new BadSecret(
      ['type'],
      `secret ${name} has unsupported type ${goQuote(type)} (expected ${DOCKER_CONFIG_TYPE} or ${OLD_DOCKER_CONFIG_TYPE})`,
    )
  const failed = (why: string) => new BadSecret([], `failed to extract credentials from secret ${name}: ${why}`)
  const host = URL.canParse(url) ? new URL(url).host : ''
  if (host === '')
    throw failed(`failed to extract registry host from image URL: failed to extract hostname from image URL: ${url}`)
  const auths = accountsIn(secret, failed)
  const entry = auths[DOCKER_HUB_NAMES.includes(host) ? DOCKER_HUB_KEY : host]
  const account = isObject(entry) ? accountOf(entry) : ''
  if (account === undefined) throw failed(`failed to get credentials for registry ${host}: invalid auth configuration`)
  if (account === '') throw failed(`registry ${host} not found in auth config`)
  return account
}

function accountsIn(secret: SecretManifest, failed: (why: string) => BadSecret): Record<string, unknown> {
  const isNew = hasKey(secret, [DOCKER_CONFIG_KEY])
  if (!isNew && !hasKey(secret, [OLD_DOCKER_CONFIG_KEY]))
    throw failed(`secret does not contain ${DOCKER_CONFIG_KEY} or ${OLD_DOCKER_CONFIG_KEY} key`)
  try {
    const value: unknown = JSON.parse(secretValue(secret, [DOCKER_CONFIG_KEY, OLD_DOCKER_CONFIG_KEY]))
    const auths: unknown = isNew && isObject(value) ? (value['auths'] ?? {}) : value
    if (isObject(auths)) return auths
  } catch {
    // The parser's message quotes the text, which is secret.
  }
  throw failed(`failed to parse ${isNew ? 'dockerconfigjson' : 'dockercfg'}: it is no JSON of that form`)
}

/** Empty for an entry without an account; undefined for one that cannot be read. */
function accountOf({ username, password, identitytoken, auth }: Record<string, unknown>): string | undefined {
  if (typeof identitytoken === 'string' && identitytoken !== '') return `:${identitytoken}`
  if (typeof username === 'string' && username && typeof password === 'string' && password)
    return `${username}:${password}`
  if (typeof auth !== 'string' || auth === '') return ''
  const text = Buffer.from(auth, 'base64').toString()
  return text.includes(':') ? text.replace(/\0+$/, '') : undefined
}
