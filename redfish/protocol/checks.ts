import { defined, isObject } from '../../runtime/index.js'
import { message, type Message } from './messages.js'
import { Refusal, refused } from './refusal.js'
import { type Document } from './document.js'

interface Problem {
  /** `Boot/BootOrder` */
  path: string
  kind: 'type' | 'format' | 'list' | 'range' | 'unknown' | 'read-only' | 'missing'
  value?: unknown
  resolution?: string
}

/** Checks a value of a request. */
export type Check = (value: unknown, path: string) => Problem[]

/** One thing that is wrong with a value. */
export const wrong = (path: string, kind: Problem['kind'], value: unknown, resolution: string): Problem[] => [
  { path, kind, value, resolution },
]

export const oneOf =
  (values: readonly string[]): Check =>
  (value, path) => {
    if (typeof value !== 'string') return wrong(path, 'type', value, 'Use a string.')
    return values.includes(value) ? [] : wrong(path, 'list', value, `Use one of ${values.join(', ')}.`)
  }

export const text =
  ({
    least = 0,
    most = 1024,
    form,
    says = 'the right form',
  }: { least?: number; most?: number; form?: Pick<RegExp, 'test'>; says?: string } = {}): Check =>
  (value, path) => {
    if (typeof value !== 'string') return wrong(path, 'type', value, 'Use a string.')
    if (value.length > most) return wrong(path, 'format', value, `Use at most ${most} characters.`)
    if (value.length < least) return wrong(path, 'format', value, `Use at least ${least} characters.`)
    return form && !form.test(value) ? wrong(path, 'format', value, `Use ${says}.`) : []
  }

export const bool: Check = (value, path) =>
  typeof value === 'boolean' ? [] : wrong(path, 'type', value, 'Use true or false.')

export const integer =
  (least: number, most: number): Check =>
  (value, path) => {
    if (typeof value !== 'number') return wrong(path, 'type', value, 'Use a number.')
    const isInside = Number.isInteger(value) && value >= least && value <= most
    return isInside ? [] : wrong(path, 'range', value, `Use a whole number from ${least} to ${most}.`)
  }

export const nullable =
  (check: Check): Check =>
  (value, path) =>
    value === null ? [] : check(value, path)

export const listOf =
  (check: Check): Check =>
  (value, path) =>
    Array.isArray(value)
      ? value.flatMap((item, index) => check(item, `${path}/${index}`))
      : wrong(path, 'type', value, 'Use an array.')

/** Any object, whose contents are checked elsewhere. */
export const anyObject: Check = (value, path) => (isObject(value) ? [] : wrong(path, 'type', value, 'Use an object.'))

export const anything: Check = () => []

export const url = text({ most: 4096, form: /^[a-z][a-z\d+.-]*:\/\/[^\s/]/i, says: 'an absolute URL' })

/** A URL from which a BMC can fetch: no file of the computer that it runs on. */
export const fetchedUrl: Check = (value, path) => {
  const problems = url(value, path)
  if (problems.length > 0 || FETCHED.test(String(value))) return problems
  return wrong(path, 'format', value, `Use a URL of ${FETCHED_PROTOCOLS.join(', ')}.`)
}

/** Protocols of images (Redfish VirtualMedia 1.6, TransferProtocolType), without those of a vendor. */
export const FETCHED_PROTOCOLS: readonly string[] = ['HTTP', 'HTTPS', 'NFS', 'CIFS', 'FTP', 'SFTP', 'SCP', 'TFTP']
const FETCHED = new RegExp(`^(?:${FETCHED_PROTOCOLS.join('|')}):`, 'i')

