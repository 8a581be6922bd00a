import { parse } from 'yaml'
import { isObject, readNested } from '../../base/runtime/index.js'
import type { JsonObject } from '../../base/wire/index.js'
import type { SecretManifest } from './manifest-types.js'

/** Values of a Secret by key; null for a value that is not base64. */
function secretValues({ data = {}, stringData = {} }: SecretManifest): Record<string, string | null> {
  const decoded = Object.entries(data).map(([key, text]) => [key, decodeSecret(text)] as const)
  return { ...Object.fromEntries(decoded), ...stringData }
}

function decodeSecret(text: string): string | null {
  const packed = text.replaceAll(/\s/g, '')
  return /^[A-Za-z0-9+/]*={0,2}$/.test(packed) && packed.length % 4 === 0
    ? Buffer.from(packed, 'base64').toString()
    : null
}

/** Key of a value that is no base64, so that an API server refuses the Secret. */
export const keyOfBadBase64 = (secret: SecretManifest): string | undefined =>
  Object.entries(secretValues(secret)).find(([, value]) => value === null)?.[0]

/** A Secret whose value is missing or malformed. */
export class BadSecret extends Error {
  override name = 'BadSecret'
  readonly path: (string | number)[]

  constructor(path: (string | number)[], message: string) {
    super(message)
    this.path = path
  }
}

/** A Secret that lacks the key of a value. */
export class MissingKey extends BadSecret {
  override name = 'MissingKey'
}

/** True if a Secret has one of some keys. */
export const hasKey = (secret: SecretManifest, keys: readonly string[]): boolean => {
  const values = secretValues(secret)
  return keys.some((name) => Object.hasOwn(values, name))
}

/**
 * Value of the first of the keys that the Secret has.
 *
 * @throws BadSecret if the value is missing or not base64
 */
export function secretValue(secret: SecretManifest, keys: readonly string[]): string {
  const values = secretValues(secret)
  const key = keys.find((name) => Object.hasOwn(values, name))
  if (key === undefined) throw new MissingKey([], `it has no key ${keys.join(' or ')}`)
  const value = values[key]
  if (value === null || value === undefined)
    throw new BadSecret(['data', key], 'it is not base64; plain text belongs into stringData')
  return value
}

/** Like {@link secretValue}, for a value that is a YAML or JSON mapping. */
export function secretObject(secret: SecretManifest, keys: readonly string[]): JsonObject {
  let value: unknown
  try {
    value = readNested(secretValue(secret, keys), 'the value', parse)
  } catch (error) {
    if (error instanceof BadSecret) throw error
    // The parser's message quotes the text, which is secret.
    throw new BadSecret([], `its ${keys[0]} is neither YAML nor JSON`)
  }
  if (isObject(value)) return value
  throw new BadSecret([], `its ${keys[0]} is not a set of keys and values`)
}
