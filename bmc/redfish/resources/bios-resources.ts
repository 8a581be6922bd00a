import { defined } from '../../../base/runtime/index.js'
import type { BmcLogPoint, FirmwareAttribute, FirmwareValue } from '../../../machine/index.js'
import type { BmcDialect } from '../../dialects/index.js'
import {
  boolCheck,
  checkAction,
  checkPatch,
  integerCheck,
  objectCheck,
  choiceCheck,
  textCheck,
  type PropertyCheck,
} from '../protocol/value-checks.js'
import {
  resourceHead,
  referenceTo,
  redfishPath,
  odataTypeOf,
  type RedfishDocument,
} from '../protocol/redfish-document.js'
import { messageRefusal } from '../protocol/redfish-refusal.js'
import { ofMachine, type MachineCall, type RedfishOutcome, type RedfishResource } from '../protocol/resource.js'

/** When settings take effect. */
const APPLY_TIMES = ['OnReset']

const values = (attributes: readonly FirmwareAttribute[]): Record<string, FirmwareValue> =>
  Object.fromEntries(attributes.map(({ name, value }) => [name, value]))

function biosOf({ machine: { spec, firmware }, spoken }: MachineCall): RedfishDocument {
  const { bios } = spoken.dialect
  const path = ['Systems', spec.id, 'Bios']
  return {
    ...resourceHead('Bios', path, 'BIOS settings'),
    ...defined({ AttributeRegistry: bios.registry ?? undefined }),
    Attributes: values(firmware.report().bios),
    '@Redfish.Settings': {
      '@odata.type': '#Settings.v1_3_5.Settings',
      SettingsObject: referenceTo(...path, 'Settings'),
      ...defined({ SupportedApplyTimes: bios.applyTime === 'refused' ? undefined : APPLY_TIMES }),
      Messages: [],
    },
    Links: { ActiveSoftwareImage: referenceTo('UpdateService', 'FirmwareInventory', `${spec.id}-bios`) },
    Actions: {
      '#Bios.ResetBios': { target: redfishPath(...path, 'Actions', 'Bios.ResetBios') },
    },
  }
}

/** The settings for the next boot: what waits for it, or else what holds now. */
function settingsOf({ machine, spoken }: MachineCall): RedfishDocument {
  const { spec } = machine
  const { bios } = spoken.dialect
  const applyTime = {
    '@odata.type': '#Settings.v1_3_5.PreferredApplyTime',
    ApplyTime: APPLY_TIMES[0],
    'ApplyTime@Redfish.AllowableValues': APPLY_TIMES,
  }
  return {
    ...resourceHead('Bios', ['Systems', spec.id, 'Bios', 'Settings'], 'BIOS settings for the next boot'),
    ...defined({
      AttributeRegistry: bios.registry ?? undefined,
      Attributes: waitingSettings(machine, bios),
      '@Redfish.SettingsApplyTime': bios.applyTime === 'refused' ? undefined : applyTime,
    }),
  }
}

/** The attributes of the settings object; undefined for a BMC that shows none while nothing waits. */
function waitingSettings(
  { firmware }: MachineCall['machine'],
  { pending }: BmcDialect['bios'],
): Record<string, FirmwareValue> | undefined {
  const waiting = { ...firmware.stagedBios, ...firmware.pendingBios }
  switch (pending) {
    case 'changes':
      return waiting
    case 'all':
      return { ...values(firmware.report().bios), ...waiting }
    case 'omitted':
      return Object.keys(waiting).length === 0 ? undefined : waiting
  }
}

/** @throws Refusal 400 that names each attribute that the firmware lacks or that cannot have its value */
async function patchBios(call: MachineCall): Promise<RedfishOutcome | void> {
  const { machine, body, spoken } = call
  const { applyTime } = spoken.dialect.bios
  const { bios } = machine.firmware.report()
  const fields = Object.fromEntries(bios.filter(({ readOnly }) => !readOnly).map((each) => [each.name, checkOf(each)]))
  checkPatch(
    body,
    {
      Attributes: objectCheck(fields, values(bios)),
      '@Redfish.SettingsApplyTime': objectCheck({ ApplyTime: choiceCheck(APPLY_TIMES) }),
    },
    { AttributeRegistry: '' },
  )
  const isTimed = body['@Redfish.SettingsApplyTime'] !== undefined
  if (isTimed && applyTime === 'refused')
    throw messageRefusal(400, 'PropertyUnknown', ['@Redfish.SettingsApplyTime'], {
      property: '@Redfish.SettingsApplyTime',
      resolution: 'Leave it out: settings are applied by the next boot.',
    })
  const wanted = (body['Attributes'] ?? {}) as Record<string, FirmwareValue>
  // An iDRAC makes no job of settings without a time, and applies them never (dell/iDRAC-Redfish-Scripting#84).
  if (applyTime === 'required' && !isTimed) return machine.firmware.stageBios(wanted)
  await machine.firmware.setBios(wanted)
  return applyTime === 'required' ? biosJob(call) : undefined
}

