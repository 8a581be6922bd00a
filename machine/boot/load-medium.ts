import { randomUniform } from '../../base/runtime/index.js'
import { NO_NETWORK } from '../live/boot-network.js'
import { bootLive, type LiveMedium, type LiveOutcome } from '../live/live-boot.js'
import { missingDriver } from '../live/live-version.js'
import type { BootState } from '../machine-record.js'
import type { BootingMachine } from '../machine-parts.js'
import { removableMedia } from './boot-order.js'

/** Loads a live system. Its details become those of this boot. */
export async function loadMedium(
  medium: LiveMedium,
  { machine, parts, console }: BootingMachine,
  state: BootState,
  signal: AbortSignal,
): Promise<LiveOutcome> {
  const { network = NO_NETWORK, clock, probe, downloads } = parts
  const say = (line: string) => machine.say(line)
  const removable = removableMedia(machine.firmware)
  const booting = { machine: machine.spec.id, network, clock, probe, downloads, signal, say, removable }
  const { outcome: reached, live, version } = await bootLive(medium, booting)
  signal.throwIfAborted()
  const failure = missingDriver(version, machine.spec.supportedSince)
  const outcome = failure !== null && reached === 'ramdisk' ? 'live' : reached
  if (failure !== null) {
    Object.assign(live, { agent: null, failure })
    say(failure)
  }
  state.live = Object.assign(live, { console })
  return outcome
}

/** Waits as long as the firmware takes, and the load of a system. */
export async function selfTest(
  system: 'disk' | 'ramdisk',
  { parts: { clock, random, pace } }: BootingMachine,
  signal: AbortSignal,
): Promise<void> {
  const { bootDisk, bootRamdisk: least, bootRamdiskMost: most = least } = pace
  const time = system === 'disk' ? bootDisk : most > least ? randomUniform(random, least, most) : least
  if (time > 0) await clock.sleep(time, { signal })
}
