import { maskedAddress } from '../../base/bytes/index.js'
import { isObject, seconds } from '../../base/runtime/index.js'
import { formatClientValue, pythonRepr, type JsonObject, type NodeRecord } from '../../base/wire/index.js'
import { isBmcRead, isFailedRead, type BmcAnswer, type BmcError, type BmcRequest } from './bmc-error.js'
import type { BmcRetryConf } from './hardware-type.js'

type BmcOwner = Pick<NodeRecord, 'uuid' | 'driver_info'>

/** A request that Ironic sends for a call: its method, and its path below the system. */
interface SystemRequest {
  readonly method: 'GET' | 'PATCH' | 'POST'
  readonly below: string
}

/** Method and path of a request, with `:id` for the system. */
export interface RedfishRequest {
  readonly method: SystemRequest['method']
  readonly path: string
}

/** The request that Ironic sends for a call. */
export function redfishRequestOf(request: BmcRequest): RedfishRequest {
  const { method, below } = requestOf(request)
  return { method, path: `/redfish/v1/Systems/:id${below}` }
}

const CALL_REQUESTS: Readonly<Record<string, SystemRequest>> = {
  'set power': { method: 'POST', below: '/Actions/ComputerSystem.Reset' },
  'set boot': { method: 'PATCH', below: '' },
  'read firmware': { method: 'GET', below: '/Bios' },
  'change firmware': { method: 'PATCH', below: '/Bios/Settings' },
  'read media': { method: 'GET', below: '/VirtualMedia' },
  'change media': { method: 'POST', below: '/VirtualMedia/Cd/Actions/VirtualMedia.InsertMedia' },
}

const EJECTION = '/VirtualMedia/Cd/Actions/VirtualMedia.EjectMedia'
const READ_SYSTEM: SystemRequest = { method: 'GET', below: '' }
const CHANGE_SYSTEM: SystemRequest = { method: 'PATCH', below: '' }

function requestOf(request: BmcRequest): SystemRequest {
  if (request.change?.change === 'secure boot') return { method: 'PATCH', below: '/SecureBoot' }
  if (request.change?.change === 'eject media') return { method: 'POST', below: EJECTION }
  return CALL_REQUESTS[request.call] ?? (isBmcRead(request) ? READ_SYSTEM : CHANGE_SYSTEM)
}

export const withScheme = (address: string): string => (address.includes('://') ? address : `https://${address}`)

const serviceOf = ({ driver_info }: BmcOwner): string =>
  withScheme(maskedAddress(formatClientValue(driver_info.redfish_address)).replace(/\/+$/, ''))

const systemOf = ({ driver_info }: BmcOwner): string =>
  typeof driver_info.redfish_system_id === 'string' ? driver_info.redfish_system_id : '/redfish/v1/Systems'

/** Answers for which Ironic has an exception of its own when it reads the system (drivers/modules/redfish/utils.py). */
const WRAPPED_STATUSES = [401, 403, 404]

const redfishError = (error: string): string => `Redfish exception occurred. Error: ${error}`

/** Sentence of Ironic for a failed call over Redfish: that of sushy 5.14.0, within that of ironic 39.0.0. */
export function describeRedfishError(node: BmcOwner, error: BmcError): string {
  const { why, message, sent, answer = { status: 401, body: generalError(message) } } = error
  if (why === 'unreadable') return message
  // Credentials are refused when the system is read, which comes before every change.
  const isRead = why === 'unauthorized' || isFailedRead(error)
  const { method, url } = sent ?? impliedRequest(node, why === 'unauthorized' ? undefined : error.request)
  if (isRead) {
    if (why === 'unreachable') {
      const asked = sent?.url ?? `${serviceOf(node)}/redfish/v1/`
      return `Redfish connection failed for node ${node.uuid}: Unable to connect to ${asked}. Error: ${message}`
    }
    if (why === 'incomplete') return `The attribute Id is missing from the resource ${systemOf(node)}`
    const sentence = httpError(method, url, answer)
    return WRAPPED_STATUSES.includes(answer.status) ? redfishError(sentence) : sentence
  }
  const sentence =
    why === 'unreachable' ? `Unable to connect to ${url}. Error: ${message}` : httpError(method, url, answer)
  return failedChange(node.uuid, error, sentence)
}

/** The request that a call of a machine of this process stands for. */
function impliedRequest(node: BmcOwner, request: BmcRequest = { call: 'read power' }): { method: string; url: string } {
  const { method, below } = requestOf(request)
  return { method, url: serviceOf(node) + systemOf(node) + below }
}

const generalError = (message: string): string => JSON.stringify({ error: { code: 'Base.1.0.GeneralError', message } })

