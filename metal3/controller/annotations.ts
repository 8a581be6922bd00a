import type { WantedHost } from '../wanted-hosts.js'

/** Annotations of a BareMetalHost that its controller obeys (apis/metal3.io/v1alpha1/baremetalhost_types.go). */
const PAUSED = 'baremetalhost.metal3.io/paused'
const DETACHED = 'baremetalhost.metal3.io/detached'
const REBOOT = 'reboot.metal3.io'

const INSPECT = 'inspect.metal3.io'

type Annotated = Pick<WantedHost, 'annotations'>

/** Whether the controller leaves the host alone. */
export const isPaused = ({ annotations }: Annotated): boolean => annotations[PAUSED] !== undefined

/** Whether the host is to have no node; `isForced` also in the midst of something. */
export function detachment({ annotations }: Annotated): { isForced: boolean } | undefined {
  const text = annotations[DETACHED]
  return text === undefined ? undefined : { isForced: /"force"\s*:\s*true/.test(text) }
}

/**
 * The reboot that is asked for: with a suffix (`reboot.metal3.io/KEY`) the host stays off for as long as the annotation is
 * there, without one it is turned off and on once.
 */
export function rebootRequest({ annotations }: Annotated): { isHeld: boolean; text: string } | undefined {
  const names = Object.keys(annotations).filter((name) => name === REBOOT || name.startsWith(`${REBOOT}/`))
  if (names.length === 0) return undefined
  return { isHeld: names.some((name) => name !== REBOOT), text: names.map((name) => annotations[name]).join() }
}

/** The inspection that is asked for again, of hardware that is known. */
export function inspectionRequest({ annotations }: Annotated): string | undefined {
  const text = annotations[INSPECT]
  return text === 'disabled' ? undefined : text
}
