import { RETRY_VERBS, retryText, type FaultReport, type RetryVerb } from '../../../control/index.js'

/** Why it is so, and what helps. */
export interface Advice {
  readonly why: string
  readonly remedy: string
  /** Verb that goes on once the cause is gone. */
  readonly verb: string | null
}

export interface About {
  readonly kind: 'failed' | 'error' | 'blocked' | 'slow'
  readonly state: string
  readonly error: string
  readonly faults: readonly FaultReport[]
  readonly isInMaintenance: boolean
}

/** Sentences of Ironic and its agent, what they mean, and what a person does next. */
const ADVICE_RULES: readonly { pattern: RegExp; why: string; remedy: string }[] = [
  {
    pattern: /timeout reached while waiting for callback/i,
    why: 'No agent called back in time: the ramdisk did not boot, or its agent cannot reach Ironic.',
    remedy: 'Check the console and the heartbeats of one of them.',
  },
  {
    pattern: /heartbeat/i,
    why: 'The agent stopped sending heartbeats.',
    remedy: 'Check the console: the machine may have lost power or network.',
  },
  {
    pattern: /no space left|ENOSPC/i,
    why: 'The disk is full.',
    remedy: 'Choose a larger disk with a root device hint, or replace it.',
  },
  {
    pattern: /input\/output error|\bEIO\b|medium/i,
    why: 'The disk cannot be read or written.',
    remedy: 'Replace the disk, or choose another one with a root device hint.',
  },
  {
    pattern: /exit(ed with|s? (code|status))|unexpected error while running command/i,
    why: 'A program on the machine failed.',
    remedy: 'See its output in the error of the node and in the journal.',
  },
  {
    pattern: /power (state|on|off)|set power|get power|bmc|ipmi|redfish/i,
    why: 'The BMC did not carry out the request of Ironic.',
    remedy: 'Check that the BMC can be reached, and check its account.',
  },
  {
    pattern: /image|checksum|download|could not be (fetched|found)|404/i,
    why: 'An image could not be fetched.',
    remedy: 'Check its URL and its server.',
  },
  {
    pattern: /ignition/i,
    why: 'The Ignition config was refused.',
    remedy: 'Check it with `ironstage ignition validate`.',
  },
  {
    pattern: /token/i,
    why: 'The agent sent the token of another node or boot.',
    remedy: 'Reboot the machine: its agent then requests a new one.',
  },
]

/** Verbs of the dashboard for those of Ironic. `rescue` and `service` take more than a click: a password, steps. */
const BUTTONS: Readonly<Partial<Record<RetryVerb, string>>> = {
  abort: 'abort',
  active: 'install',
  adopt: 'adopt',
  deleted: 'undeploy',
  inspect: 'inspect',
  manage: 'manage',
  unrescue: 'unrescue',
}

/** The button for a node that failed, and the words for it. */
function retryIn(state: string): { verb: string | null; retry: string } {
  const verbs = RETRY_VERBS[state] ?? []
  const verb = verbs.find((one) => BUTTONS[one] !== undefined)
  if (verb === undefined) return { verb: null, retry: '' }
  return { verb: BUTTONS[verb]!, retry: verb === verbs[0] ? 'try again' : retryText(state) }
}

export function adviceFor({ kind, state, error, faults, isInMaintenance }: About): Advice {
  const known = ADVICE_RULES.find(({ pattern }) => pattern.test(error))
  const { verb, retry } = kind === 'failed' || kind === 'error' ? retryIn(state) : { verb: null, retry: '' }
  const again = verb === null ? '' : ` Then ${isInMaintenance ? 'end the maintenance and ' : ''}${retry}.`
  if (faults.length > 0) {
    const names = faults.map(({ id, label, effect }) => `${id} (${label ?? effect.kind})`).join(', ')
    return {
      why: `${known ? `${known.why} ` : ''}${faults.length === 1 ? 'A fault' : 'Faults'} of this lab struck: ${names}.`,
      remedy: `Lift ${faults.length === 1 ? 'it' : 'them'}.${again}`,
      verb,
    }
  }
  if (kind === 'blocked')
    return { why: 'They need an operator to continue.', remedy: 'Follow the message.', verb: null }
  if (kind === 'slow')
    return {
      why: `They have been in ${state} for a long time.`,
      remedy: 'Check what one of them waits for, and until when.',
      verb: null,
    }
  return {
    why: known?.why ?? 'Ironic reported this error.',
    remedy: `${known?.remedy ?? 'Check the timeline of one of them.'}${again}`,
    verb,
  }
}
