import { isDeepStrictEqual } from 'node:util'
import { errorChain, isObject } from '../../base/runtime/index.js'
import { StepError } from '../../steps/index.js'
import { AgentError, pythonRepr, type AgentErrorType, type JsonObject, type StepKind } from '../../base/wire/index.js'
import { type CommandContext, type Extension, ManagersChanged } from './extension.js'
import { managerStep } from '../agent-managers.js'

const STEP_ERRORS: Record<StepKind, AgentErrorType> = {
  deploy: 'DeploymentError',
  clean: 'CleaningError',
  service: 'ServicingError',
}

/** Extensions `deploy`, `clean` and `service`: list their steps, and run one. */
export function stepsExtension(kind: StepKind): Extension {
  return {
    [`get_${kind}_steps`]: {
      kind: 'sync',
      required: ['node', 'ports'],
      optional: [],
      run: async ({ node }, { managers, seen }) => {
        if (isObject(node)) seen(node)
        return { [`${kind}_steps`]: managers.advertise(kind), hardware_manager_version: managers.versions() }
      },
    },
    [`execute_${kind}_step`]: {
      kind: 'async',
      required: ['step', 'node', 'ports'],
      optional: 'any',
      run: async (params, context) => {
        if (isObject(params.node)) context.seen(params.node)
        checkVersion(params[`${kind}_version`], context)
        const step = params.step
        if (!isObject(step) || !Object.hasOwn(step, 'step'))
          throw new AgentError('CommandExecutionError', `Malformed ${kind}_step, no "step" key: ${pythonStr(step)}`)
        if (typeof step.step !== 'string') {
          const why = `Unexpected exception performing ${kind} step ${pythonStr(step.step)}`
          throw new AgentError(STEP_ERRORS[kind], `${why}. TypeError: the name of a step is a text`)
        }
        const result = await execute(kind, step.step, stepArgs(kind, step.args, params), params, context)
        return { [`${kind}_result`]: result ?? null, [`${kind}_step`]: step }
      },
    },
  }
}

/** Checks the versions that Ironic got with the steps and sends back; null when it has none. */
function checkVersion(wanted: unknown, { managers }: CommandContext): void {
  const current = managers.versions()
  if (wanted === undefined || wanted === null || isDeepStrictEqual(wanted, current)) return
  throw new ManagersChanged(`Current versions: ${pythonRepr(current)}, versions used by ironic: ${pythonStr(wanted)}`)
}

/** Value as Python prints it in a sentence: a text without quotes. */
const pythonStr = (value: unknown): string => (typeof value === 'string' ? value : pythonRepr(value))

/** Further parameters of the command are arguments of its step, and those that are none by Python's measure are left out. */
function stepArgs(kind: StepKind, args: unknown, params: Readonly<Record<string, unknown>>): JsonObject {
  const known = new Set(['step', 'node', 'ports', `${kind}_version`])
  const further = Object.fromEntries(Object.entries(params).filter(([name]) => !known.has(name)))
  if (!args || (Array.isArray(args) && args.length === 0)) return further
  if (!isObject(args)) throw new AgentError('CommandExecutionError', 'args is not an object')
  return { ...further, ...args }
}

async function execute(
  kind: StepKind,
  name: string,
  args: JsonObject,
  params: Readonly<Record<string, unknown>>,
  context: CommandContext,
): Promise<unknown> {
  const node = isObject(params.node) ? params.node : {}
  const ports = Array.isArray(params.ports) ? params.ports.filter(isObject) : []
  try {
    return await managerStep(name, args, { node, ports }, context)
  } catch (error) {
    if (error instanceof AgentError) throw error
    if (error instanceof StepError)
      throw new AgentError(error.type ?? STEP_ERRORS[kind], error.details, { cause: error })
    const what = error instanceof Error ? error.name : 'Error'
    const details = `Unexpected exception performing ${kind} step ${name}. ${what}: ${errorChain(error).join(': ')}`
    throw new AgentError(STEP_ERRORS[kind], details, { cause: error })
  }
}
