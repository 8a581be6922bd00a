import { checkedHardware } from './checked-hardware.js'
import { fittedHardware } from './fitted-hardware.js'
import type { FoundMachine } from './found-machine.js'
import { hardwareText, type HardwareFileMachine } from './hardware-text.js'
import { ImportNotes } from './import-notes.js'
import { MadeIdentities } from './made-identities.js'
import { unreadable } from './parse-description.js'
import { readDescription } from './read-description.js'

/** Entries of `machines` of a hardware file, at most. */
const MAX_MACHINES = 1000

/** A hardware file, and sentences on what was lost or guessed. */
export interface ImportedHardware {
  readonly text: string
  readonly notes: readonly string[]
}

/**
 * Makes a hardware file of another description of machines: an Ironic inventory, HardwareData or BareMetalHosts, or the
 * output of lshw. The same description always gives the same file.
 *
 * @param name of the description, for errors
 * @param keepsIdentities keeps serial numbers, MAC addresses, WWNs, IP addresses and names; else made ones replace them
 * @throws UserError `hardware-import`, `nested-too-deeply`, `too-many-aliases` (usage)
 */
export function importHardware(
  bytes: Uint8Array,
  name: string,
  { keepsIdentities }: { keepsIdentities: boolean },
): ImportedHardware {
  const { format, machines, notes } = readDescription(bytes, name)
  const [first, ...others] = machines
  if (!first) throw unreadable(`${name} describes no machine`)
  if (machines.length > MAX_MACHINES)
    throw unreadable(`${name} describes ${machines.length} machines, and a hardware file has at most ${MAX_MACHINES}`)
  const lost = new ImportNotes()
  const made = keepsIdentities ? undefined : new MadeIdentities(bytes)
  const written = (found: FoundMachine): HardwareFileMachine => {
    const hardware = fittedHardware(found, lost)
    if (made) return { hardware: made.replaceIn(hardware) }
    return found.host === undefined ? { hardware } : { host: found.host, hardware }
  }
  const all: [HardwareFileMachine, ...HardwareFileMachine[]] = [written(first), ...others.map(written)]
  const count = all.length === 1 ? 'A machine' : `${all.length} machines`
  const text = hardwareText(all, `${count} by ${format}; docs/hardware.md explains the keys`)
  checkedHardware(text, name)
  return { text, notes: [...notes, ...lost.sentences(), ...identityNotes(made !== undefined)] }
}

const identityNotes = (areMade: boolean): string[] =>
  areMade
    ? [
        'serial numbers, MAC addresses, WWNs and IP addresses are made-up ones, and names are left out: --keep-identities keeps those of the description',
      ]
    : []
