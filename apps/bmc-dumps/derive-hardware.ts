import { defined } from '../../base/runtime/index.js'
import {
  dumpedDrives,
  dumpedNics,
  dumpedSerial,
  linkAt,
  membersOf,
  numberAt,
  textAt,
  type DumpedDrive,
  type DumpedDocument,
  type DumpedSystem,
  type RedfishDump,
} from '../../bmc/dumps/index.js'
import type { FoundMachine, FoundNic, ImportedDisk } from '../hardware-files/index.js'

/** The machine of a dump, as a hardware file can hold it. NICs and disks are in the order in which its BMC shows them. */
export function derivedMachine(dump: RedfishDump, machine: DumpedSystem): FoundMachine {
  const { document } = machine.system
  const gib = numberAt(document, 'MemorySummary', 'TotalSystemMemoryGiB')
  return {
    firmware: firmwareMode(document),
    architecture: architectureOf(dump, document),
    cpus: threadsOf(dump, document),
    memoryMib: gib === undefined || gib <= 0 ? undefined : Math.round(gib * 1024),
    manufacturer: textAt(document, 'Manufacturer'),
    product: textAt(document, 'Model'),
    serial: dumpedSerial(machine),
    nics: derivedNics(dump, machine),
    disks: dumpedDrives(dump, machine).map(derivedDisk),
  }
}

function firmwareMode(document: DumpedDocument): string | undefined {
  const mode = textAt(document, 'Boot', 'BootSourceOverrideMode')
  return mode === 'UEFI' ? 'uefi' : mode === 'Legacy' ? 'bios' : undefined
}

function architectureOf(dump: RedfishDump, document: DumpedDocument): string | undefined {
  const models = membersOf(dump, linkAt(document, 'Processors'))
    .filter((each) => !/gpu|fpga|accelerator/i.test(textAt(each.document, 'ProcessorType') ?? ''))
    .map(
      (each) =>
        `${textAt(each.document, 'InstructionSet') ?? ''} ${textAt(each.document, 'ProcessorArchitecture') ?? ''}`,
    )
  const all = [textAt(document, 'ProcessorSummary', 'Model') ?? '', ...models].join(' ')
  if (/\barm|\bgrace\b|neoverse|ampere/i.test(all)) return 'aarch64'
  return /x86|intel|xeon|amd|epyc/i.test(all) ? 'x86_64' : undefined
}

/** Threads, or else cores: of the summary, or else of the processors. */
function threadsOf(dump: RedfishDump, document: DumpedDocument): number | undefined {
  const summed =
    numberAt(document, 'ProcessorSummary', 'LogicalProcessorCount') ??
    numberAt(document, 'ProcessorSummary', 'CoreCount')
  if (summed !== undefined && summed > 0) return summed
  const processors = membersOf(dump, linkAt(document, 'Processors')).filter(
    (each) => (textAt(each.document, 'ProcessorType') ?? 'CPU') === 'CPU',
  )
  const counts = processors.map(
    (each) => numberAt(each.document, 'TotalThreads') ?? numberAt(each.document, 'TotalCores') ?? 0,
  )
  const sum = counts.reduce((total, count) => total + count, 0)
  return sum > 0 ? sum : undefined
}

/** The firmware boots from the first NIC with a link. Names are those of Linux, which no BMC knows. */
function derivedNics(dump: RedfishDump, machine: DumpedSystem): FoundNic[] {
  const nics = dumpedNics(dump, machine)
  const hasLink = nics.some(({ link, isOfBmc }) => link === 'up' && !isOfBmc)
  const booting = nics.find(({ link, isOfBmc }) => !isOfBmc && (!hasLink || link === 'up'))
  return nics.map((nic) => ({
    mac: nic.mac.toLowerCase().replaceAll('-', ':'),
    ...defined({
      // Without a network no machine can be deployed: a dump that shows no link has one here.
      carrier: hasLink ? nic.link === 'up' : undefined,
      pxe: nic === booting ? true : undefined,
      driver: nic.isOfBmc ? 'cdc_ether' : undefined,
    }),
  }))
}

function derivedDisk({ path, document, isVolume, size }: DumpedDrive): ImportedDisk {
  const protocol = textAt(document, 'Protocol') ?? (/nvme/i.test(path) ? 'NVMe' : '')
  const media = textAt(document, 'MediaType')
  const sector = numberAt(document, 'BlockSizeBytes')
  return {
    size,
    transport: isVolume ? 'sas' : transportOf(protocol),
    rotational: media === undefined ? undefined : /hdd/i.test(media),
    model: textAt(document, 'Model') ?? (isVolume ? 'Virtual Disk' : undefined),
    vendor: textAt(document, 'Manufacturer'),
    serial: isVolume ? undefined : textAt(document, 'SerialNumber'),
    wwn: wwnOf(document),
    sectorSize: sector === 4096 ? 4096 : 512,
  }
}

function transportOf(protocol: string): string | undefined {
  if (/nvme|pcie/i.test(protocol)) return 'nvme'
  if (/sas|fc/i.test(protocol)) return 'sas'
  return /usb/i.test(protocol) ? 'usb' : 'sata'
}

/** A name of eight bytes. */
function wwnOf(document: DumpedDocument): string | undefined {
  const listed: unknown = document['Identifiers']
  const all: readonly unknown[] = Array.isArray(listed) ? listed : []
  const found = all.find((each) => textAt(each, 'DurableNameFormat') === 'NAA')
  const digits = textAt(found, 'DurableName')
    ?.replace(/^(naa\.|0x)/i, '')
    .toLowerCase()
  return digits !== undefined && /^[0-9a-f]{16}$/.test(digits) ? `0x${digits}` : undefined
}
