import type { NodeRecord, PowerState } from '../../wire/index.js'
import type { Policy } from '../conductor/core/policy.js'

/**
 * Whether the node's power is only what Ironic was last told: the fake power interface drives no machine, unless the
 * lab wants one behind it; `manual-management` is somebody with a finger.
 */
export const remembersPower = (
  { power_interface }: Readonly<Pick<NodeRecord, 'power_interface'>>,
  { fakeHardwareMachines }: Policy,
): boolean => (power_interface === 'fake' && !fakeHardwareMachines) || power_interface === 'agent'

/** The node's record is the machine: reading gives what was set last, null before (as recorded). */
export const rememberedPower = (node: Readonly<NodeRecord>) => ({
  power: (): Promise<PowerState | null> => Promise.resolve(node.power_state),
  setPower: (): Promise<void> => Promise.resolve(),
  setBoot: (): Promise<void> => Promise.resolve(),
})
