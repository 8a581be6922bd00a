import { defaultMachineSpec, NO_PACE, withHardware } from '../../../machine/index.js'
import type { DialectChoice } from '../../../bmc/dialects/index.js'
import { served, type Answer, type Served } from './served.js'

export const REDFISH_ROOT = '/redfish/v1'

/** A machine with a BMC, behind its service. */
export function bmcOf(dialect: DialectChoice, count = 1, pace = NO_PACE): Promise<Served> {
  const { manufacturer, product } = withHardware(defaultMachineSpec(1), { bmc: dialect })
  return served(count, {}, { dialect, manufacturer, product }, pace)
}

/** Ids of the messages of a refusal. */
export const messageIds = ({ document }: Answer): string[] =>
  (document.error['@Message.ExtendedInfo'] as { MessageId: string }[]).map(({ MessageId }) => MessageId)

/** Paths of the members of a collection. */
export const memberPaths = async (bmc: Served, path: string): Promise<string[]> =>
  ((await bmc.call('GET', path)).document.Members as { '@odata.id': string }[]).map((each) => each['@odata.id'])
