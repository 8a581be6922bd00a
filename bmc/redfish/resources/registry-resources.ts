import { factoryFirmware, type Machine } from '../../../machine/index.js'
import { BMC_DIALECTS, dialectOf } from '../../dialects/index.js'
import {
  makeCollection,
  resourceHead,
  referenceTo,
  redfishPath,
  odataTypeOf,
  type RedfishDocument,
} from '../protocol/redfish-document.js'
import { BASE_VERSION, baseMessages } from '../protocol/redfish-messages.js'
import { ofService, type RedfishCall, type RedfishResource } from '../protocol/resource.js'
import { attributeRegistry } from './bios-resources.js'
import { EVENT_MESSAGES, EVENT_REGISTRY } from '../events/event-messages.js'

interface Registry {
  id: string
  name: string
  /** Name and version without the patch level, as in `Base.1.22`. */
  registry: string
  contents: () => RedfishDocument | undefined
}

const messageRegistry = (prefix: string, version: string, messages: RedfishDocument): RedfishDocument => ({
  '@odata.type': odataTypeOf('MessageRegistry'),
  Id: `${prefix}.${version}.0`,
  Name: `${prefix} Message Registry`,
  Language: 'en',
  RegistryPrefix: prefix,
  RegistryVersion: `${version}.0`,
  OwningEntity: 'ironstage',
  Messages: messages,
})

function eventMessages(): RedfishDocument {
  const entries = Object.values(EVENT_MESSAGES).map(({ key, severity, sentence }) => {
    const count = sentence.includes('%1') ? 1 : 0
    const types = count === 1 ? { ParamTypes: ['string'] } : {}
    const text = { Description: sentence, Message: sentence, Severity: severity, MessageSeverity: severity }
    return [key, { ...text, NumberOfArgs: count, ...types, Resolution: 'None.' }] as const
  })
  return Object.fromEntries(entries)
}

/** The registries of the BIOS attributes of a caller's machines, each with its first machine: machines of a BMC have the same. */
function biosRegistries({ service, caller }: RedfishCall): ReadonlyMap<string, Machine | undefined> {
  const machines = caller ? service.visible(caller) : []
  const found = new Map<string, Machine | undefined>()
  for (const machine of machines) {
    const { registry } = dialectOf(machine.spec).bios
    if (registry !== null && !found.has(registry)) found.set(registry, machine)
  }
  const { registry } = BMC_DIALECTS.standard.bios
  if (machines.length === 0 && registry !== null) found.set(registry, undefined)
  return found
}

/** A registry of BIOS attributes: a value of one machine alone has no default. */
const biosRegistry = (id: string, machine: Machine | undefined): Registry => ({
  id,
  name: 'BIOS Attribute Registry',
  registry: 'BiosAttributeRegistry.1.0',
  contents: () => machine && attributeRegistry(id, factoryFirmware(machine.spec).report().bios),
})

const registriesOf = (call: RedfishCall): readonly Registry[] => [
  ...REGISTRIES,
  ...[...biosRegistries(call)].map(([id, machine]) => biosRegistry(id, machine)),
]

const REGISTRIES: readonly Registry[] = [
  {
    id: 'Base',
    name: 'Base Message Registry',
    registry: `Base.${BASE_VERSION}`,
    contents: () => messageRegistry('Base', BASE_VERSION, baseMessages()),
  },
  {
    id: EVENT_REGISTRY.prefix,
    name: 'Machine Event Message Registry',
    registry: `${EVENT_REGISTRY.prefix}.${EVENT_REGISTRY.version}`,
    contents: () => messageRegistry(EVENT_REGISTRY.prefix, EVENT_REGISTRY.version, eventMessages()),
  },
]

/** The registries of messages and BIOS attributes. */
export const REGISTRY_RESOURCES: readonly RedfishResource[] = [
  ofService('/Registries', {
    reads: 'read registries',
    get: (call) =>
      makeCollection(
        'MessageRegistryFileCollection',
        ['Registries'],
        'Registries',
        registriesOf(call).map(({ id }) => referenceTo('Registries', id)),
      ),
  }),
  ofService('/Registries/{registry}', {
    reads: 'read registries',
    get: (call) => {
      const found = registriesOf(call).find(({ id }) => id === call.params['registry'])
      return (
        found && {
          ...resourceHead('MessageRegistryFile', ['Registries', found.id], found.name),
          Languages: ['en'],
          Registry: found.registry,
          Location: [{ Language: 'en', Uri: redfishPath('Registries', found.id, 'Registry') }],
        }
      )
    },
  }),
  ofService('/Registries/{registry}/Registry', {
    reads: 'read registries',
    get: (call) =>
      registriesOf(call)
        .find(({ id }) => id === call.params['registry'])
        ?.contents(),
  }),
]
