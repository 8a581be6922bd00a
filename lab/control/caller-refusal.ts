import { callerSentence, type CallerRefusal } from '../../base/bytes/index.js'
import type { WireResponse } from '../../base/wire/index.js'

/** Paths that are the lab's own, not Ironic's. */
const OWN_PATHS = /^\/(_lab|metrics)(?:[/?]|$)/

/** The answer of the control API to a web page of another server. */
export const controlRefusal = ({ code, message, remedy }: CallerRefusal): WireResponse => ({
  status: 403,
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify({ error: { code, message, remedy } }),
})

/** Refuses callers of a port that has the control API too: each API in its own shape. */
export const callerRefusal =
  (refuse: (status: number, why: string) => WireResponse) =>
  (refusal: CallerRefusal, target: string): WireResponse =>
    OWN_PATHS.test(target) ? controlRefusal(refusal) : refuse(403, callerSentence(refusal))
