import type { Logger } from '../../../base/runtime/index.js'
import type { Environment } from '../environment.js'
import { logTo } from '../output/command-log.js'

/** Agents and operators log errors while their Ironic is away, as real ones do: that is a part of the story. */
export function storyLog(environment: Environment, json: boolean): Logger {
  const log = logTo(environment, json)
  return (level, message, fields) => {
    if (level === 'error' && fields?.['room'] !== 'agent') log(level, message, fields)
  }
}
