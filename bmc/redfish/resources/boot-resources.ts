import { defined } from '../../../base/runtime/index.js'
import type { BmcDialect, DialectBoot } from '../../dialects/index.js'
import type { BootOption, BootOverride, Machine } from '../../../machine/index.js'
import { situationRefusal } from '../dialects/situation-refusal.js'
import {
  boolCheck,
  checkPatch,
  listCheck,
  nullableCheck,
  objectCheck,
  choiceCheck,
  textCheck,
  urlCheck,
  type PropertyCheck,
} from '../protocol/value-checks.js'
import {
  makeCollection,
  redfishPath,
  resourceHead,
  referenceTo,
  type RedfishDocument,
} from '../protocol/redfish-document.js'
import { baseMessage } from '../protocol/redfish-messages.js'
import { messageRefusal, Refusal } from '../protocol/redfish-refusal.js'
import { ofMachine, type MachineCall, type RedfishResource } from '../protocol/resource.js'

const MODES = { uefi: 'UEFI', bios: 'Legacy' } as const

/** Resource whose `Boot` is meant: the system, or its settings object. */
type BootPlace = 'system' | 'settings'

/** Properties that change the override. */
const OVERRIDE_PROPERTIES = ['BootSourceOverrideTarget', 'BootSourceOverrideEnabled', 'BootSourceOverrideMode']

const changesOverride = ({ at }: DialectBoot, place: BootPlace): boolean => at === 'both' || at === place

const bootFields = ({ targets, enabled, mode }: DialectBoot): Readonly<Record<string, PropertyCheck>> => ({
  BootSourceOverrideTarget: choiceCheck(Object.keys(targets)),
  BootSourceOverrideEnabled: choiceCheck(enabled),
  ...defined({
    BootSourceOverrideMode: ['writable', 'null'].includes(mode) ? choiceCheck(Object.values(MODES)) : undefined,
  }),
  UefiTargetBootSourceOverride: nullableCheck(textCheck()),
  HttpBootUri: nullableCheck(urlCheck),
})

/** The object `Boot` of a system, or of its settings object. */
export function bootOf({ spec, firmware }: Machine, { boot }: BmcDialect, place: BootPlace): RedfishDocument {
  const { order } = firmware.boot
  if (place === 'settings' && boot.settingsHold === 'order') return { BootOrder: order }
  return {
    ...overrideOf(firmware, boot, place),
    BootOptions: referenceTo('Systems', spec.id, 'BootOptions'),
    BootOrder: order,
  }
}

function overrideOf(firmware: Machine['firmware'], boot: DialectBoot, place: BootPlace): RedfishDocument {
  const { override } = firmware.boot
  const listsTargets = boot.targetsAt === place || (boot.at === 'both' && boot.targetsAt !== 'nowhere')
  const mode = MODES[firmware.bootMode]
  return defined({
    BootSourceOverrideEnabled: override.enabled,
    'BootSourceOverrideEnabled@Redfish.AllowableValues': boot.showsEnabledValues ? boot.enabled : undefined,
    BootSourceOverrideTarget: shownTarget(override, boot),
    'BootSourceOverrideTarget@Redfish.AllowableValues': listsTargets ? Object.keys(boot.targets) : undefined,
    BootSourceOverrideMode: boot.mode === 'absent' ? undefined : boot.mode === 'null' ? null : mode,
    'BootSourceOverrideMode@Redfish.AllowableValues': boot.mode === 'writable' ? Object.values(MODES) : undefined,
    UefiTargetBootSourceOverride: override.uefiTarget,
    HttpBootUri: override.httpBootUri,
  })
}

/** The BMC's name of a target: the one that was written, or else the first of its device. */
function shownTarget({ target, name }: BootOverride, { targets }: DialectBoot): string {
  if (name !== undefined && Object.hasOwn(targets, name) && targets[name] === target) return name
  if (Object.hasOwn(targets, target) && targets[target] === target) return target
  return Object.entries(targets).find(([, device]) => device === target)?.[0] ?? target
}

