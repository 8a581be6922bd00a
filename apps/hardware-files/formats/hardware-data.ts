import { hardwareOfDetails, HARDWARE_DETAILS, type KnownDetails } from '../../../baremetal-operator/index.js'
import { UserError } from '../../../base/runtime/index.js'
import type { FoundMachine, FoundMachines, FoundNic } from '../found-machine.js'
import { descriptionCheck, objectSchema, textSchema } from './description-schemas.js'

const TEXT = { type: 'string' }
const NUMBER = { type: 'number' }
const FLAG = { type: 'boolean' }

// Go leaves out what is empty, and Kubernetes drops nulls.
const DETAILS_PROPERTIES = {
  systemVendor: {
    type: 'object',
    properties: { manufacturer: TEXT, productName: TEXT, serialNumber: TEXT },
  },
  ramMebibytes: NUMBER,
  hostname: TEXT,
  cpu: { type: 'object', properties: { arch: TEXT, count: NUMBER } },
  nics: {
    type: 'array',
    items: {
      type: 'object',
      properties: {
        name: TEXT,
        mac: TEXT,
        ip: TEXT,
        pxe: FLAG,
        lldp: {
          type: 'object',
          properties: { switchID: TEXT, portID: TEXT, switchSystemName: TEXT },
        },
      },
    },
  },
  storage: {
    type: 'array',
    items: {
      type: 'object',
      properties: {
        name: TEXT,
        alternateNames: { type: 'array', items: TEXT },
        type: TEXT,
        rotational: FLAG,
        sizeBytes: NUMBER,
        vendor: TEXT,
        model: TEXT,
        serialNumber: TEXT,
        wwn: TEXT,
        wwnVendorExtension: TEXT,
        hctl: TEXT,
      },
    },
  },
}

const DETAILS = { type: 'object', properties: DETAILS_PROPERTIES }

interface NamedObject {
  kind: string
  metadata?: { name?: string | null; namespace?: string | null; annotations?: Record<string, string> | null } | null
  spec?: { hardware?: KnownDetails | null } | null
  status?: { hardware?: KnownDetails | null } | null
}

const METADATA = objectSchema({ name: textSchema, namespace: textSchema, annotations: { type: ['object', 'null'] } })
const OBJECT_SCHEMA = {
  type: 'object',
  required: ['kind'],
  properties: {
    kind: { type: 'string' },
    metadata: METADATA,
    spec: objectSchema({ hardware: objectSchema(DETAILS_PROPERTIES) }),
    status: objectSchema({ hardware: objectSchema(DETAILS_PROPERTIES) }),
  },
}

const OBJECT = descriptionCheck<NamedObject>(OBJECT_SCHEMA)
const LIST = descriptionCheck<{ items: NamedObject[] }>({
  type: 'object',
  required: ['items'],
  properties: { items: { type: 'array', items: OBJECT_SCHEMA } },
})
const BARE_DETAILS = descriptionCheck<KnownDetails>(DETAILS)
const ANNOTATION = descriptionCheck<KnownDetails>(DETAILS)

const FORMAT = "BareMetal Operator's hardware data"
const NOTES = [
  'hardware data also have models and speeds of CPUs and NICs and versions of firmware, which a hardware file cannot hold',
  'hardware data have no boot mode, cables, sector sizes and transports other than NVMe: UEFI, plugged cables, 512 bytes and SATA or SAS are guessed',
]

const isMapping = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** HardwareData and BareMetalHosts of Kubernetes, one or a list (apis/metal3.io/v1alpha1/hardwaredata_types.go). */
export const HARDWARE_OBJECT = {
  format: FORMAT,
  check: OBJECT,
  claims: (value: unknown): boolean => isMapping(value) && typeof value['kind'] === 'string' && !isList(value),
  read: (object: NamedObject, name: string): FoundMachines => machinesOf([object], name),
}

