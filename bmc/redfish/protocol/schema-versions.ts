/** A schema of DMTF that resources follow. */
interface RedfishSchema {
  readonly version: string
  /** It has collections too, whose schema has no version. */
  readonly isCollected?: true
}

/** The schemas that resources follow; `$metadata` and `JsonSchemas` list them. */
const REDFISH_SCHEMAS = {
  AccountService: { version: '1.15.0' },
  AttributeRegistry: { version: '1.3.7' },
  Bios: { version: '1.2.1' },
  BootOption: { version: '1.0.4', isCollected: true },
  Certificate: { version: '1.7.0', isCollected: true },
  CertificateLocations: { version: '1.0.2' },
  CertificateService: { version: '1.0.4' },
  Chassis: { version: '1.23.0', isCollected: true },
  ComputerSystem: { version: '1.20.0', isCollected: true },
  Drive: { version: '1.17.0', isCollected: true },
  EthernetInterface: { version: '1.9.0', isCollected: true },
  Event: { version: '1.9.0' },
  EventDestination: { version: '1.13.0', isCollected: true },
  EventService: { version: '1.9.0' },
  JsonSchemaFile: { version: '1.1.4', isCollected: true },
  LogEntry: { version: '1.15.0', isCollected: true },
  LogService: { version: '1.5.0', isCollected: true },
  Manager: { version: '1.19.0', isCollected: true },
  ManagerAccount: { version: '1.10.0', isCollected: true },
  Memory: { version: '1.17.0', isCollected: true },
  MessageRegistry: { version: '1.6.0' },
  MessageRegistryFile: { version: '1.1.3', isCollected: true },
  NetworkAdapter: { version: '1.9.0', isCollected: true },
  NetworkDeviceFunction: { version: '1.9.0', isCollected: true },
  Port: { version: '1.9.0', isCollected: true },
  Power: { version: '1.7.1' },
  Processor: { version: '1.18.0', isCollected: true },
  Role: { version: '1.3.1', isCollected: true },
  SecureBoot: { version: '1.1.0' },
  SecureBootDatabase: { version: '1.0.1', isCollected: true },
  Sensor: { version: '1.7.0', isCollected: true },
  ServiceRoot: { version: '1.17.0' },
  Session: { version: '1.6.0', isCollected: true },
  SessionService: { version: '1.1.8' },
  SimpleStorage: { version: '1.3.1', isCollected: true },
  SoftwareInventory: { version: '1.8.0', isCollected: true },
  Storage: { version: '1.15.0', isCollected: true },
  StorageController: { version: '1.7.0', isCollected: true },
  Task: { version: '1.7.2', isCollected: true },
  TaskService: { version: '1.2.0' },
  Thermal: { version: '1.7.1' },
  UpdateService: { version: '1.11.3' },
  VirtualMedia: { version: '1.6.3', isCollected: true },
  Volume: { version: '1.9.0', isCollected: true },
} as const satisfies Readonly<Record<string, RedfishSchema>>

export type SchemaName = keyof typeof REDFISH_SCHEMAS

type CollectedSchema = {
  [Name in SchemaName]: (typeof REDFISH_SCHEMAS)[Name] extends { isCollected: true } ? Name : never
}[SchemaName]
/** Schemas of vendors are not in the table. */
export type CollectionName = `${CollectedSchema}Collection` | `Dell${string}Collection`

const schemas: readonly (readonly [string, RedfishSchema])[] = Object.entries(REDFISH_SCHEMAS)

/** `v1_20_0`, by the name of the schema. */
export const SCHEMA_VERSIONS: ReadonlyMap<string, string> = new Map(
  schemas.map(([name, { version }]) => [name, `v${version.replaceAll('.', '_')}`]),
)

export const COLLECTION_SCHEMAS: readonly string[] = schemas.flatMap(([name, { isCollected }]) =>
  isCollected ? [`${name}Collection`] : [],
)
