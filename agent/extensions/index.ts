import { agentErrors } from '../../base/wire/index.js'
import type { Extension, ExtensionCommand } from './extension.js'
import { flowExtension } from './flow-extension.js'
import { imageExtension } from './image-extension.js'
import { logExtension } from './log-extension.js'
import { pollExtension } from './poll-extension.js'
import { rescueExtension } from './rescue-extension.js'
import { standbyExtension } from './standby-extension.js'
import { stepsExtension } from './steps-extension.js'
import { systemExtension } from './system-extension.js'

/** Extensions of this agent, by name. */
const EXTENSIONS: Readonly<Record<string, Extension>> = {
  clean: stepsExtension('clean'),
  deploy: stepsExtension('deploy'),
  flow: flowExtension,
  image: imageExtension,
  log: logExtension,
  poll: pollExtension,
  rescue: rescueExtension,
  service: stepsExtension('service'),
  standby: standbyExtension,
  system: systemExtension,
}

/** Names of all commands, without that of their extension. */
export const AGENT_COMMANDS: readonly string[] = [...new Set(Object.values(EXTENSIONS).flatMap(Object.keys))]

/**
 * Splits a name such as `deploy.execute_deploy_step`.
 *
 * @throws AgentError when it does not have the form `extension.command`
 */
export function splitName(fullName: string): { extension: string; command: string } {
  const dot = fullName.indexOf('.')
  if (dot < 0) throw agentErrors.malformedCommandName()
  return { extension: fullName.slice(0, dot), command: fullName.slice(dot + 1) }
}

/** @throws AgentError when there is no such extension or it has no such command */
export function findCommand(extension: string, command: string): ExtensionCommand {
  const found = Object.hasOwn(EXTENSIONS, extension) ? EXTENSIONS[extension] : undefined
  if (!found) throw agentErrors.unknownExtension(extension)
  const handler = Object.hasOwn(found, command) ? found[command] : undefined
  if (!handler) throw agentErrors.unknownCommand(command)
  return handler
}
