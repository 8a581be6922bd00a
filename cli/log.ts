import type { Logger } from '../lab/index.js'
import type { Environment } from './environment.js'

/** Warnings and errors of what runs, on standard error: a line each, or a JSON object each. */
export function logTo({ stderr }: Environment, json: boolean): Logger {
  return (level, message, fields = {}) => {
    if (level === 'debug' || level === 'info') return
    const room = typeof fields['room'] === 'string' ? fields['room'] : undefined
    stderr.write(
      json
        ? `${JSON.stringify({ event: 'log', level, room, message })}\n`
        : `${level}: ${room ? `${room}: ` : ''}${message}\n`,
    )
  }
}
