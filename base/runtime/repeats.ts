import { minutes, type Clock } from './clock.js'
import { silent, type Logger } from './logger.js'

/** Milliseconds after which a repeated sentence is logged as new. */
const REPEAT_FORGET_DELAY = minutes(10)

/** Number of sentences that are remembered: the latest ones. */
const MAX_REMEMBERED_SENTENCES = 1000

/**
 * Logs each warning and error once, and its repetitions as a count: after 10, 100, 1000 ... of them. Two are the same
 * when message, room and node are.
 */
export function withoutRepeats(logger: Logger, clock: Pick<Clock, 'now'>): Logger {
  if (logger === silent) return silent
  const known = new Map<string, { repeats: number; at: number }>()
  return (level, message, fields = {}) => {
    if (level === 'debug' || level === 'info') return logger(level, message, fields)
    const key = JSON.stringify([level, fields['room'], fields['node'], message])
    const before = known.get(key)
    const at = clock.now()
    const repeats = before && at - before.at < REPEAT_FORGET_DELAY ? before.repeats + 1 : 0
    known.delete(key)
    known.set(key, { repeats, at })
    if (known.size > MAX_REMEMBERED_SENTENCES) known.delete(known.keys().next().value!)
    if (repeats === 0) logger(level, message, fields)
    else if (/^10+$/.test(String(repeats))) logger(level, `${message} (${repeats} more times)`, fields)
  }
}
