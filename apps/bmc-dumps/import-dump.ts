import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { stringify } from 'yaml'
import { defined } from '../../base/runtime/index.js'
import type { MachineHardware } from '../../machine/index.js'
import { dialectOf, readOwnDialect, type BmcDialect } from '../../bmc/dialects/index.js'
import {
  dumpedDrives,
  dumpedNics,
  dumpedSystem,
  linkAt,
  memberPaths,
  readDump,
  RedfishDump,
  type DumpedSystem,
} from '../../bmc/dumps/index.js'
import { checkedHardware, fittedHardware, hardwareText, ImportNotes, MadeIdentities } from '../hardware-files/index.js'
import { derivedMachine } from './derive-hardware.js'
import { derivedRecord, type DerivedRecord } from './derive-record.js'
import { IdentityMask, withoutLiveResources } from './mask-identities.js'
import { withoutSecrets } from './mask-secrets.js'
import { writeDump, writeWhole } from './write-dump.js'

export interface DumpImportOptions {
  /** Id of the system, of a dump with several. */
  readonly system: string | undefined
  /** Keeps serial numbers, UUIDs, addresses and names; else made ones replace them. */
  readonly keepsIdentities: boolean
}

/** A machine of a dump: two files, and the dump that they name. */
export interface ImportedDump {
  /** The hardware file, which names the other one. */
  readonly hardware: string
  /** The record of the BMC. */
  readonly bmc: string
  readonly record: DerivedRecord
  readonly dump: RedfishDump
  /** Sentences on what was guessed and what the dump lacks. */
  readonly notes: readonly string[]
}

/** Names of files in an imported machine's folder. */
export const IMPORTED_FILES = {
  hardware: 'hardware.yaml',
  bmc: 'bmc.yaml',
  dump: 'dump',
} as const

/**
 * Makes a machine of a dump: of Redfish-Mockup-Creator, `ironstage bmc dump`, sushy-static or DSP2043. The same dump always
 * gives the same machine.
 *
 * @param name folder or zip
 * @throws UserError `bmc-dump` (usage) that says what is wrong, and where
 */
export async function importDump(name: string, options: DumpImportOptions): Promise<ImportedDump> {
  const read = await readDump(name)
  const chosen = dumpedSystem(read, options.system)
  const plain = withoutLiveResources(withoutSecretsIn(read))
  const made = options.keepsIdentities
    ? undefined
    : new MadeIdentities(Buffer.from(JSON.stringify(chosen.root.document)))
  const dump = made ? new IdentityMask(plain, made).masked(plain) : plain
  const ids = chosenId(plain, dump, chosen)
  const machine = dumpedSystem(dump, ids)
  const record = derivedRecord(dump, machine)
  const lost = new ImportNotes()
  const hardware = withDisks(fittedHardware(derivedMachine(dump, machine), lost))
  const file = hardwareText(
    [{ hardware, bmcFile: `./${IMPORTED_FILES.bmc}` }],
    `A machine made of a dump of its BMC; docs/hardware.md explains the keys`,
  )
  const bmc = recordText(record, machine, ids)
  const dialect = checkedDialect(record, hardware, name)
  return {
    hardware: file,
    bmc,
    record,
    dump,
    notes: [...lacks(dump, machine, dialect), ...lost.sentences(), ...identityNotes(made !== undefined)],
  }
}

/** A dump that shows no disk is none of a machine without disks. */
function withDisks({ disks, ...hardware }: MachineHardware): MachineHardware {
  return { ...hardware, ...defined({ disks: disks?.length === 0 ? undefined : disks }) }
}

const withoutSecretsIn = (dump: RedfishDump): RedfishDump =>
  new RedfishDump(
    dump.name,
    [...dump.resources()].map((each) => ({ ...each, document: withoutSecrets(each.document) })),
  )

/** Id of the chosen system, which may have been replaced with the identities. */
function chosenId(plain: RedfishDump, masked: RedfishDump, { system }: DumpedSystem): string {
  const index = [...plain.resources()].findIndex(({ path }) => path === system.path)
  const found = [...masked.resources()][index]
  return (found ?? system).path.replace(/\/+$/, '').split('/').at(-1) ?? ''
}

