import { defined } from '../../../base/runtime/index.js'
import {
  BOOT_OVERRIDES,
  type BootOption,
  type BootOverride,
  type BootTarget,
  type Machine,
} from '../../../machine/index.js'
import {
  listCheck,
  nullableCheck,
  objectCheck,
  choiceCheck,
  textCheck,
  urlCheck,
  type PropertyCheck,
} from '../protocol/value-checks.js'
import { makeCollection, resourceHead, referenceTo, type RedfishDocument } from '../protocol/redfish-document.js'
import { baseMessage } from '../protocol/redfish-messages.js'
import { Refusal } from '../protocol/redfish-refusal.js'
import { ofMachine, type MachineCall, type RedfishResource } from '../protocol/resource.js'

const BOOT_TARGETS: readonly BootTarget[] = [
  ...(['None', 'Pxe', 'Floppy', 'Cd', 'Usb', 'Hdd', 'BiosSetup', 'Diags', 'UefiTarget', 'UefiHttp'] as const),
]
const MODES = { uefi: 'UEFI', bios: 'Legacy' } as const

const BOOT_FIELDS: Readonly<Record<string, PropertyCheck>> = {
  BootSourceOverrideTarget: choiceCheck(BOOT_TARGETS),
  BootSourceOverrideEnabled: choiceCheck(BOOT_OVERRIDES),
  BootSourceOverrideMode: choiceCheck(Object.values(MODES)),
  UefiTargetBootSourceOverride: nullableCheck(textCheck()),
  HttpBootUri: nullableCheck(urlCheck),
  BootOrder: listCheck(textCheck({ most: 64 })),
}

/** The object `Boot` of a system. */
export function bootOf({ spec, firmware }: Machine): RedfishDocument {
  const { override, order } = firmware.boot
  return {
    BootSourceOverrideEnabled: override.enabled,
    BootSourceOverrideTarget: override.target,
    'BootSourceOverrideTarget@Redfish.AllowableValues': BOOT_TARGETS,
    BootSourceOverrideMode: MODES[firmware.bootMode],
    'BootSourceOverrideMode@Redfish.AllowableValues': Object.values(MODES),
    UefiTargetBootSourceOverride: override.uefiTarget,
    HttpBootUri: override.httpBootUri,
    BootOptions: referenceTo('Systems', spec.id, 'BootOptions'),
    BootOrder: order,
  }
}

/** Checks `Boot` of a PATCH. */
export const bootCheck = (machine: Machine): PropertyCheck => objectCheck(BOOT_FIELDS, bootOf(machine))

/**
 * Changes the override and the boot order.
 *
 * @throws Refusal 400 for values that do not go together; then nothing is changed
 */
export async function changeBoot({ firmware }: Machine, wanted: RedfishDocument): Promise<void> {
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
      baseMessage('PropertyValueConflict', [property, other], { property: `Boot/${property}`, resolution }),
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
  throw new Refusal(400, [baseMessage('PropertyValueNotInList', [uefiTarget, property], { property, resolution })])
}

function checkOrder(order: readonly string[], options: readonly BootOption[]): void {
  const known = options.map(({ reference }) => reference)
  const about = { property: 'Boot/BootOrder', resolution: `Name boot options, each once: ${known.join(', ')}.` }
  // No firmware boots by an empty order.
  if (order.length === 0) throw new Refusal(400, [baseMessage('PropertyValueError', ['Boot/BootOrder'], about)])
  const wrong = order.find((reference, index) => !known.includes(reference) || order.indexOf(reference) !== index)
  if (wrong !== undefined)
    throw new Refusal(400, [baseMessage('PropertyValueNotInList', [wrong, 'Boot/BootOrder'], about)])
}

const bootOptionPath = ({ spec }: Machine, ...more: string[]): string[] => ['Systems', spec.id, 'BootOptions', ...more]

/** The boot options of a system. */
export const BOOT_RESOURCES: readonly RedfishResource[] = [
  ofMachine('/Systems/{machine}/BootOptions', {
    reads: 'read boot',
    get: ({ machine }) =>
      makeCollection(
        'BootOptionCollection',
        bootOptionPath(machine),
        'Boot Options',
        machine.firmware.boot.options().map(({ reference }) => referenceTo(...bootOptionPath(machine, reference))),
      ),
  }),
  ofMachine('/Systems/{machine}/BootOptions/{option}', { reads: 'read boot', get: bootOption }),
]

function bootOption({ machine, params }: MachineCall): RedfishDocument | undefined {
  const found = machine.firmware.boot.options().find(({ reference }) => reference === params['option'])
  if (!found) return undefined
  const { reference, name, target, path: devicePath } = found
  return {
    ...resourceHead('BootOption', bootOptionPath(machine, reference), name),
    DisplayName: name,
    BootOptionReference: reference,
    BootOptionEnabled: true,
    UefiDevicePath: devicePath,
    Alias: target,
  }
}
