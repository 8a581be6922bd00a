import { settingProblem, type BiosAttribute, type BiosValue, type Machine } from '../../machine/index.js'
import { anyObject, checkAction, checkPatch } from '../protocol/checks.js'
import { head, link, pathOf, typeOf, type Document } from '../protocol/document.js'
import { message } from '../protocol/messages.js'
import { Refusal } from '../protocol/refusal.js'
import { ofMachine, type MachineCall, type Resource } from '../protocol/resource.js'

/** Id of the attribute registry of a machine's BIOS. All machines have the same attributes. */
export const BIOS_REGISTRY = 'BiosAttributeRegistry.v1_0_0'

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
      SupportedApplyTimes: ['OnReset'],
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
      ApplyTime: 'OnReset',
      'ApplyTime@Redfish.AllowableValues': ['OnReset'],
    },
  }
}

/** @throws Refusal 400 that names each attribute that the firmware lacks or that cannot have its value */
async function change({ machine, body }: MachineCall): Promise<void> {
  checkPatch(body, { Attributes: anyObject }, { AttributeRegistry: '' })
  const wanted = body['Attributes'] as Record<string, BiosValue>
  checkAttributes(machine, wanted)
  await machine.firmware.setBios(wanted)
}

function checkAttributes({ firmware }: Machine, wanted: Readonly<Record<string, unknown>>): void {
  const known = new Map(firmware.report().bios.map((each) => [each.name, each]))
  const problems = Object.entries(wanted).flatMap(([name, value]) => {
    const property = `Attributes/${name}`
    const attribute = known.get(name)
    if (!attribute) return message('PropertyUnknown', [name], { property })
    if (attribute.readOnly) return message('PropertyNotWritable', [name], { property })
    const problem = settingProblem(name, value as BiosValue, attribute)
    if (problem === undefined) return []
    return message('PropertyValueNotInList', [String(value), name], { property, resolution: `${problem}.` })
  })
  if (problems.length > 0) throw new Refusal(400, problems)
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
        ...(rest.unique ? {} : { DefaultValue: value }),
        ...(type === 'Enumeration'
          ? { Value: allowed.map((each) => ({ ValueName: each, ValueDisplayName: each })) }
          : {}),
        ...(rest.lower === null ? {} : { LowerBound: rest.lower }),
        ...(rest.upper === null ? {} : { UpperBound: rest.upper }),
        ...(rest.shortest === null ? {} : { MinLength: rest.shortest }),
        ...(rest.longest === null ? {} : { MaxLength: rest.longest }),
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
