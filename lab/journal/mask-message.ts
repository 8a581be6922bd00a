import { isSecret } from '../../ironic-mock/index.js'
import { maskedText, type JournalMessage } from '../../control/index.js'

const JOURNAL_MASK = '***'
const SECRET_HEADERS = [
  'authorization',
  'proxy-authorization',
  'cookie',
  'set-cookie',
  'x-auth-token',
  'x-subject-token',
]

/** Bodies above this many characters are not kept. */
export const MAX_MASKED_CHARACTERS = 64 * 1024

/** A message as it may be shown: passwords, tokens, config drives and Ignition configs are masked. */
export function maskedMessage(
  headers: Readonly<Record<string, string>>,
  body: string | undefined,
  size: number,
): JournalMessage {
  return {
    headers: Object.fromEntries(
      Object.entries(headers).map(([name, value]) =>
        SECRET_HEADERS.includes(name.toLowerCase()) ? [name, JOURNAL_MASK] : [name, maskedText(value)],
      ),
    ),
    body: body === undefined ? null : maskedBody(body),
    size,
  }
}

/** A path with its query, without tokens and passwords. */
export function maskedTarget(target: string): string {
  if (!target.includes('?')) return target
  const [path = '', query] = target.split(/\?(.*)/s)
  if (query === undefined) return target
  const parts = query.split('&').map((part) => {
    const [name = '', value] = part.split(/=(.*)/s)
    return value === undefined || !isSecret(name) ? maskedText(part) : `${name}=${JOURNAL_MASK}`
  })
  return `${path}?${parts.join('&')}`
}

/**
 * A path of a file: queries may be signatures that let anyone in, and so is the folder of a node's live images, which have
 * its configs.
 */
export const maskedFileTarget = (target: string): string =>
  target
    .replace(/^\/nodes\/[\w-]{43}\//, `/nodes/${JOURNAL_MASK}/`)
    .replace(/\?.*$/s, (query) => query.replace(/=[^&]*/g, `=${JOURNAL_MASK}`))

function maskedBody(text: string): unknown {
  try {
    return maskedJson(JSON.parse(text))
  } catch {
    return maskedText(text)
  }
}

function maskedJson(value: unknown): unknown {
  if (typeof value === 'string') return maskedText(value)
  if (Array.isArray(value)) return value.map(maskedJson)
  if (typeof value !== 'object' || value === null) return value
  if (isIgnition(value)) return JOURNAL_MASK
  // A JSON patch names its field by a path.
  const path = 'path' in value && 'value' in value && typeof value.path === 'string' ? value.path : ''
  const isPatchOfSecret = path !== '' && isSecret(path.slice(path.lastIndexOf('/') + 1))
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => [
      key,
      inner !== null &&
      (isSecret(key) ? typeof inner !== 'object' || key === 'configdrive' : isPatchOfSecret && key === 'value')
        ? JOURNAL_MASK
        : maskedJson(inner),
    ]),
  )
}

const isIgnition = (value: object): boolean =>
  'ignition' in value && typeof value.ignition === 'object' && value.ignition !== null && 'version' in value.ignition
