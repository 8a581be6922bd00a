import type { BareMetalHost } from '../../base/kubernetes/index.js'

/** Annotations of a BareMetalHost that its controller obeys (apis/metal3.io/v1alpha1/baremetalhost_types.go). */
export const STATUS_ANNOTATION = 'baremetalhost.metal3.io/status'
export const REBOOT = 'reboot.metal3.io'
export const INSPECT = 'inspect.metal3.io'
export const HARDWARE_DETAILS = `${INSPECT}/hardwaredetails`
const PAUSED = 'baremetalhost.metal3.io/paused'
const DETACHED = 'baremetalhost.metal3.io/detached'

type Annotated = Pick<BareMetalHost, 'metadata'>

const annotation = ({ metadata }: Annotated, name: string): string | undefined => metadata.annotations?.[name]

/** True if the controller leaves the host alone. */
export const isPaused = (host: Annotated): boolean => annotation(host, PAUSED) !== undefined

/** Set if the host shall have no node: with `isForced` even during an operation, with `delaysDelete` its deletion waits. */
export function detachmentOf(host: Annotated): { isForced: boolean; delaysDelete: boolean } | undefined {
  const text = annotation(host, DETACHED)
  if (text === undefined) return undefined
  const { force, deleteAction } = parseMembers(text)
  return { isForced: force === true, delaysDelete: deleteAction === 'delay' }
}

/**
 * The reboot that is asked for: with a suffix (`reboot.metal3.io/KEY`) the host stays off for as long as the annotation is
 * there, without one it is turned off and on once. Of several the hard one wins.
 *
 * @param isForced only those with `"force": true`, which count outside of the provisioned states too
 */
export function rebootRequest(
  host: Annotated,
  { isForced }: { isForced: boolean },
): { mode: 'soft' | 'hard' } | undefined {
  const requests = Object.entries(host.metadata.annotations ?? {})
    .filter(([name]) => isRebootAnnotation(name))
    .map(([, text]) => parseMembers(text))
    .filter(({ force }) => !isForced || force === true)
  if (requests.length === 0) return undefined
  return { mode: requests.some(({ mode }) => mode === 'hard') ? 'hard' : 'soft' }
}

/** Values of reboot annotations that are not JSON: they ask for a soft reboot. */
export const badRebootValues = ({ metadata }: Annotated): string[] =>
  Object.entries(metadata.annotations ?? {})
    .filter(([name, text]) => isRebootAnnotation(name) && text !== '' && !isJson(text))
    .map(([, text]) => text)

/** True if hardware that is known is to be inspected again. */
export function isInspectionAsked(host: Annotated): boolean {
  const text = annotation(host, INSPECT)
  return text !== undefined && text !== 'disabled'
}

export const isInspectionDisabled = ({ spec, ...host }: BareMetalHost): boolean =>
  spec['inspectionMode'] === 'disabled' || annotation(host, INSPECT) === 'disabled'

const isRebootAnnotation = (name: string): boolean => name === REBOOT || name.startsWith(`${REBOOT}/`)

function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

/** Members of an annotation's value; none where it is not JSON, as the operator takes it. */
function parseMembers(text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {}
  } catch {
    return {}
  }
}