/** The sentence of a call that should have changed something, around that of sushy. */
function failedChange(uuid: string, error: BmcError, sentence: string): string {
  const { call, target, change } = error.request!
  if (change?.change === 'boot mode')
    return redfishError(`Setting boot mode to ${change.mode} failed for node ${uuid}. Error: ${sentence}`)
  if (change?.change === 'secure boot')
    return redfishError(`Failed to set secure boot state on node ${uuid} to ${pythonRepr(change.on)}: ${sentence}`)
  if (change?.change === 'bios')
    return redfishError(`Redfish BIOS apply configuration failed for node ${uuid}. Error: ${sentence}`)
  if (change?.change === 'insert media') return failedInsertion(uuid, change.url, error, sentence)
  if (call === 'set boot') return redfishError(`Redfish set boot device failed for node ${uuid}. Error: ${sentence}`)
  if (call !== 'set power') return sentence
  if (target === 'rebooting')
    return redfishError(`Reboot failed for node ${uuid} when setting power state to power off. Error: ${sentence}`)
  // An answer with an error is raised as it is (drivers/modules/redfish/power.py set_power_state).
  if (error.why === 'refused') return sentence
  return redfishError(`Setting power state to ${target} failed for node ${uuid}. Error: ${sentence}`)
}

/** An image that could not be inserted: other slots are tried after some answers (drivers/modules/redfish/boot.py). */
function failedInsertion(uuid: string, url: string, { answer }: BmcError, sentence: string): string {
  if (!answer) return sentence
  const triesNext = answer.status === 400 || answer.status === 405
  if (!triesNext && answer.status < 500) return sentence
  const slot = `Inserting virtual media into VirtualMediaType.CD failed for node ${uuid}, moving to next virtual media device, if available. `
  return `Virtual media mount failed for node ${uuid} with image ${maskedAddress(url)}. Error: ${triesNext ? slot : ''}${sentence}`
}

/** The sentence of sushy's exceptions.HTTPError. */
function httpError(method: string, url: string, { status, body }: BmcAnswer): string {
  if (status === 404) return `Resource ${url} not found`
  const { error, info } = readErrorBody(body)
  return `HTTP ${method} ${url} returned code ${status}. ${error} Extended information: ${info}`
}

function readErrorBody(body: string | undefined): { error: string; info: string } {
  let document: unknown
  try {
    document = JSON.parse(body ?? '')
  } catch {
    return { error: 'unknown error', info: 'None' }
  }
  const stated = isObject(document) && isObject(document.error) ? document.error : {}
  const { code = 'Base.1.0.GeneralError', message, '@Message.ExtendedInfo': extended } = stated as JsonObject
  const detail = mostSevere(extended) ?? message ?? 'unknown error.'
  return {
    error: `${formatClientValue(code)}: ${formatClientValue(detail)}`,
    info: pythonRepr(extended ?? null),
  }
}

/** The message of the first critical entry, else of the first that warns. */
function mostSevere(extended: unknown): unknown {
  const entries = Array.isArray(extended) ? extended.filter(isObject) : []
  const found = ['Critical', 'Warning'].map((severity) => entries.find((entry) => entry.Severity === severity))
  return found.find((entry) => entry !== undefined)?.Message
}

/** Tries of one request, and of one read after a failure of the server (sushy 5.14.0 connector.py, main.py). */
const REQUEST_TRIES = 10
const SERVER_ERROR_RETRIES = 10
const SUSHY_DELAY = seconds(3)

/**
 * Milliseconds before each further try of a call that has failed so. Sushy sends a request that gets no answer ten times,
 * and Ironic has what it reads first read several times by that (drivers/modules/redfish/utils.py _get_connection).
 */
export function redfishWaits(error: BmcError, conf: BmcRetryConf): readonly number[] {
  const { why, request, answer } = error
  if (!request) return []
  const isRead = isFailedRead(error)
  if (why === 'unreachable') {
    const tries = Array<number>(REQUEST_TRIES - 1).fill(SUSHY_DELAY)
    const rounds = Array.from({ length: conf.redfishConnectionAttempts - 1 }, () => [
      conf.redfishConnectionRetryInterval,
      ...tries,
    ])
    return isRead ? [...tries, ...rounds.flat()] : tries
  }
  const isServerError = why === 'refused' && (answer?.status ?? 0) >= 500
  if (isServerError && isRead) return Array<number>(SERVER_ERROR_RETRIES).fill(SUSHY_DELAY)
  if (isServerError && request.change?.change === 'insert media') return [SUSHY_DELAY, SUSHY_DELAY]
  return []
}
