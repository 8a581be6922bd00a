/** Severity of a log line. */
export type LogLevel = Parameters<Logger>[0]

/** Where sentences for people go. Fields are plain data; the caller masks secrets. */
export type Logger = (
  level: 'debug' | 'info' | 'warn' | 'error',
  message: string,
  fields?: Record<string, unknown>,
) => void

/**
 * A logger that drops every line: the default of a lab.
 *
 * @example
 * import { createLab, silent } from 'ironstage'
 *
 * await using lab = await createLab({ logger: process.env['DEBUG'] ? console.log : silent })
 */
export const silent: Logger = () => {}

/** A logger that adds `fields` to every message. With {@link silent} it is {@link silent}: no field is made. */
export const withFields = (logger: Logger, fields: Record<string, unknown>): Logger =>
  logger === silent ? silent : (level, message, more) => logger(level, message, { ...fields, ...more })
