import { isObject } from '../../base/runtime/index.js'
import { AgentError } from '../../base/wire/index.js'
import { type Extension, type CommandValidation } from './extension.js'

type Flow = readonly Readonly<Record<string, unknown>>[]

/** Extension `flow`: runs commands in order until one fails. They are not in the agent's list. */
export const flowExtension: Extension = {
  start_flow: {
    kind: 'async',
    required: ['flow'],
    optional: [],
    validate: ({ flow }, validation) => checkFlow(flow, validation),
    run: async ({ flow }, { execute, logger }) => {
      for (const [name, params] of (flow as Flow).flatMap((task) => Object.entries(task))) {
        const { status, error } = await execute(name, params as Record<string, unknown>)
        if (status === 'SUCCEEDED') continue
        logger(
          'error',
          `${name}, which is part of a flow, ended as ${status}: ${error?.details ?? 'it does not say why'}`,
        )
        throw new AgentError('CommandExecutionError', `${name} was failed`)
      }
      return null
    },
  },
}

function checkFlow(flow: unknown, { find }: CommandValidation): void {
  const bad = (what: string): AgentError => new AgentError('InvalidCommandParamsError', what)
  if (!Array.isArray(flow)) throw bad('flow is not a list of tasks')
  for (const task of flow as unknown[]) {
    if (!isObject(task)) throw bad('a task of the flow is not an object')
    for (const [name, params] of Object.entries(task)) {
      checkKnown(name, find)
      if (name === 'flow.start_flow') throw bad('a flow cannot be part of a flow')
      if (!isObject(params)) throw bad(`the parameters of ${name} are not an object`)
    }
  }
}

/** Checks that a command exists, with IPA's sentence for a flow. */
function checkKnown(name: string, find: CommandValidation['find']): void {
  try {
    find(name)
  } catch (error) {
    const extension = name.slice(0, name.indexOf('.'))
    const command = name.slice(name.indexOf('.') + 1)
    if (name.includes('.') && error instanceof AgentError && error.type === 'InvalidCommandError')
      throw new AgentError('InvalidCommandParamsError', `Extension ${extension} doesn't provide ${command} method`)
    throw error
  }
}
