import { formatClientValue } from '../../base/wire/index.js'
/** `8e5f755a-f88c-4e8f-8bcb-f0f8b41a8218`, in either case. */
export const isUuid = (text: string): boolean => /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(text)

/** Whether a text has only the unreserved characters of RFC 3986; a UUID is no name. */
export const isLogicalName = (text: string): boolean => /^[A-Za-z0-9\-._~]+$/.test(text) && !isUuid(text)

/** Whether a text is a host name, as names had to be before 1.10. */
export const isHostName = (text: string): boolean =>
  text.length <= 255 &&
  text.split('.').every((label) => /^[A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?$/.test(label)) &&
  !isUuid(text)

export const isMac = (text: string): boolean => /^[0-9a-f]{2}(:[0-9a-f]{2}){5}$/i.test(text)

const TRUE = ['1', 't', 'true', 'on', 'y', 'yes']
const FALSE = ['0', 'f', 'false', 'off', 'n', 'no']

/** Boolean of the words that Ironic accepts; undefined for other values. */
export function parseBoolean(value: unknown): boolean | undefined {
  if (typeof value === 'boolean') return value
  const word = formatClientValue(value).trim().toLowerCase()
  return TRUE.includes(word) ? true : FALSE.includes(word) ? false : undefined
}
