import type { DiskSpec, Machine, MachineBootSource, MachineSpec, NicSpec } from '../../machine/index.js'
import { UserError } from '../../base/runtime/index.js'
import type { Transport } from '../../base/wire/index.js'
import { maskedText } from '../masking.js'

/** A machine as the lab's API shows it. */
export interface MachineReport {
  id: string
  bmc: { address: string; systemId: string } | null
  power: 'on' | 'off'
  boot: BootReport | null
  /** The current boot or, for a machine that is off, the previous one. */
  lastBoot: BootReport | null
  /** Last console lines of a boot from served media. */
  console: readonly string[]
  /** `file` is a path on ironstage's host; null for a described disk. */
  disks: (Pick<DiskSpec, 'name' | 'size' | 'serial' | 'wwn' | 'model' | 'rotational' | 'transport'> & {
    file: string | null
  })[]
  /** Disks that were swapped for others, and can come back. */
  takenOut: Pick<DiskSpec, 'name' | 'size' | 'serial' | 'wwn'>[]
  /** NICs; a port of Ironic with the `mac` of one belongs to this machine. */
  nics: NicSpec[]
  hardware: Pick<
    MachineSpec,
    'firmware' | 'architecture' | 'cpus' | 'memoryMib' | 'manufacturer' | 'product' | 'serial'
  >
  firmware: {
    bootMode: 'uefi' | 'bios'
    secureBoot: boolean
    health: string
    /** Devices in the order in which they are tried, by their names and what they are. */
    bootOrder: { reference: string; target: string; device: string | null }[]
    /** Device that the BMC was asked to boot before the order; null without such a request. */
    override: { target: string; enabled: string } | null
    /** Inserted virtual media: device and image. */
    media: { device: string; image: string }[]
    versions: { component: string; version: string }[]
  }
  firstBoot: ReturnType<Machine['firstBoot']> | null
  /** Versions of the OS on its disk, and how far it is from joining its cluster; null before its first boot. */
  os: ReturnType<Machine['os']>
  /** Reason why the node's ramdisk cannot boot, for a machine that was looked up by its node. */
  waitsFor?: string | null
}

/** @public the compiler names it in declarations of other files */
export interface BootReport {
  id: string
  outcome: string
  from: MachineBootSource['kind']
  /** Reason why a live system from served media starts no agent. */
  failure: string | null
}

/**
 * Requests the machine behind a node from a running ironstage.
 *
 * @throws UserError when the server is not an ironstage
 */
export async function machineBehind(
  transport: Transport,
  url: string,
  node: string,
  headers: Readonly<Record<string, string>> = {},
): Promise<MachineReport> {
  const address = `${url.replace(/\/+(v1\/*)?$/, '')}/_lab/nodes/${node}/machine`
  const { status, body } = await transport.send({
    method: 'GET',
    url: address,
    headers: { accept: 'application/json', ...headers },
  })
  if (status === 200) return JSON.parse(body ?? '') as MachineReport
  throw new UserError('no-lab', `${address} answered ${status}, so the disk of node ${node} cannot be found`, {
    remedy: 'deploy through an ironstage of this version: a real Ironic does not know where simulated disks are',
  })
}

/** A machine as it is now. */
export async function machineReport(machine: Machine): Promise<MachineReport> {
  const { spec } = machine
  const { firmware, architecture, cpus, memoryMib, manufacturer, product, serial } = spec
  const bootOf = (boot: ReturnType<Machine['boot']>): BootReport | null =>
    boot ? { id: boot.id, outcome: boot.outcome, from: boot.source.kind, failure: boot.live?.failure ?? null } : null
  return {
    id: spec.id,
    bmc: spec.bmc && { address: spec.bmc.address, systemId: spec.bmc.systemId },
    power: machine.power(),
    boot: bootOf(machine.boot()),
    lastBoot: bootOf(machine.lastBoot()),
    console: machine.console(),
    disks: await Promise.all(
      spec.disks.map(async ({ name, size, serial, wwn, model, rotational, transport }) => ({
        name,
        size,
        serial,
        wwn,
        model,
        rotational,
        transport,
        file: (await machine.diskFile(name)) ?? null,
      })),
    ),
    takenOut: machine.takenOut.map(({ name, size, serial, wwn }) => ({ name, size, serial, wwn })),
    nics: spec.nics,
    hardware: { firmware, architecture, cpus, memoryMib, manufacturer, product, serial },
    firmware: firmwareReport(machine),
    firstBoot: machine.firstBoot() ?? null,
    os: machine.os(),
  }
}

function firmwareReport({ firmware }: Machine): MachineReport['firmware'] {
  const { bootMode, secureBoot, health } = firmware.report()
  const { override } = firmware.boot
  const options = new Map(firmware.boot.options().map((option) => [option.reference, option]))
  return {
    bootMode,
    secureBoot,
    health,
    bootOrder: firmware.boot.order.flatMap((reference) => {
      const option = options.get(reference)
      return option ? [{ reference, target: option.target, device: option.device }] : []
    }),
    override: override.enabled === 'Disabled' ? null : { target: override.target, enabled: override.enabled },
    media: (['cdrom', 'floppy', 'disk'] as const).flatMap((device) => {
      const image = firmware.inserted(device)
      return image === undefined ? [] : [{ device, image: maskedText(image) }]
    }),
    versions: firmware.versions().map(({ component, version }) => ({ component, version: version ?? '' })),
  }
}