/** Checks `Boot` of a PATCH. */
export function bootCheck({ machine, spoken }: MachineCall, place: BootPlace): PropertyCheck {
  const { dialect } = spoken
  const current = bootOf(machine, dialect, place)
  // The boot options of a dump are those of another machine's firmware: their order means nothing here.
  const order = dialect.dump === null ? { BootOrder: listCheck(textCheck({ most: 64 })) } : {}
  if (!changesOverride(dialect.boot, place)) {
    // The settings object of some holds the order alone; the system beside one that changes the override, nothing.
    return objectCheck(dialect.boot.at === 'system' ? order : {}, current)
  }
  return objectCheck({ ...bootFields(dialect.boot), ...order }, current)
}

/**
 * Changes the override and the boot order.
 *
 * @throws Refusal 400 for values that do not go together; then nothing is changed
 */
export async function changeBoot(call: MachineCall, wanted: RedfishDocument): Promise<void> {
  const { machine, spoken } = call
  const { firmware } = machine
  const { boot } = spoken.dialect
  checkChange(call, wanted)
  const {
    BootSourceOverrideTarget: named,
    BootSourceOverrideEnabled: enabled = named === undefined || boot.enabledDefault === 'kept' ? undefined : 'Once',
    BootSourceOverrideMode: mode,
    UefiTargetBootSourceOverride: uefiTarget,
    HttpBootUri: httpBootUri,
    BootOrder: order,
  } = wanted as Partial<Record<string, string | null>> & { BootOrder?: string[] }
  const target = named == null ? undefined : boot.targets[named]
  const change: Partial<BootOverride> = defined({
    target,
    name: named == null || named === target ? undefined : named,
    enabled: enabled === undefined ? undefined : (enabled as BootOverride['enabled']),
    uefiTarget,
    httpBootUri,
  })
  const next = { ...firmware.boot.override, ...change }
  const fallsBack = target !== undefined && !target.startsWith('Uefi') && target !== 'None'
  const written = mode ?? (fallsBack && boot.modeDefault === 'Legacy' ? 'Legacy' : undefined)
  const bootMode = written === undefined ? firmware.bootMode : written === 'UEFI' ? 'uefi' : 'bios'
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

/** @throws Refusal 400 for a change that this BMC does not make so, or not now */
function checkChange({ machine, spoken }: MachineCall, wanted: RedfishDocument): void {
  const { boot } = spoken.dialect
  const about = (property: string, resolution: string) => ({ property: `Boot/${property}`, resolution })
  const sent = OVERRIDE_PROPERTIES.filter((name) => wanted[name] !== undefined)
  const [first] = sent
  if (first === undefined) return
  const isAtWork = machine.power() === 'on' && machine.boot() === undefined
  if (boot.duringPost === 'refused' && isAtWork)
    throw situationRefusal(spoken, 'duringPost', 400, 'PropertyValueError', [first], {
      ...about(first, 'Try again after the power-on self-test.'),
    })
  const missing = boot.together.filter((name) => wanted[name] === undefined)
  if (missing.length > 0)
    throw new Refusal(
      400,
      missing.map((name) => baseMessage('PropertyMissing', [name], about(name, `Send it with ${sent.join(', ')}.`))),
    )
  const { BootSourceOverrideTarget: named } = wanted
  if (boot.withoutEnabled.some((target) => target === named) && wanted['BootSourceOverrideEnabled'] !== undefined)
    throw messageRefusal(
      400,
      'PropertyValueConflict',
      ['BootSourceOverrideEnabled', 'BootSourceOverrideTarget'],
      about('BootSourceOverrideEnabled', 'Leave it out with this target.'),
    )
  const { enabled } = machine.firmware.boot.override
  if (boot.refusesUnchangedEnabled && wanted['BootSourceOverrideEnabled'] === enabled)
    throw messageRefusal(
      400,
      'PropertyValueConflict',
      ['BootSourceOverrideEnabled', 'BootSourceOverrideEnabled'],
      about('BootSourceOverrideEnabled', `Leave it out: it is ${enabled} already.`),
    )
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

/** The link to a system's settings object, where its BMC has one. */
export function settingsLink({ spec }: Machine, { boot }: BmcDialect): RedfishDocument {
  if (boot.settings === null) return {}
  return {
    '@Redfish.Settings': {
      '@odata.type': '#Settings.v1_3_5.Settings',
      SettingsObject: referenceTo('Systems', spec.id, 'Settings'),
    },
  }
}

function systemSettingsOf({ machine, spoken }: MachineCall): RedfishDocument {
  return {
    ...resourceHead('ComputerSystem', ['Systems', machine.spec.id, 'Settings'], 'Pending settings of the system'),
    Boot: bootOf(machine, spoken.dialect, 'settings'),
  }
}

/** The override as a Fujitsu has it beside `Boot` (terraform-provider-irmc-redfish resource_boot_source_override.go). */
function bootConfigOf({ machine, spoken }: MachineCall): RedfishDocument {
  const { config } = spoken.dialect.boot
  const { override } = machine.firmware.boot
  return {
    '@odata.id': redfishPath('Systems', machine.spec.id, 'Oem', config ?? '', 'BootConfig'),
    // Its schema is the maker's: no report has the type.
    Id: 'BootConfig',
    Name: 'Boot configuration',
    BootDevice: override.enabled === 'Disabled' ? 'None' : shownTarget(override, spoken.dialect.boot),
    BootType: MODES[machine.firmware.bootMode],
    NextBootOnlyEnabled: override.enabled !== 'Continuous',
  }
}

/** Fujitsu's own script sends these as texts. */
const flagCheck: PropertyCheck = (value, path) => (value === 'true' || value === 'false' ? [] : boolCheck(value, path))

async function changeBootConfig(call: MachineCall): Promise<void> {
  const { body, machine, spoken, request } = call
  const { boot, etags } = spoken.dialect
  if (request.headers['if-match'] === undefined) throw messageRefusal(etags.withoutStatus, 'PreconditionRequired')
  const fields = {
    BootDevice: choiceCheck(Object.keys(boot.targets)),
    BootType: choiceCheck(Object.values(MODES)),
    NextBootOnlyEnabled: flagCheck,
  }
  checkPatch(body, fields, bootConfigOf(call))
  const { override } = machine.firmware.boot
  const device = (body['BootDevice'] as string | undefined) ?? shownTarget(override, boot)
  const { NextBootOnlyEnabled: next = override.enabled !== 'Continuous', BootType: mode } = body
  const isOnce = String(next) === 'true'
  const enabled = device === 'None' ? 'Disabled' : isOnce ? 'Once' : 'Continuous'
  await changeBoot(call, {
    BootSourceOverrideTarget: device,
    BootSourceOverrideEnabled: enabled,
    ...defined({ BootSourceOverrideMode: mode }),
  })
}

/** The boot options of a system, and its settings object. */
export const BOOT_RESOURCES: readonly RedfishResource[] = [
  ofMachine('/Systems/{machine}/Settings', {
    reads: 'read boot',
    changes: 'set boot',
    offers: ({ spoken }) => spoken.dialect.boot.settings !== null,
    get: systemSettingsOf,
    patch: async (call) => {
      checkPatch(call.body, { Boot: bootCheck(call, 'settings') }, systemSettingsOf(call))
      await changeBoot(call, call.body['Boot'] as RedfishDocument)
    },
  }),
  ofMachine('/Systems/{machine}/Oem/{maker}/BootConfig', {
    reads: 'read boot',
    changes: 'set boot',
    offers: ({ spoken, params }) => spoken.dialect.boot.config === params['maker'],
    get: bootConfigOf,
    patch: changeBootConfig,
  }),
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