/** The job of settings with a time, which ends when a boot has applied them. */
function biosJob({ machine, service }: MachineCall): RedfishOutcome {
  const task = service.tasks.start('BIOS Configuration', machine, 0, () => biosApplied(service, machine.spec.id))
  return { status: 202, headers: { location: redfishPath('TaskService', 'Tasks', task.id) } }
}

/** Resolves when the settings that wait have been applied, or the service ends. */
function biosApplied({ probe, closing }: MachineCall['service'], machine: string): Promise<void> {
  return new Promise((resolve) => {
    const attached = probe.attach<BmcLogPoint>(
      (point, next) => {
        if (point.machine === machine && point.entry.kind === 'bios applied') finish()
        return next()
      },
      ['bmc log'],
    )
    const finish = (): void => {
      attached[Symbol.dispose]()
      closing.removeEventListener('abort', finish)
      resolve()
    }
    closing.addEventListener('abort', finish)
  })
}

function checkOf({ type, allowed, lower, upper, shortest, longest }: FirmwareAttribute): PropertyCheck {
  switch (type) {
    case 'Enumeration':
      return choiceCheck(allowed)
    case 'Boolean':
      return boolCheck
    case 'Integer':
      return integerCheck(lower!, upper!)
    case 'String':
      return textCheck({ least: shortest!, most: longest! })
  }
}

/** The attribute registry of a machine's BIOS. */
export function attributeRegistry(id: string, attributes: readonly FirmwareAttribute[]): RedfishDocument {
  return {
    '@odata.type': odataTypeOf('AttributeRegistry'),
    Id: id,
    Name: 'BIOS Attribute Registry',
    Language: 'en',
    OwningEntity: 'ironstage',
    RegistryVersion: '1.0.0',
    RegistryEntries: {
      Attributes: attributes.map(({ name, type, value, allowed, ...rest }) => ({
        AttributeName: name,
        DisplayName: name,
        Type: type,
        ...defined({
          DefaultValue: rest.unique ? undefined : value,
          Value:
            type === 'Enumeration' ? allowed.map((each) => ({ ValueName: each, ValueDisplayName: each })) : undefined,
          LowerBound: rest.lower ?? undefined,
          UpperBound: rest.upper ?? undefined,
          MinLength: rest.shortest ?? undefined,
          MaxLength: rest.longest ?? undefined,
        }),
        ReadOnly: rest.readOnly,
        ResetRequired: rest.resetRequired,
        IsSystemUniqueProperty: rest.unique,
      })),
    },
  }
}

const of = (name: 'Bios' | 'BIOS'): RedfishResource[] => [
  ofMachine(`/Systems/{machine}/${name}`, { reads: 'read firmware', get: biosOf }),
  ofMachine(`/Systems/{machine}/${name}/Settings`, {
    reads: 'read firmware',
    changes: 'change firmware',
    get: settingsOf,
    patch: patchBios,
    put: patchBios,
  }),
  ofMachine(`/Systems/{machine}/${name}/Actions/Bios.ResetBios`, {
    reads: 'change firmware',
    post: ({ machine, body, spoken, request }) => {
      checkAction('Bios.ResetBios', body, {})
      if (spoken.dialect.bios.resetBody === 'required' && (request.body ?? '').trim() === '')
        throw messageRefusal(400, 'UnrecognizedRequestBody', [], { resolution: 'Send {}.' })
      return machine.firmware.resetBios()
    },
  }),
]

/** BIOS settings; sushy-tools writes the path in capitals. */
export const BIOS_RESOURCES: readonly RedfishResource[] = [...of('Bios'), ...of('BIOS')]
