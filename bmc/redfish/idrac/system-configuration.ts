import { XMLParser, XMLValidator } from 'fast-xml-parser'
import type { FirmwareValue, BootTarget, Machine } from '../../../machine/index.js'
import { checkAction, anyObject, choiceCheck, textCheck, anythingCheck } from '../protocol/value-checks.js'
import { redfishPath, type RedfishDocument } from '../protocol/redfish-document.js'
import { messageRefusal } from '../protocol/redfish-refusal.js'
import { acceptedTask } from '../resources/task-resources.js'
import { ofIdrac } from './idrac-service.js'
import type { MachineCall, RedfishOutcome, RedfishResource } from '../protocol/resource.js'

/**
 * Import and export of a system configuration profile, by which iDRACs boot virtual media once (sushy/oem/dell
 * manager.py, `set_virtual_boot_device`) and tell which NICs boot (`get_pxe_port_macs_bios`).
 */

const IMPORT = 'OemManager.ImportSystemConfiguration'
const EXPORT = 'OemManager.ExportSystemConfiguration'

const EXPORT_TARGETS = ['ALL', 'BIOS', 'IDRAC', 'NIC']
const EXPORT_FORMATS = ['JSON']
const USES = ['Default', 'Clone', 'Replace']
const INCLUDED = ['Default', 'IncludeReadOnly', 'IncludePasswordHashValues']
const SHUTDOWNS = ['Graceful', 'Forced', 'NoReboot']

/** The actions of a manager, under the names that iDRACs write before the sign. */
export function configurationActions(machine: Machine): RedfishDocument {
  const named = (name: string, values: RedfishDocument) => ({
    [`OemManager.v1_4_0#${name}`]: {
      target: redfishPath('Managers', machine.spec.id, 'Actions', 'Oem', name),
      ...values,
    },
  })
  return {
    ...named(EXPORT, {
      'ExportFormat@Redfish.AllowableValues': EXPORT_FORMATS,
      'ExportUse@Redfish.AllowableValues': USES,
      'IncludeInExport@Redfish.AllowableValues': INCLUDED,
      ShareParameters: { 'Target@Redfish.AllowableValues': EXPORT_TARGETS },
    }),
    ...named(IMPORT, {
      'ImportSystemConfiguration@Redfish.AllowableValues': ['ImportBuffer'],
      'ShutdownType@Redfish.AllowableValues': SHUTDOWNS,
      ShareParameters: { 'Target@Redfish.AllowableValues': EXPORT_TARGETS },
    }),
  }
}

/** Values of `ServerBoot.1#FirstBootDevice`, as targets of a boot override. */
const BOOT_DEVICES: Readonly<Record<string, BootTarget>> = {
  Normal: 'None',
  PXE: 'Pxe',
  HDD: 'Hdd',
  BIOS: 'BiosSetup',
  'VCD-DVD': 'Cd',
  VFDD: 'Floppy',
}

interface Profile {
  /** By the name of the component, `iDRAC.Embedded.1`, its attributes by their names. */
  components: [fqdd: string, attributes: [name: string, value: string][]][]
}

const parser = new XMLParser({
  ignoreAttributes: false,
  attributeNamePrefix: '',
  parseTagValue: false,
  parseAttributeValue: false,
  isArray: (name) => name === 'Component' || name === 'Attribute',
})

/** @throws Refusal 400 for a text that is no profile */
function profileOf(buffer: string): Profile {
  const wrong = (why: string) =>
    messageRefusal(400, 'ActionParameterValueFormatError', [buffer.slice(0, 256), 'ImportBuffer', IMPORT], {
      property: 'ImportBuffer',
      resolution: `Use the XML of a system configuration profile: ${why}.`,
    })
  const valid = XMLValidator.validate(buffer)
  if (valid !== true) throw wrong(valid.err.msg)
  type Parsed = { FQDD?: string; Attribute?: (string | { Name?: string; '#text'?: string })[] }
  const { SystemConfiguration } = parser.parse(buffer) as { SystemConfiguration?: { Component?: Parsed[] } | '' }
  if (typeof SystemConfiguration !== 'object') throw wrong('it begins with <SystemConfiguration>')
  return {
    components: (SystemConfiguration.Component ?? []).map(({ FQDD, Attribute = [] }) => {
      if (FQDD === undefined) throw wrong('each <Component> has an FQDD')
      return [
        FQDD,
        Attribute.map((each) => {
          if (typeof each === 'string' || each.Name === undefined) throw wrong('each <Attribute> has a Name')
          return [each.Name, each['#text'] ?? '']
        }),
      ]
    }),
  }
}