function recordText(record: DerivedRecord, { others }: DumpedSystem, system: string): string {
  const source = { folder: `./${IMPORTED_FILES.dump}`, ...(others.length > 0 ? { system } : {}) }
  const { base, ...changes } = record
  const text = stringify({ base, dump: source, ...changes }, { aliasDuplicateObjects: false, lineWidth: 0 })
  return `# A BMC made of a dump of one; docs/bmc-dumps.md explains the keys\n${text}`
}

/** The files are checked as those who read them check them. */
function checkedDialect(record: DerivedRecord, hardware: MachineHardware, name: string): BmcDialect {
  const dialect = dialectOf({ dialect: readOwnDialect(record, `the BMC of ${name}`) })
  const { base } = record
  checkedHardware(hardwareText([{ hardware: { ...hardware, bmc: base } }], ''), name)
  return dialect
}

/** Parts without which a deployment through this BMC goes otherwise, or not at all. */
function lacks(dump: RedfishDump, machine: DumpedSystem, { media, power }: BmcDialect): string[] {
  const { root, system, manager, others } = machine
  const drives = media.slots.map(({ drive }) => drive)
  const sessions = linkAt(root.document, 'Links', 'Sessions') ?? linkAt(root.document, 'SessionService')
  const all: readonly (readonly [boolean, string])[] = [
    [
      others.length > 0,
      `the machine is ${system.path}; other systems of the dump are shown as they are: ${others.join(', ')}`,
    ],
    [manager === undefined, 'the dump has no manager: no virtual media, and no reset of the BMC'],
    [
      !drives.includes('cdrom'),
      'the dump has no slot for a CD: nothing is deployed by virtual media; use PXE or HTTP boot',
    ],
    [power.resetsBy === 'nowhere', `${system.path} lists no values of a reset: those of the base are used`],
    [linkAt(system.document, 'Bios') === undefined, 'the dump has no Bios: firmware settings cannot be changed'],
    [sessions === undefined, 'the dump has no sessions: clients use Basic authentication'],
    [
      linkAt(system.document, 'EthernetInterfaces') === undefined,
      'the system has no EthernetInterfaces: Ironic finds no ports by Redfish',
    ],
    [dumpedNics(dump, machine).length === 0, "the dump shows no MAC address: NICs are the default machine's"],
    [dumpedDrives(dump, machine).length === 0, "the dump shows no disk with a size: disks are the default machine's"],
  ]
  const absent = absentPaths(dump, machine)
  return [
    ...all.flatMap(([isSo, sentence]) => (isSo ? [sentence] : [])),
    ...(absent.length > 0 ? [`links lead to resources that the dump lacks: ${absent.slice(0, 4).join(', ')}`] : []),
  ]
}

/** Resources of the machine that are linked, and are not there. */
function absentPaths(dump: RedfishDump, { system, manager }: DumpedSystem): string[] {
  const names = ['Bios', 'EthernetInterfaces', 'SecureBoot', 'Storage', 'Processors']
  const links = [
    ...names.map((name) => linkAt(system.document, name)),
    linkAt(system.document, 'VirtualMedia'),
    linkAt(manager?.document, 'VirtualMedia'),
    ...memberPaths(dump, linkAt(system.document, 'VirtualMedia')),
    ...memberPaths(dump, linkAt(manager?.document, 'VirtualMedia')),
  ]
  return [...new Set(links)].filter((path) => path !== undefined && !dump.find(path)) as string[]
}

const identityNotes = (areMade: boolean): string[] =>
  areMade
    ? [
        'serial numbers, UUIDs, MAC and IP addresses, names and accounts are made-up ones, and passwords, keys, certificates and log entries are left out: --keep-identities keeps the former',
      ]
    : ['passwords, keys, certificates and log entries are left out']

/** Writes an imported machine into a new folder: all of it, or nothing. @throws UserError `bmc-dump` for a folder that is there */
export async function writeImport(imported: ImportedDump, folder: string): Promise<void> {
  await writeWhole(folder, async (unfinished) => {
    await writeFile(join(unfinished, IMPORTED_FILES.hardware), imported.hardware)
    await writeFile(join(unfinished, IMPORTED_FILES.bmc), imported.bmc)
    await writeDump(imported.dump, join(unfinished, IMPORTED_FILES.dump))
  })
}
