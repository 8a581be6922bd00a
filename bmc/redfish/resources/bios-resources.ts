import { defined } from '../../../base/runtime/index.js'
import type { FirmwareAttribute, FirmwareValue } from '../../../machine/index.js'
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
import { ofMachine, type MachineCall, type RedfishResource } from '../protocol/resource.js'

/** Id of the attribute registry of a machine's BIOS. All machines have the same attributes. */
export const BIOS_REGISTRY = 'BiosAttributeRegistry.v1_0_0'

/** When settings take effect. */
const APPLY_TIMES = ['OnReset']

const values = (attributes: readonly FirmwareAttribute[]): Record<string, FirmwareValue> =>
  Object.fromEntries(attributes.map(({ name, value }) => [name, value]))

function biosOf({ machine: { spec, firmware } }: MachineCall): RedfishDocument {
  const path = ['Systems', spec.id, 'Bios']
  return {
    ...resourceHead('Bios', path, 'BIOS settings'),
    AttributeRegistry: BIOS_REGISTRY,
    Attributes: values(firmware.report().bios),
    '@Redfish.Settings': {
      '@odata.type': '#Settings.v1_3_5.Settings',
      SettingsObject: referenceTo(...path, 'Settings'),
      SupportedApplyTimes: APPLY_TIMES,
      Messages: [],
    },
    Links: { ActiveSoftwareImage: referenceTo('UpdateService', 'FirmwareInventory', `${spec.id}-bios`) },
    Actions: {
      '#Bios.ResetBios': { target: redfishPath(...path, 'Actions', 'Bios.ResetBios') },
    },
  }
}

/** The settings for the next boot: what waits for it, or else what holds now. */
function settingsOf({ machine }: MachineCall): RedfishDocument {
  const { spec, firmware } = machine
  const { pendingBios } = firmware
  return {
    ...resourceHead('Bios', ['Systems', spec.id, 'Bios', 'Settings'], 'BIOS settings for the next boot'),
    AttributeRegistry: BIOS_REGISTRY,
    Attributes: { ...pendingBios },
    '@Redfish.SettingsApplyTime': {
      '@odata.type': '#Settings.v1_3_5.PreferredApplyTime',
      ApplyTime: APPLY_TIMES[0],
      'ApplyTime@Redfish.AllowableValues': APPLY_TIMES,
    },
  }
}

/** @throws Refusal 400 that names each attribute that the firmware lacks or that cannot have its value */
async function patchBios({ machine, body }: MachineCall): Promise<void> {
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
  await machine.firmware.setBios((body['Attributes'] ?? {}) as Record<string, FirmwareValue>)
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
export function attributeRegistry(attributes: readonly FirmwareAttribute[]): RedfishDocument {
  return {
    '@odata.type': odataTypeOf('AttributeRegistry'),
    Id: BIOS_REGISTRY,
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
    post: ({ machine, body }) => {
      checkAction('Bios.ResetBios', body, {})
      return machine.firmware.resetBios()
    },
  }),
]

/** BIOS settings; sushy-tools writes the path in capitals. */
export const BIOS_RESOURCES: readonly RedfishResource[] = [...of('Bios'), ...of('BIOS')]
