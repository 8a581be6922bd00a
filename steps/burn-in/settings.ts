import { isObject } from '../../base/runtime/index.js'
import type { JsonObject } from '../../base/wire/index.js'
import { StepError } from '../sdk/step.js'

/**
 * Settings of one burn-in test in a node's driver_info: `agent_burnin_cpu_timeout` and so on.
 *
 * @throws StepError from `text` when a value is not a plain word or number
 */
export function burnInSettings(node: JsonObject, test: 'cpu' | 'vm' | 'fio_disk' | 'fio_network' | 'gpu') {
  const info = object(node['driver_info'])
  const key = (setting: string) => `agent_burnin_${test}_${setting}`
  const text = (setting: string, otherwise: string): string => {
    const value = info[key(setting)] ?? otherwise
    if ((typeof value === 'number' && value >= 0) || (typeof value === 'string' && /^[\w%./][\w%./-]*$/.test(value)))
      return String(value)
    throw new StepError(`${key(setting)} in the driver_info of the node cannot be used: ${JSON.stringify(value)}`)
  }
  return {
    text,
    record: (setting: string): JsonObject => object(info[key(setting)]),
    /** Option of the program for its report file; none when the node names no file. */
    output: (option: string): string[] =>
      info[key('outputfile')] === undefined ? [] : [option, text('outputfile', '')],
  }
}

const object = (value: unknown): JsonObject => (isObject(value) ? value : {})
