import { Ajv } from 'ajv'
import { readFile } from 'node:fs/promises'
import { UserError, type MachineHardware } from '../lab/index.js'
import { parseSize } from './options.js'

const text = { type: 'string', minLength: 1 }
const count = { type: 'integer', minimum: 1 }
const properties = (all: object) => ({ type: 'object', additionalProperties: false, properties: all })

const schema = properties({
  firmware: { enum: ['uefi', 'bios'] },
  architecture: { enum: ['x86_64', 'aarch64'] },
  cpus: count,
  memoryMib: count,
  ...{ manufacturer: text, product: text, serial: text },
  nics: {
    type: 'array',
    minItems: 1,
    items: properties({
      name: text,
      mac: { type: 'string', pattern: '^[0-9a-f]{2}(:[0-9a-f]{2}){5}$' },
      ipv4: { type: ['string', 'null'], pattern: '^[0-9]{1,3}(\\.[0-9]{1,3}){3}$' },
      carrier: { type: 'boolean' },
      pxe: { type: 'boolean' },
    }),
  },
  disks: {
    type: 'array',
    maxItems: 16,
    items: properties({
      name: { type: 'string', pattern: '^[a-z][a-z0-9]*$' },
      size: { type: ['string', 'integer'], minimum: 2 ** 20, pattern: '^[0-9]+(\\.[0-9]+)? ?([KMGT]i?B|B)?$' },
      ...{ serial: text, model: text, vendor: text },
      wwn: { type: 'string', pattern: '^0x[0-9a-f]+$' },
      rotational: { type: 'boolean' },
      transport: { enum: ['sata', 'nvme', 'sas', 'usb'] },
      sectorSize: { enum: [512, 4096] },
      secureErase: { enum: [true, false, 'frozen'] },
    }),
  },
})

/** As it is written: sizes may have units. */
type Written = Omit<MachineHardware, 'disks'> & {
  disks?: (Omit<NonNullable<MachineHardware['disks']>[number], 'size'> & { size?: string | number })[]
}

/**
 * Reads what a new machine is made of: YAML or JSON, any of `firmware`, `cpus`, `memoryMib`, `disks`, `nics` ...
 *
 * @throws UserError (usage) naming the file and what is wrong in it
 */
export async function readHardware(file: string): Promise<MachineHardware> {
  const usage = (message: string, cause?: unknown) =>
    new UserError('hardware-file', message, {
      kind: 'usage',
      remedy: 'write what shall differ from the default machine, as in disks: [{ size: 20GiB, transport: nvme }]',
      ...(cause === undefined ? {} : { cause }),
    })
  let written: unknown
  try {
    const { parse } = await import('yaml')
    written = parse(await readFile(file, 'utf8'))
  } catch (cause) {
    throw usage(`the hardware file ${file} cannot be read`, cause)
  }
  const ajv = new Ajv({ allowUnionTypes: true, strictTypes: false, meta: false, validateSchema: false })
  const accepts = ajv.compile<Written>(schema)
  if (!accepts(written)) {
    const { instancePath, message, params } = accepts.errors![0]!
    const key = (params as { additionalProperty?: string }).additionalProperty
    const where = instancePath.replace(/^\//, '').replaceAll('/', '.')
    const what =
      key === undefined ? `${where || 'it'} ${message}` : `${where ? `${where} has` : 'there is'} an unknown key ${key}`
    throw usage(`the hardware file ${file} cannot be used: ${what}`)
  }
  const { disks, ...rest } = written
  return {
    ...rest,
    ...(disks && {
      disks: disks.map(({ size, ...disk }) => ({
        ...disk,
        ...(size === undefined ? {} : { size: parseSize(`${size}`) }),
      })),
    }),
  }
}
