import { dialectOf } from '../../dialects/index.js'
import type { MachineSpec } from '../../../machine/index.js'
import { baseMessage, type BaseMessage } from '../protocol/redfish-messages.js'
import { SpokenDialect } from './spoken-dialect.js'

/** The body of an error of a machine's BMC, for those who ask it without its service. */
export function refusalBody(spec: Pick<MachineSpec, 'dialect'>, key: BaseMessage, args: readonly string[]): string {
  const spoken = new SpokenDialect(dialectOf(spec), undefined)
  return JSON.stringify(spoken.error([baseMessage(key, args)]))
}
