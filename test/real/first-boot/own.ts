import { Devices } from '../../../machine/ignition/devices.js'
import { runIgnition } from '../../../machine/ignition/run-ignition.js'
import { recordsOf } from '../../../machine/root/root-records.js'
import type { RootTree } from '../../../machine/root/root-tree.js'
import { Probe, systemClock } from '../../../runtime/index.js'
import type { EngineRun } from './engine.js'

/** The simulated machine's Ignition on the same tree. */
export async function runOurs(tree: RootTree, config: string): Promise<EngineRun> {
  const journal: string[] = []
  const { failure } = await runIgnition({
    ...{ machine: 'm1', bootId: 'boot', tree, clock: systemClock(), probe: new Probe() },
    source: { from: 'system', bytes: Buffer.from(config) },
    signal: new AbortController().signal,
    devices: () => Promise.resolve(new Devices()),
    editKernelArguments: () => Promise.resolve(false),
    print: (stage, priority, message) => {
      const label = priority === 'crit' ? 'critical' : priority === 'err' ? 'error' : priority
      if (stage !== null) journal.push(`${label.toUpperCase().padEnd(9)}: ${message}`)
    },
  })
  return { tree: recordsOf(tree), failed: failure !== null, journal }
}
