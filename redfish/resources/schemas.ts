import { collection, head, link } from '../protocol/document.js'
import { ofService, type Resource } from '../protocol/resource.js'
import { SCHEMAS } from '../protocol/schemas.js'

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

const versionOf = (version: string): string => `v${version.replaceAll('.', '_')}`

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
    ...Object.entries(SCHEMAS).map(([name, version]) => reference(name, [name, `${name}.${versionOf(version)}`])),
    ...COLLECTIONS.map((name) => reference(name, [name])),
    '  <edmx:DataServices>',
    '    <Schema xmlns="http://docs.oasis-open.org/odata/ns/edm" Namespace="Service">',
    `      <EntityContainer Name="Service" Extends="ServiceRoot.${versionOf(SCHEMAS.ServiceRoot)}.ServiceContainer"/>`,
    '    </Schema>',
    '  </edmx:DataServices>',
    '</edmx:Edmx>',
    '',
  ].join('\n')
}

const NAMES: readonly string[] = [...Object.keys(SCHEMAS), ...COLLECTIONS]

/** The schemas that resources follow: named here, published by DMTF. */
export const SCHEMA_RESOURCES: readonly Resource[] = [
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
      collection(
        'JsonSchemaFileCollection',
        ['JsonSchemas'],
        'JSON Schemas',
        NAMES.map((name) => link('JsonSchemas', name)),
      ),
  }),
  ofService('/JsonSchemas/{schema}', {
    reads: 'read schemas',
    get: ({ params }) => {
      const name = params['schema']!
      if (!NAMES.includes(name)) return undefined
      const version = (SCHEMAS as Readonly<Record<string, string>>)[name]
      const file = version === undefined ? name : `${name}.${versionOf(version)}`
      return {
        ...head('JsonSchemaFile', ['JsonSchemas', name], `${name} Schema`),
        Languages: ['en'],
        Schema: `#${file}.${name}`,
        Location: [{ Language: 'en', PublicationUri: `${PUBLISHED}/${file}.json` }],
      }
    },
  }),
]
