import { defined, isObject } from '../../../base/runtime/index.js'
import { baseMessage, type RedfishMessage } from './redfish-messages.js'
import { Refusal, messageRefusal } from './redfish-refusal.js'
import { type RedfishDocument } from './redfish-document.js'

interface RequestProblem {
  /** `Boot/BootOrder` */
  path: string
  kind: 'type' | 'format' | 'list' | 'range' | 'unknown' | 'read-only' | 'missing'
  value?: unknown
  resolution?: string
}

/** Checks a value of a request. */
export type PropertyCheck = (value: unknown, path: string) => RequestProblem[]

/** One thing that is wrong with a value. */
export const valueProblem = (
  path: string,
  kind: RequestProblem['kind'],
  value: unknown,
  resolution: string,
): RequestProblem[] => [{ path, kind, value, resolution }]

export const choiceCheck =
  (values: readonly string[]): PropertyCheck =>
  (value, path) => {
    if (typeof value !== 'string') return valueProblem(path, 'type', value, 'Use a string.')
    return values.includes(value) ? [] : valueProblem(path, 'list', value, `Use one of ${values.join(', ')}.`)
  }

export const textCheck =
  ({
    least = 0,
    most = 1024,
    form,
    says = 'the right form',
  }: { least?: number; most?: number; form?: Pick<RegExp, 'test'>; says?: string } = {}): PropertyCheck =>
  (value, path) => {
    if (typeof value !== 'string') return valueProblem(path, 'type', value, 'Use a string.')
    if (value.length > most) return valueProblem(path, 'format', value, `Use at most ${most} characters.`)
    if (value.length < least) return valueProblem(path, 'format', value, `Use at least ${least} characters.`)
    return form && !form.test(value) ? valueProblem(path, 'format', value, `Use ${says}.`) : []
  }

export const boolCheck: PropertyCheck = (value, path) =>
  typeof value === 'boolean' ? [] : valueProblem(path, 'type', value, 'Use true or false.')

export const integerCheck =
  (least: number, most: number): PropertyCheck =>
  (value, path) => {
    if (typeof value !== 'number') return valueProblem(path, 'type', value, 'Use a number.')
    const isInside = Number.isInteger(value) && value >= least && value <= most
    return isInside ? [] : valueProblem(path, 'range', value, `Use a whole number from ${least} to ${most}.`)
  }

export const nullableCheck =
  (check: PropertyCheck): PropertyCheck =>
  (value, path) =>
    value === null ? [] : check(value, path)

export const listCheck =
  (check: PropertyCheck): PropertyCheck =>
  (value, path) =>
    Array.isArray(value)
      ? value.flatMap((item, index) => check(item, `${path}/${index}`))
      : valueProblem(path, 'type', value, 'Use an array.')

/** Any object, whose contents are checked elsewhere. */
export const anyObject: PropertyCheck = (value, path) =>
  isObject(value) ? [] : valueProblem(path, 'type', value, 'Use an object.')

export const anythingCheck: PropertyCheck = () => []

export const urlCheck = textCheck({ most: 4096, form: /^[a-z][a-z\d+.-]*:\/\/[^\s/]/i, says: 'an absolute URL' })

/** A URL from which a BMC can fetch: no file of the computer that it runs on. */
export const fetchedUrl: PropertyCheck = (value, path) => {
  const problems = urlCheck(value, path)
  if (problems.length > 0 || FETCHED.test(String(value))) return problems
  return valueProblem(path, 'format', value, `Use a URL of ${FETCHED_PROTOCOLS.join(', ')}.`)
}

/** Protocols of images (Redfish VirtualMedia 1.6, TransferProtocolType), without those of a vendor. */
export const FETCHED_PROTOCOLS: readonly string[] = ['HTTP', 'HTTPS', 'NFS', 'CIFS', 'FTP', 'SFTP', 'SCP', 'TFTP']
const FETCHED = new RegExp(`^(?:${FETCHED_PROTOCOLS.join('|')}):`, 'i')

