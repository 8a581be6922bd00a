import type { NodeRecord, PowerState } from '../../base/wire/index.js'
import type { ConductorConf } from '../conductor/core/conductor-conf.js'
import { implementationOf } from './hardware-types.js'

type PoweredNode = Readonly<Pick<NodeRecord, 'power_interface'>>

/** Whether the node's power state is only the one last requested, because no BMC controls the machine. */
export const remembersPower = ({ power_interface }: PoweredNode, conf: ConductorConf): boolean =>
  implementationOf('power', power_interface)?.remembersPower?.(conf) ?? false

/** Whether the node's agent reboots it, and nothing else can power it on. */
export const rebootsByAgent = ({ power_interface }: PoweredNode): boolean =>
  implementationOf('power', power_interface)?.rebootsByAgent ?? false

/** Power of such a node: reading returns the last requested state, or null before the first (as recorded). */
export const rememberedPower = (node: Readonly<NodeRecord>) => ({
  power: (): Promise<PowerState | null> => Promise.resolve(node.power_state),
  setPower: (): Promise<void> => Promise.resolve(),
  setBoot: (): Promise<void> => Promise.resolve(),
})
