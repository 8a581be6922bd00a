import { makeCollection, resourceHead, referenceTo } from '../protocol/redfish-document.js'
import { ofService, type RedfishResource } from '../protocol/resource.js'
import { SCHEMA_VERSIONS } from '../protocol/schema-versions.js'

const PUBLISHED = 'http://redfish.dmtf.org/schemas/v1'

/** Collections have a schema without a version. */
const COLLECTIONS = [
  'BootOption',
  'Certificate',
  'Chassis',
  'ComputerSystem',
  'Drive',
  'EthernetInterface',
  'EventDestination',
  'JsonSchemaFile',
  'LogEntry',
  'LogService',
  'Manager',
  'ManagerAccount',
  'Memory',
  'MessageRegistryFile',
  'NetworkAdapter',
  'NetworkDeviceFunction',
  'Port',
  'Processor',
  'Role',
  'SecureBootDatabase',
  'Sensor',
  'Session',
  'SimpleStorage',
  'SoftwareInventory',
  'Storage',
  'StorageController',
  'Task',
  'VirtualMedia',
  'Volume',
].map((name) => `${name}Collection`)

const formatSchemaVersion = (version: string): string => `v${version.replaceAll('.', '_')}`

function metadata(): string {
  const reference = (name: string, namespaces: readonly string[]) =>
    [
      `  <edmx:Reference Uri="${PUBLISHED}/${name}_v1.xml">`,
      ...namespaces.map((namespace) => `    <edmx:Include Namespace="${namespace}"/>`),
      '  </edmx:Reference>',
    ].join('\n')
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    '<edmx:Edmx xmlns:edmx="http://docs.oasis-open.org/odata/ns/edmx" Version="4.0">',
    `  <edmx:Reference Uri="${PUBLISHED}/RedfishExtensions_v1.xml">`,
    '    <edmx:Include Namespace="RedfishExtensions.v1_0_0" Alias="Redfish"/>',
    '  </edmx:Reference>',
    ...['Message', 'Settings', 'Resource'].map((name) => reference(name, [name])),
    ...Object.entries(SCHEMA_VERSIONS).map(([name, version]) =>
      reference(name, [name, `${name}.${formatSchemaVersion(version)}`]),
    ),
    ...COLLECTIONS.map((name) => reference(name, [name])),
    '  <edmx:DataServices>',
    '    <Schema xmlns="http://docs.oasis-open.org/odata/ns/edm" Namespace="Service">',
    `      <EntityContainer Name="Service" Extends="ServiceRoot.${formatSchemaVersion(SCHEMA_VERSIONS.ServiceRoot)}.ServiceContainer"/>`,
    '    </Schema>',
    '  </edmx:DataServices>',
    '</edmx:Edmx>',
    '',
  ].join('\n')
}

const SCHEMA_NAMES: readonly string[] = [...Object.keys(SCHEMA_VERSIONS), ...COLLECTIONS]

/** The schemas that resources follow: named here, published by DMTF. */
export const SCHEMA_RESOURCES: readonly RedfishResource[] = [
  ofService('/$metadata', {
    open: true,
    reads: 'read schemas',
    raw: () => ({
      status: 200,
      headers: {
        'content-type': 'application/xml; charset=utf-8',
        'odata-version': '4.0',
        'cache-control': 'no-cache',
      },
      body: metadata(),
    }),
  }),
  ofService('/JsonSchemas', {
    reads: 'read schemas',
    get: () =>
      makeCollection(
        'JsonSchemaFileCollection',
        ['JsonSchemas'],
        'JSON Schemas',
        SCHEMA_NAMES.map((name) => referenceTo('JsonSchemas', name)),
      ),
  }),
  ofService('/JsonSchemas/{schema}', {
    reads: 'read schemas',
    get: ({ params }) => {
      const name = params['schema']!
      if (!SCHEMA_NAMES.includes(name)) return undefined
      const version = (SCHEMA_VERSIONS as Readonly<Record<string, string>>)[name]
      const file = version === undefined ? name : `${name}.${formatSchemaVersion(version)}`
      return {
        ...resourceHead('JsonSchemaFile', ['JsonSchemas', name], `${name} Schema`),
        Languages: ['en'],
        Schema: `#${file}.${name}`,
        Location: [{ Language: 'en', PublicationUri: `${PUBLISHED}/${file}.json` }],
      }
    },
  }),
]
