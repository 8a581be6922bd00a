import { silent } from '../../base/runtime/index.js'
import { stepHardware, type StepContext } from '../../steps/index.js'
import type { Target } from '../../targets/index.js'

export interface RecordingContext extends StepContext {
  readonly stages: string[]
  readonly percents: number[]
  readonly logged: { level: string; message: string; fields?: Record<string, unknown> | undefined }[]
}

/** A step's surroundings that remember what it told. */
export function stepContext(target: Target, options: Partial<StepContext> = {}): RecordingContext {
  const stages: string[] = []
  const percents: number[] = []
  const logged: RecordingContext['logged'] = []
  const node = options.node ?? {
    uuid: '1be26c0b-03f2-4d2e-ae87-c02d7f33c123',
    properties: {},
    instance_info: {},
    driver_internal_info: {},
  }
  return {
    target,
    hardware: stepHardware(target, node),
    node,
    ports: [],
    environment: {},
    progress: { stage: (name) => stages.push(name), percent: (value) => percents.push(value), line: () => {} },
    logger: (level, message, fields) => {
      logged.push({ level, message, fields })
      silent(level, message, fields)
    },
    clock: target.clock,
    signal: new AbortController().signal,
    ...options,
    stages,
    percents,
    logged,
  }
}
