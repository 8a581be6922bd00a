import type { Step } from '../../steps/index.js'
import type { JsonObject } from '../../wire/index.js'
import type { CommandContext } from './extension.js'

/** Gives a step to the managers by its name, as commands and steps alike do. */
export function managerStep(
  name: string,
  args: unknown,
  { node, ports }: { node: JsonObject; ports: readonly JsonObject[] },
  { managers, target, environment, progress, logger, clock, signal, images, nodeAgain }: CommandContext,
): Promise<unknown> {
  const context = {
    target,
    environment,
    progress,
    logger,
    clock,
    signal,
    images,
    ...(nodeAgain && { nodeAgain }),
    node,
    ports,
  }
  return managers.dispatch(name, (step: Step): Promise<unknown> => {
    if (args !== undefined && args !== null && !isObject(args)) throw new TypeError('args is not an object')
    return step.run(context, args ?? {})
  })
}

export const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
