import { againstIronic } from './against-ironic.js'
import { besideBareServer } from './bare-server.js'
import { controlOfLabs } from './control.js'
import { countsAndCosts } from './counts/counts.js'
import { idleAgents } from './idle-agents.js'
import { besideEmbedded } from './database/beside-embedded.js'
import { sizesOnDatabase } from './database/sizes.js'
import { besideEmulators } from './fleet/emulators.js'
import { thousandMachines } from './fleet/thousand.js'
import { fleetOfThousands } from './fleet.js'
import { ignitionConfigs } from './ignition.js'
import { servedImages } from './images.js'
import { installation } from './install.js'
import { journals } from './journals.js'
import { labOfHosts } from './lab-of-hosts.js'
import { lists } from './lists.js'
import { localTarget } from './local-target.js'
import type { Measured, Outcome } from './measure.js'
import { idleMemory } from './memory.js'
import { quick } from './quick.js'
import { redfishOfThousands } from './redfish.js'
import type { BenchmarkName } from './rows.js'
import { lifecycles, starts } from './served.js'
import { ci, suites } from './suites.js'
import { hundredThousand, inVirtualTime, tenThousand } from './virtual-time.js'

const rows = (measure: () => Promise<Measured[]>) => async (): Promise<Outcome> => ({ rows: await measure() })

export const BENCHMARKS: Readonly<Record<BenchmarkName, () => Promise<Outcome>>> = {
  start: rows(starts),
  lifecycles: rows(async () => [...(await lifecycles()), ...(await besideBareServer())]),
  'virtual-time': rows(inVirtualTime),
  'ten-thousand': rows(tenThousand),
  'hundred-thousand': rows(hundredThousand),
  lists: rows(() => lists()),
  redfish: rows(redfishOfThousands),
  fleet: rows(fleetOfThousands),
  emulators: besideEmulators,
  'fleet-of-1000': rows(thousandMachines),
  memory: rows(idleMemory),
  'idle-agents': rows(idleAgents),
  install: rows(installation),
  'local-target': rows(localTarget),
  lab: rows(labOfHosts),
  ignition: rows(ignitionConfigs),
  images: rows(servedImages),
  ironic: rows(againstIronic),
  control: rows(controlOfLabs),
  database: rows(besideEmbedded),
  'database-sizes': sizesOnDatabase,
  counts: countsAndCosts,
  quick,
  journals,
  suites: rows(suites),
  ci: rows(ci),
}