/** @throws Error that names what the machine has not; then nothing is changed */
async function applyProfile({ firmware }: Machine, { components }: Profile): Promise<void> {
  const bios: Record<string, FirmwareValue> = {}
  const boot: Record<string, string> = {}
  for (const [fqdd, attributes] of components)
    for (const [name, value] of attributes) {
      if (fqdd.startsWith('BIOS.')) bios[name] = parseBiosText(firmware, name, value)
      else if (/^ServerBoot\.1#(BootOnce|FirstBootDevice)$/.test(name)) boot[name.slice('ServerBoot.1#'.length)] = value
      else throw new Error(`the component ${fqdd} has no attribute ${name} that can be imported`)
    }
  const { FirstBootDevice: device, BootOnce: once } = boot
  if (device !== undefined && !Object.hasOwn(BOOT_DEVICES, device))
    throw new Error(
      `ServerBoot.1#FirstBootDevice cannot be ${device}: it is one of ${Object.keys(BOOT_DEVICES).join(', ')}`,
    )
  if (Object.keys(bios).length > 0) await firmware.setBios(bios)
  if (device === undefined && once === undefined) return
  const target = device === undefined ? firmware.boot.override.target : BOOT_DEVICES[device]!
  const enabled = target === 'None' ? 'Disabled' : once === 'Disabled' ? 'Continuous' : 'Once'
  await firmware.boot.setOverride({ target, enabled })
}

/** A profile holds texts; numbers and truths are those of the setting. */
function parseBiosText(firmware: Machine['firmware'], name: string, value: string): FirmwareValue {
  const known = firmware.report().bios.find((each) => each.name === name)
  if (known?.type === 'Integer') return Number(value)
  return known?.type === 'Boolean' ? value.toLowerCase() === 'true' : value
}

function importProfile(call: MachineCall): RedfishOutcome {
  const { machine, body, service } = call
  checkAction(
    IMPORT,
    body,
    {
      ImportBuffer: textCheck({ most: 2 ** 20 }),
      ShareParameters: anyObject,
      ShutdownType: choiceCheck(SHUTDOWNS),
      HostPowerState: choiceCheck(['On', 'Off']),
      TimeToWait: anythingCheck,
      ExecutionMode: anythingCheck,
    },
    ['ImportBuffer', 'ShareParameters'],
  )
  const profile = profileOf(body['ImportBuffer'] as string)
  return acceptedTask(
    service.tasks.start('Import Configuration', machine, service.updateTime, async () => {
      if (!call.isLie) await applyProfile(machine, profile)
    }),
  )
}

function exportProfile(call: MachineCall): RedfishOutcome {
  const { machine, body, service } = call
  checkAction(
    EXPORT,
    body,
    {
      ExportFormat: choiceCheck(EXPORT_FORMATS),
      ExportUse: choiceCheck(USES),
      IncludeInExport: anythingCheck,
      ShareParameters: anyObject,
    },
    ['ExportFormat', 'ShareParameters'],
  )
  const asked = (body['ShareParameters'] as RedfishDocument)['Target']
  const wanted: unknown[] = Array.isArray(asked) ? asked : [asked ?? 'ALL']
  const unknown = wanted.find((target) => !EXPORT_TARGETS.includes(String(target)))
  if (unknown !== undefined)
    throw messageRefusal(400, 'ActionParameterValueNotInList', [String(unknown), 'ShareParameters/Target', EXPORT], {
      property: 'ShareParameters/Target',
      resolution: `Use one of ${EXPORT_TARGETS.join(', ')}.`,
    })
  const includes = (target: string) => wanted.includes('ALL') || wanted.includes(target)
  return acceptedTask(
    service.tasks.start('Export Configuration', machine, service.updateTime, async () =>
      profileDocument(machine, includes),
    ),
  )
}

function profileDocument({ spec, firmware }: Machine, includes: (target: string) => boolean): RedfishDocument {
  const attributes = (pairs: readonly (readonly [string, unknown])[]) =>
    pairs.map(([Name, value]) => ({
      Name,
      Value: String(value),
      'Set On Import': 'True',
      Comment: 'Read and Write',
    }))
  const { target, enabled } = firmware.boot.override
  const device = Object.entries(BOOT_DEVICES).find(([, each]) => each === target)?.[0] ?? 'Normal'
  const bios = firmware.report().bios.map(({ name, value }) => [name, value] as const)
  return {
    SystemConfiguration: {
      Model: spec.product,
      ServiceTag: spec.serial,
      Components: [
        ...(includes('BIOS') ? [{ FQDD: 'BIOS.Setup.1-1', Attributes: attributes(bios) }] : []),
        ...(includes('IDRAC')
          ? [
              {
                FQDD: 'iDRAC.Embedded.1',
                Attributes: attributes([
                  ['ServerBoot.1#BootOnce', enabled === 'Continuous' ? 'Disabled' : 'Enabled'],
                  ['ServerBoot.1#FirstBootDevice', device],
                ]),
              },
            ]
          : []),
        ...(includes('NIC')
          ? spec.nics.map(({ name, pxe }) => ({
              FQDD: name,
              Attributes: attributes([['LegacyBootProto', pxe ? 'PXE' : 'NONE']]),
            }))
          : []),
      ],
    },
  }
}

export const SYSTEM_CONFIGURATION_RESOURCES: readonly RedfishResource[] = [
  ofIdrac(`/Managers/{machine}/Actions/Oem/${IMPORT}`, {
    reads: 'change firmware',
    post: importProfile,
    liesItself: true,
  }),
  ofIdrac(`/Managers/{machine}/Actions/Oem/${EXPORT}`, { reads: 'read firmware', post: exportProfile }),
]
