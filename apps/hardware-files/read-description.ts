import type { ErrorObject } from 'ajv'
import { pointerParts } from '../../base/runtime/index.js'
import type { SchemaCheck } from '../../base/schemas/index.js'
import type { FoundMachines } from './found-machine.js'
import { HARDWARE_DETAILS_ALONE, HARDWARE_OBJECT, HARDWARE_OBJECTS } from './formats/hardware-data.js'
import { IRONIC_INVENTORY } from './formats/ironic-inventory.js'
import { LSHW_TREE, LSHW_TREES } from './formats/lshw.js'
import { parseDescription, unreadable } from './parse-description.js'

/** A form in which other programs describe machines. */
interface DescriptionFormat<T> {
  readonly format: string
  readonly check: SchemaCheck<T>
  /** True for a document that means to have this form. */
  readonly claims: (value: unknown) => boolean
  /** @param name of the file, for errors */
  readonly read: (value: T, name: string) => FoundMachines
}

type DescriptionReader = (value: unknown, name: string) => FoundMachines | undefined

/** Reads documents of a form; undefined for one of another form. */
const readerOf =
  <T>({ format, check, claims, read }: DescriptionFormat<T>): DescriptionReader =>
  (value, name) => {
    if (!claims(value)) return undefined
    if (!check.accepts(value))
      throw unreadable(`${name} is not ${format} as it should be: ${problemIn(check.errors())}`)
    return read(value, name)
  }

const READERS: readonly DescriptionReader[] = [
  readerOf(IRONIC_INVENTORY),
  readerOf(HARDWARE_OBJECTS),
  readerOf(HARDWARE_OBJECT),
  readerOf(LSHW_TREE),
  readerOf(LSHW_TREES),
  readerOf(HARDWARE_DETAILS_ALONE),
]

/**
 * The machines that a file describes.
 *
 * @param name of the file, for errors
 * @throws UserError `hardware-import` (usage) naming the file and what is wrong with it
 */
export function readDescription(bytes: Uint8Array, name: string): FoundMachines {
  const documents = parseDescription(bytes, name)
  const objects = documents.length > 1 && documents.every(HARDWARE_OBJECT.claims)
  const value = objects ? { kind: 'List', items: documents } : documents[0]
  if (documents.length > 1 && !objects)
    throw unreadable(`${name} has ${documents.length} documents, which are not all objects of Kubernetes`)
  for (const read of READERS) {
    const found = read(value, name)
    if (found) return found
  }
  throw unreadable(`${name} is ${otherForm(value)}`)
}

function otherForm(value: unknown): string {
  if (Array.isArray(value)) return 'a list of something other than nodes of lshw'
  if (typeof value !== 'object' || value === null) return 'no mapping'
  if ('@odata.id' in value) return 'a resource of Redfish, which is no description of a whole machine'
  if ('machines' in value || 'memoryMib' in value || ('disks' in value && 'nics' in value))
    return 'a hardware file already'
  if ('blockdevices' in value) return 'the output of lsblk, which has only disks'
  return 'no description of a machine that is known here'
}

function problemIn([error]: readonly ErrorObject[]): string {
  if (!error) return 'it has another form'
  const { keyword, params, message = 'is wrong' } = error
  const path = pointerParts(error.instancePath).join('.')
  const where = path === '' ? 'it' : path
  if (keyword !== 'type') return `${where} ${message}`
  const types = [(params as { type: string | string[] }).type].flat().filter((type) => type !== 'null')
  return `${where} must be ${types.join(' or ')}`
}
