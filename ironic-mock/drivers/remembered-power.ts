import type { NodeRecord, PowerState } from '../../wire/index.js'
import type { ConductorConf } from '../conductor/core/conductor-conf.js'

/**
 * Whether the node's power state is only the one last requested, because no BMC controls the machine: the fake power
 * interface has no machine, unless the configuration gives it one, and an operator switches machines of `manual-management` by
 * hand.
 */
export const remembersPower = (
  { power_interface }: Readonly<Pick<NodeRecord, 'power_interface'>>,
  { fakeHardwareMachines }: ConductorConf,
): boolean => (power_interface === 'fake' && !fakeHardwareMachines) || power_interface === 'agent'

/** Power of such a node: reading returns the last requested state, or null before the first (as recorded). */
export const rememberedPower = (node: Readonly<NodeRecord>) => ({
  power: (): Promise<PowerState | null> => Promise.resolve(node.power_state),
  setPower: (): Promise<void> => Promise.resolve(),
  setBoot: (): Promise<void> => Promise.resolve(),
})