/** An object with some of these properties. */
export const object =
  (fields: Readonly<Record<string, Check>>, current: Document = {}): Check =>
  (value, path) => {
    if (!isObject(value)) return wrong(path, 'type', value, 'Use an object.')
    const below = (name: string): string => (path === '' ? name : `${path}/${name}`)
    return Object.entries(value).flatMap(([name, item]) => {
      const check = Object.hasOwn(fields, name) ? fields[name] : undefined
      if (check) return check(item, below(name))
      // Annotations of the service come back from clients that send a resource as they have read it.
      if (name.includes('@')) return []
      return [{ path: below(name), kind: Object.hasOwn(current, name) ? 'read-only' : 'unknown', value: item } as const]
    })
  }

/**
 * Checks the body of a PATCH.
 *
 * @param current the resource as it is, whose other properties are read-only
 * @throws Refusal 400 that names each property
 */
export function checkPatch(body: Document, fields: Readonly<Record<string, Check>>, current: Document = {}): void {
  const problems = object(fields, current)(body, '')
  if (problems.length > 0) throw new Refusal(400, problems.map(asProperty))
  if (!Object.keys(body).some((name) => Object.hasOwn(fields, name)))
    throw refused(400, 'NoOperation', [], { resolution: `Name a property: ${Object.keys(fields).join(', ')}.` })
}

/**
 * Checks the body of a POST that creates a resource.
 *
 * @throws Refusal 400 that names each property
 */
export function checkCreation(
  body: Document,
  fields: Readonly<Record<string, Check>>,
  required: readonly string[],
): void {
  const missing = required.filter((name) => !Object.hasOwn(body, name))
  const problems = [
    ...object(fields)(body, ''),
    ...missing.map((path): Problem => ({ path, kind: 'missing', resolution: 'Add it.' })),
  ]
  if (problems.length > 0) throw new Refusal(400, problems.map(asProperty))
}

/**
 * Checks the parameters of an action.
 *
 * @throws Refusal 400 that names each parameter
 */
export function checkAction(
  action: string,
  body: Document,
  fields: Readonly<Record<string, Check>>,
  required: readonly string[] = [],
): void {
  const missing = required.filter((name) => !Object.hasOwn(body, name))
  const problems = [
    ...object(fields)(body, ''),
    ...missing.map((path): Problem => ({ path, kind: 'missing', resolution: 'Add it.' })),
  ]
  if (problems.length > 0)
    throw new Refusal(
      400,
      problems.map((problem) => asParameter(action, problem)),
    )
}

function asProperty({ path, kind, value, resolution }: Problem): Message {
  const about = { property: path, ...defined({ resolution }) }
  const shown = shownValue(value, path)
  switch (kind) {
    case 'type':
      return message('PropertyValueTypeError', [shown, path], about)
    case 'format':
      return message('PropertyValueFormatError', [shown, path], about)
    case 'list':
      return message('PropertyValueNotInList', [shown, path], about)
    case 'range':
      return message('PropertyValueOutOfRange', [shown, path], about)
    case 'read-only':
      return message('PropertyNotWritable', [path], about)
    case 'unknown':
      return message('PropertyUnknown', [path], about)
    case 'missing':
      return message('PropertyMissing', [path], about)
  }
}

function asParameter(action: string, { path, kind, value, resolution }: Problem): Message {
  const about = { property: path, ...defined({ resolution }) }
  const shown = shownValue(value, path)
  switch (kind) {
    case 'type':
      return message('ActionParameterValueTypeError', [shown, path, action], about)
    case 'format':
      return message('ActionParameterValueFormatError', [shown, path, action], about)
    case 'list':
      return message('ActionParameterValueNotInList', [shown, path, action], about)
    case 'range':
      return message('ActionParameterValueOutOfRange', [shown, path, action], about)
    case 'read-only':
    case 'unknown':
      return message('ActionParameterUnknown', [action, path], about)
    case 'missing':
      return message('ActionParameterMissing', [action, path], about)
  }
}

/** A value as a message shows it: passwords are not repeated. */
const shownValue = (value: unknown, path: string): string => {
  if (/password|token|secret/i.test(path)) return '******'
  return typeof value === 'string' ? value.slice(0, 256) : (JSON.stringify(value) ?? '').slice(0, 256)
}
