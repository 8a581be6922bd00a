import { NO_PACE, openMachines, type Machines } from '../../machine/index.js'
import { defined, withFields } from '../../base/runtime/index.js'
import { simulatedStaging } from '../images/image-staging.js'
import type { Agents } from './agents.js'
import type { Connections } from './connections.js'
import { bootNetwork } from './stage-boot-network.js'
import type { StageCore } from './stage-core.js'
import { labProxies, type StageOptions } from './stage-options.js'
import { SimulatedRegistry } from './stage-registry.js'

interface StageMachines {
  readonly machines: Machines
  readonly registry: SimulatedRegistry
}

/** Opens the machines of a stage, which start its agents, and the registry that their systems pull node images from. */
export async function openStageMachines(
  options: StageOptions,
  core: StageCore,
  { outsideRequests, ownExchanges }: Connections,
  agents: Agents,
): Promise<StageMachines> {
  const { clock, probe, events, logger, scope } = core
  const random = core.randomness.main
  const { allow } = options
  const imageCache = allow ? { folder: null, ...options.imageCache, allow } : options.imageCache
  const registry = new SimulatedRegistry(clock, {
    changed: (change) => outsideRequests.inputs?.note(change),
    ...defined({ pullable: options.pullable, rate: options.pullRate }),
  })
  const network = bootNetwork({ clock, allow, proxies: labProxies(options) })
  const machines = await openMachines({
    stateDir: options.folder?.path ?? null,
    clock,
    random,
    probe,
    pace: options.machinePace ?? NO_PACE,
    logger: withFields(logger, { room: 'machine' }),
    stage: simulatedStaging(imageCache, { clock, random, logger }),
    network: options.bootNetwork?.(network) ?? network,
    downloads: ownExchanges.downloads(probe),
    registry,
    ...defined({ metalImageOf: options.metalImageOf }),
    events: {
      ramdiskUp: (machine, boot) => {
        agents.ramdiskUp(machine, boot)
        events.emit({ kind: 'ramdisk-up', machine: machine.spec.id })
      },
      down: (machine, boot) => agents.down(machine, boot),
      firstBoot: (machine, report) => events.emit({ kind: 'first-boot', machine: machine.spec.id, report }),
    },
  })
  return { machines: scope.use(machines), registry }
}
