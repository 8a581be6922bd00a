import { defined } from '../../base/runtime/index.js'
import type { Machine } from '../../machine/index.js'
import { maskedText, type BootReport, type MachineReport } from '../../control/index.js'

/** A machine as it is now. */
export async function machineReport(machine: Machine): Promise<MachineReport> {
  const { spec } = machine
  const { firmware, architecture, cpus, memoryMib, manufacturer, product, serial, hostname } = spec
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
      spec.disks.map(async ({ backing: _backing, image: _image, ...disk }) => ({
        ...disk,
        file: (await machine.diskFile(disk.name)) ?? null,
      })),
    ),
    takenOut: machine.takenOut.map(({ name, size, serial, wwn }) => ({ name, size, serial, wwn })),
    nics: spec.nics,
    hardware: {
      firmware,
      architecture,
      cpus,
      memoryMib,
      manufacturer,
      product,
      serial,
      ...defined({ hostname }),
    },
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
