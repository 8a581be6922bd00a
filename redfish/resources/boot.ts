import { defined } from '../../runtime/index.js'
import {
  BOOT_OVERRIDES,
  type BootOption,
  type BootOverride,
  type BootTarget,
  type Machine,
} from '../../machine/index.js'
import { listOf, nullable, object, oneOf, text, url, type Check } from '../protocol/checks.js'
import { collection, head, link, type Document } from '../protocol/document.js'
import { message } from '../protocol/messages.js'
import { Refusal } from '../protocol/refusal.js'
import { ofMachine, type MachineCall, type Resource } from '../protocol/resource.js'

const TARGETS: readonly BootTarget[] = [
  ...(['None', 'Pxe', 'Floppy', 'Cd', 'Usb', 'Hdd', 'BiosSetup', 'Diags', 'UefiTarget', 'UefiHttp'] as const),
]
const MODES = { uefi: 'UEFI', bios: 'Legacy' } as const

const FIELDS: Readonly<Record<string, Check>> = {
  BootSourceOverrideTarget: oneOf(TARGETS),
  BootSourceOverrideEnabled: oneOf(BOOT_OVERRIDES),
  BootSourceOverrideMode: oneOf(Object.values(MODES)),
  UefiTargetBootSourceOverride: nullable(text()),
  HttpBootUri: nullable(url),
  BootOrder: listOf(text({ most: 64 })),
}

/** The object `Boot` of a system. */
export function bootOf({ spec, firmware }: Machine): Document {
  const { override, order } = firmware.boot
  return {
    BootSourceOverrideEnabled: override.enabled,
    BootSourceOverrideTarget: override.target,
    'BootSourceOverrideTarget@Redfish.AllowableValues': TARGETS,
    BootSourceOverrideMode: MODES[firmware.bootMode],
    'BootSourceOverrideMode@Redfish.AllowableValues': Object.values(MODES),
    UefiTargetBootSourceOverride: override.uefiTarget,
    HttpBootUri: override.httpBootUri,
    BootOptions: link('Systems', spec.id, 'BootOptions'),
    BootOrder: order,
  }
}

/** Checks `Boot` of a PATCH. */
export const boot = (machine: Machine): Check => object(FIELDS, bootOf(machine))

/**
 * Changes the override and the boot order.
 *
 * @throws Refusal 400 for values that do not go together; then nothing is changed
 */
export async function changeBoot({ firmware }: Machine, wanted: Document): Promise<void> {
  const {
    BootSourceOverrideTarget: target,
    BootSourceOverrideEnabled: enabled,
    BootSourceOverrideMode: mode,
    UefiTargetBootSourceOverride: uefiTarget,
    HttpBootUri: httpBootUri,
    BootOrder: order,
  } = wanted as Partial<Record<string, string | null>> & { BootOrder?: string[] }
  const change: Partial<BootOverride> = defined({
    target: target === undefined ? undefined : (target as BootTarget),
    enabled: enabled === undefined ? undefined : (enabled as BootOverride['enabled']),
    uefiTarget,
    httpBootUri,
  })
  const next = { ...firmware.boot.override, ...change }
  const bootMode = mode === undefined ? firmware.bootMode : mode === 'UEFI' ? 'uefi' : 'bios'
  const conflicts = (property: string, other: string, resolution: string) =>
    new Refusal(400, [
      message('PropertyValueConflict', [property, other], { property: `Boot/${property}`, resolution }),
    ])
  if (target !== undefined && next.target.startsWith('Uefi') && bootMode === 'bios')
    throw conflicts('BootSourceOverrideTarget', 'BootSourceOverrideMode', 'Set BootSourceOverrideMode to UEFI with it.')
  const isNamed = target !== undefined || uefiTarget !== undefined
  if (isNamed && next.target === 'UefiTarget' && next.uefiTarget === null)
    throw conflicts('BootSourceOverrideTarget', 'UefiTargetBootSourceOverride', 'Name the device to boot with it.')
  const options = firmware.boot.options(bootMode)
  if (typeof uefiTarget === 'string') checkTarget(uefiTarget, options)
  if (order) checkOrder(order, options)
  if (order) await firmware.boot.setOrder(order)
  if (bootMode !== firmware.bootMode) await firmware.setBootMode(bootMode)
  if (Object.keys(change).length > 0) await firmware.boot.setOverride(change)
}

function checkTarget(uefiTarget: string, options: readonly BootOption[]): void {
  if (options.some(({ reference, path }) => [reference, path].includes(uefiTarget))) return
  const property = 'Boot/UefiTargetBootSourceOverride'
  const resolution = `Name a boot option: ${options.map(({ reference }) => reference).join(', ')}.`
  throw new Refusal(400, [message('PropertyValueNotInList', [uefiTarget, property], { property, resolution })])
}

function checkOrder(order: readonly string[], options: readonly BootOption[]): void {
  const known = options.map(({ reference }) => reference)
  const about = { property: 'Boot/BootOrder', resolution: `Name boot options, each once: ${known.join(', ')}.` }
  // No firmware boots by an empty order.
  if (order.length === 0) throw new Refusal(400, [message('PropertyValueError', ['Boot/BootOrder'], about)])
  const wrong = order.find((reference, index) => !known.includes(reference) || order.indexOf(reference) !== index)
  if (wrong !== undefined) throw new Refusal(400, [message('PropertyValueNotInList', [wrong, 'Boot/BootOrder'], about)])
}

const path = ({ spec }: Machine, ...more: string[]): string[] => ['Systems', spec.id, 'BootOptions', ...more]

/** The boot options of a system. */
export const BOOT_RESOURCES: readonly Resource[] = [
  ofMachine('/Systems/{machine}/BootOptions', {
    reads: 'read boot',
    get: ({ machine }) =>
      collection(
        'BootOptionCollection',
        path(machine),
        'Boot Options',
        machine.firmware.boot.options().map(({ reference }) => link(...path(machine, reference))),
      ),
  }),
  ofMachine('/Systems/{machine}/BootOptions/{option}', { reads: 'read boot', get: bootOption }),
]

function bootOption({ machine, params }: MachineCall): Document | undefined {
  const found = machine.firmware.boot.options().find(({ reference }) => reference === params['option'])
  if (!found) return undefined
  const { reference, name, target, path: devicePath } = found
  return {
    ...head('BootOption', path(machine, reference), name),
    DisplayName: name,
    BootOptionReference: reference,
    BootOptionEnabled: true,
    UefiDevicePath: devicePath,
    Alias: target,
  }
}
