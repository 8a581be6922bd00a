import { dumpedSystem, type DumpedSystem } from './dumped-system.js'
import { DumpPlaces } from './dump-places.js'
import { readDump } from './read-dump.js'
import type { RedfishDump } from './redfish-dump.js'

/** A dump whose machine is known. */
export interface OpenDump {
  readonly dump: RedfishDump
  readonly machine: DumpedSystem
  readonly places: DumpPlaces
}

/** A dump that a BMC answers with: a folder, and the system of it. */
export interface DumpSource {
  readonly folder: string
  /** Id of the system; undefined where there is only one. */
  readonly system: string | undefined
}

const opened = new Map<string, Promise<OpenDump>>()
const present = new Map<string, OpenDump>()
/** Dumps that stay in memory: a rack has machines of a few makers. */
const MAX_OPEN_DUMPS = 32

const sourceKey = ({ folder, system }: DumpSource): string => JSON.stringify([folder, system ?? null])

/** A dump that has been opened; undefined for another. */
export const presentDump = (source: DumpSource): OpenDump | undefined => present.get(sourceKey(source))

/**
 * Opens a dump, once for all machines that have it.
 *
 * @throws UserError `bmc-dump` (usage) that names the file and what is wrong with it
 */
export async function openDump(source: DumpSource): Promise<OpenDump> {
  const key = sourceKey(source)
  const known = opened.get(key)
  if (known) return known
  const opening = openedDump(source)
  opened.set(key, opening)
  try {
    const made = await opening
    present.set(key, made)
    forgetOldest()
    return made
  } catch (error) {
    opened.delete(key)
    throw error
  }
}

async function openedDump({ folder, system }: DumpSource): Promise<OpenDump> {
  const dump = await readDump(folder)
  const machine = dumpedSystem(dump, system)
  return { dump, machine, places: new DumpPlaces(dump, machine) }
}

function forgetOldest(): void {
  for (const key of opened.keys()) {
    if (opened.size <= MAX_OPEN_DUMPS) return
    opened.delete(key)
    present.delete(key)
  }
}