/** A list of such objects, as `kubectl get -o yaml` prints it. */
export const HARDWARE_OBJECTS = {
  format: FORMAT,
  check: LIST,
  claims: (value: unknown): boolean => isMapping(value) && isList(value),
  read: ({ items }: { items: NamedObject[] }, name: string): FoundMachines => machinesOf(items, name),
}

/** The value of `status.hardware` alone. */
export const HARDWARE_DETAILS_ALONE = {
  format: FORMAT,
  check: BARE_DETAILS,
  claims: (value: unknown): boolean =>
    isMapping(value) && ['systemVendor', 'ramMebibytes', 'storage'].some((key) => key in value),
  read: (details: KnownDetails): FoundMachines => ({
    format: FORMAT,
    machines: [machineOf(details, undefined)],
    notes: NOTES,
  }),
}

const isList = (value: Record<string, unknown>): boolean =>
  typeof value['kind'] === 'string' && value['kind'].endsWith('List') && Array.isArray(value['items'])

/** The hardware of each object; a host has that of its HardwareData, if both are there. */
function machinesOf(objects: readonly NamedObject[], file: string): FoundMachines {
  const machines = new Map<string, FoundMachine>()
  const withoutHardware: string[] = []
  const isData = ({ kind }: NamedObject): boolean => kind === 'HardwareData'
  for (const object of [...objects.filter(isData), ...objects.filter((each) => !isData(each))]) {
    const { name, namespace } = object.metadata ?? {}
    const host = name ? `${namespace ? `${namespace}/` : ''}${name}` : undefined
    const key = host ?? `${machines.size}`
    if (machines.has(key)) continue
    const details = detailsOf(object, `${object.kind} ${host ?? ''}`.trim())
    if (details) machines.set(key, machineOf(details, host))
    else withoutHardware.push(`${object.kind} ${host ?? 'without a name'}`)
  }
  const skipped =
    withoutHardware.length > 0 ? [`objects without hardware are left out: ${namesOf(withoutHardware)}`] : []
  if (machines.size === 0)
    throw new UserError(
      'hardware-import',
      `${file} has no hardware of a machine${withoutHardware.length > 0 ? `, but ${namesOf(withoutHardware)}` : ''}`,
      {
        kind: 'usage',
        remedy: 'wait until the host has been inspected, and save its HardwareData then',
      },
    )
  return { format: FORMAT, machines: [...machines.values()], notes: [...NOTES, ...skipped] }
}

const MAX_NAMES = 4
const namesOf = (names: readonly string[]): string =>
  `${names.slice(0, MAX_NAMES).join(', ')}${names.length > MAX_NAMES ? ` and ${names.length - MAX_NAMES} more` : ''}`

function detailsOf({ kind, spec, status, metadata }: NamedObject, what: string): KnownDetails | undefined {
  if (kind === 'HardwareData') return spec?.hardware ?? undefined
  if (kind !== 'BareMetalHost') return undefined
  if (status?.hardware) return status.hardware
  const text = metadata?.annotations?.[HARDWARE_DETAILS]
  if (typeof text !== 'string' || text === '') return undefined
  return annotated(text, what)
}

function annotated(text: string, what: string): KnownDetails {
  try {
    const value: unknown = JSON.parse(text)
    if (ANNOTATION.accepts(value)) return value
  } catch (cause) {
    if (!(cause instanceof SyntaxError)) throw cause
  }
  throw new UserError('hardware-import', `the annotation ${HARDWARE_DETAILS} of ${what} has no hardware details`, {
    kind: 'usage',
    remedy: 'correct the annotation, or leave it out',
  })
}

function machineOf(details: KnownDetails, host: string | undefined): FoundMachine {
  const { nics = [], disks = [], hostname, ...hardware } = hardwareOfDetails(details)
  return {
    ...hardware,
    hostname: hostname ?? undefined,
    architecture: details.cpu?.arch,
    host,
    nics: nics.map(nicOf),
    disks,
  }
}

/** Without an address a NIC had none at the inspection. */
const nicOf = ({ ipv4, ...nic }: FoundNic): FoundNic => ({ ...nic, ipv4: ipv4 ?? null })