/** An object with some of these properties. */
export const objectCheck =
  (fields: Readonly<Record<string, PropertyCheck>>, current: RedfishDocument = {}): PropertyCheck =>
  (value, path) => {
    if (!isObject(value)) return valueProblem(path, 'type', value, 'Use an object.')
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
export function checkPatch(
  body: RedfishDocument,
  fields: Readonly<Record<string, PropertyCheck>>,
  current: RedfishDocument = {},
): void {
  const problems = objectCheck(fields, current)(body, '')
  if (problems.length > 0) throw new Refusal(400, problems.map(asProperty))
  if (!Object.keys(body).some((name) => Object.hasOwn(fields, name)))
    throw messageRefusal(400, 'NoOperation', [], { resolution: `Name a property: ${Object.keys(fields).join(', ')}.` })
}

/**
 * Checks the body of a POST that creates a resource.
 *
 * @throws Refusal 400 that names each property
 */
export function checkCreation(
  body: RedfishDocument,
  fields: Readonly<Record<string, PropertyCheck>>,
  required: readonly string[],
): void {
  const missing = required.filter((name) => !Object.hasOwn(body, name))
  const problems = [
    ...objectCheck(fields)(body, ''),
    ...missing.map((path): RequestProblem => ({ path, kind: 'missing', resolution: 'Add it.' })),
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
  body: RedfishDocument,
  fields: Readonly<Record<string, PropertyCheck>>,
  required: readonly string[] = [],
): void {
  const missing = required.filter((name) => !Object.hasOwn(body, name))
  const problems = [
    ...objectCheck(fields)(body, ''),
    ...missing.map((path): RequestProblem => ({ path, kind: 'missing', resolution: 'Add it.' })),
  ]
  if (problems.length > 0)
    throw new Refusal(
      400,
      problems.map((problem) => asParameter(action, problem)),
    )
}

function asProperty({ path, kind, value, resolution }: RequestProblem): RedfishMessage {
  const about = { property: path, ...defined({ resolution }) }
  const shown = shownValue(value, path)
  switch (kind) {
    case 'type':
      return baseMessage('PropertyValueTypeError', [shown, path], about)
    case 'format':
      return baseMessage('PropertyValueFormatError', [shown, path], about)
    case 'list':
      return baseMessage('PropertyValueNotInList', [shown, path], about)
    case 'range':
      return baseMessage('PropertyValueOutOfRange', [shown, path], about)
    case 'read-only':
      return baseMessage('PropertyNotWritable', [path], about)
    case 'unknown':
      return baseMessage('PropertyUnknown', [path], about)
    case 'missing':
      return baseMessage('PropertyMissing', [path], about)
  }
}

function asParameter(action: string, { path, kind, value, resolution }: RequestProblem): RedfishMessage {
  const about = { property: path, ...defined({ resolution }) }
  const shown = shownValue(value, path)
  switch (kind) {
    case 'type':
      return baseMessage('ActionParameterValueTypeError', [shown, path, action], about)
    case 'format':
      return baseMessage('ActionParameterValueFormatError', [shown, path, action], about)
    case 'list':
      return baseMessage('ActionParameterValueNotInList', [shown, path, action], about)
    case 'range':
      return baseMessage('ActionParameterValueOutOfRange', [shown, path, action], about)
    case 'read-only':
    case 'unknown':
      return baseMessage('ActionParameterUnknown', [action, path], about)
    case 'missing':
      return baseMessage('ActionParameterMissing', [action, path], about)
  }
}

/** A value as a message shows it: passwords are not repeated. */
const shownValue = (value: unknown, path: string): string => {
  if (/password|token|secret/i.test(path)) return '******'
  return typeof value === 'string' ? value.slice(0, 256) : (JSON.stringify(value) ?? '').slice(0, 256)
}
