import { defined } from '../../runtime/index.js'
import type { BiosAttribute, BiosValue } from '../../machine/index.js'
import { bool, checkAction, checkPatch, integer, object, oneOf, text, type Check } from '../protocol/checks.js'
import { head, link, pathOf, typeOf, type Document } from '../protocol/document.js'
import { ofMachine, type MachineCall, type Resource } from '../protocol/resource.js'

/** Id of the attribute registry of a machine's BIOS. All machines have the same attributes. */
export const BIOS_REGISTRY = 'BiosAttributeRegistry.v1_0_0'

/** When settings take effect. */
const APPLY_TIMES = ['OnReset']

const values = (attributes: readonly BiosAttribute[]): Record<string, BiosValue> =>
  Object.fromEntries(attributes.map(({ name, value }) => [name, value]))

function biosOf({ machine: { spec, firmware } }: MachineCall): Document {
  const path = ['Systems', spec.id, 'Bios']
  return {
    ...head('Bios', path, 'BIOS settings'),
    AttributeRegistry: BIOS_REGISTRY,
    Attributes: values(firmware.report().bios),
    '@Redfish.Settings': {
      '@odata.type': '#Settings.v1_3_5.Settings',
      SettingsObject: link(...path, 'Settings'),
      SupportedApplyTimes: APPLY_TIMES,
      Messages: [],
    },
    Links: { ActiveSoftwareImage: link('UpdateService', 'FirmwareInventory', `${spec.id}-bios`) },
    Actions: {
      '#Bios.ResetBios': { target: pathOf(...path, 'Actions', 'Bios.ResetBios') },
    },
  }
}

/** The settings for the next boot: what waits for it, or else what holds now. */
function settingsOf({ machine }: MachineCall): Document {
  const { spec, firmware } = machine
  const { pendingBios } = firmware
  return {
    ...head('Bios', ['Systems', spec.id, 'Bios', 'Settings'], 'BIOS settings for the next boot'),
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
async function change({ machine, body }: MachineCall): Promise<void> {
  const { bios } = machine.firmware.report()
  const fields = Object.fromEntries(bios.filter(({ readOnly }) => !readOnly).map((each) => [each.name, checkOf(each)]))
  checkPatch(
    body,
    {
      Attributes: object(fields, values(bios)),
      '@Redfish.SettingsApplyTime': object({ ApplyTime: oneOf(APPLY_TIMES) }),
    },
    { AttributeRegistry: '' },
  )
  await machine.firmware.setBios((body['Attributes'] ?? {}) as Record<string, BiosValue>)
}

function checkOf({ type, allowed, lower, upper, shortest, longest }: BiosAttribute): Check {
  switch (type) {
    case 'Enumeration':
      return oneOf(allowed)
    case 'Boolean':
      return bool
    case 'Integer':
      return integer(lower!, upper!)
    case 'String':
      return text({ least: shortest!, most: longest! })
  }
}

/** The attribute registry of a machine's BIOS. */
export function attributeRegistry(attributes: readonly BiosAttribute[]): Document {
  return {
    '@odata.type': typeOf('AttributeRegistry'),
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

const of = (name: 'Bios' | 'BIOS'): Resource[] => [
  ofMachine(`/Systems/{machine}/${name}`, { reads: 'read firmware', get: biosOf }),
  ofMachine(`/Systems/{machine}/${name}/Settings`, {
    reads: 'read firmware',
    changes: 'change firmware',
    get: settingsOf,
    patch: change,
    put: change,
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
export const BIOS_RESOURCES: readonly Resource[] = [...of('Bios'), ...of('BIOS')]
