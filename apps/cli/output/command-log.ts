import type { Logger } from '../../../base/runtime/index.js'
import type { Environment } from '../environment.js'

/**
 * Warnings and errors of what runs, on standard error: a line each, or a JSON object each.
 *
 * @param verbose also what is of interest and no warning
 */
export function logTo({ stderr }: Environment, json: boolean, { verbose = false } = {}): Logger {
  return (level, message, fields = {}) => {
    if (level === 'debug' || (level === 'info' && !verbose)) return
    const text = (name: string) => (typeof fields[name] === 'string' ? fields[name] : undefined)
    const room = text('room')
    const node = text('node')
    const line = [level, room, node, message].filter(Boolean).join(': ')
    stderr.either(json, { event: 'log', level, room, node, message }, line)
  }
}

/** Agents and operators log errors while their Ironic is away, as real ones do: that is a part of the story. */
export function storyLog(environment: Environment, json: boolean): Logger {
  const log = logTo(environment, json)
  return (level, message, fields) => {
    if (level === 'error' && fields?.['room'] !== 'agent') log(level, message, fields)
  }
}
