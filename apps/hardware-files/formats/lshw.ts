import { isIPv4 } from 'node:net'
import { MIB } from '../../../base/runtime/index.js'
import type { ImportedDisk, FoundMachine, FoundMachines, FoundNic } from '../found-machine.js'
import { descriptionCheck } from './description-schemas.js'

/** A node of lshw's tree. A name may be a list, and so are all names of newer versions. */
interface LshwNode {
  id?: string
  class?: string
  disabled?: boolean
  description?: string
  product?: string
  vendor?: string
  serial?: string
  businfo?: string
  logicalname?: string | string[]
  units?: string
  size?: number
  configuration?: Readonly<Record<string, string>>
  capabilities?: Readonly<Record<string, unknown>>
  children?: LshwNode[]
}

const TEXT = { type: 'string' }
const NODE_REFERENCE = { $ref: '#/definitions/node' }
const DEFINITIONS = {
  node: {
    type: 'object',
    properties: {
      id: TEXT,
      class: TEXT,
      disabled: { type: 'boolean' },
      description: TEXT,
      product: TEXT,
      vendor: TEXT,
      serial: TEXT,
      businfo: TEXT,
      logicalname: { type: ['string', 'array'], items: TEXT },
      units: TEXT,
      size: { type: 'number' },
      configuration: { type: 'object', additionalProperties: TEXT },
      capabilities: { type: 'object' },
      children: { type: 'array', items: NODE_REFERENCE },
    },
  },
}

const TREE = descriptionCheck<LshwNode>({ definitions: DEFINITIONS, ...NODE_REFERENCE })
const TREES = descriptionCheck<LshwNode[]>({ definitions: DEFINITIONS, type: 'array', items: NODE_REFERENCE })

const isNode = (value: unknown): boolean =>
  typeof value === 'object' && value !== null && 'id' in value && 'class' in value

/** The tree of `lshw -json`. */
export const LSHW_TREE = {
  format: 'the output of lshw -json',
  check: TREE,
  claims: isNode,
  read: (root: LshwNode): FoundMachines => machinesOf([root]),
}

/** Newer versions print a list of trees; with `-class` also older ones. */
export const LSHW_TREES = {
  format: 'the output of lshw -json',
  check: TREES,
  claims: (value: unknown): boolean => Array.isArray(value) && value.length > 0 && isNode(value[0]),
  read: machinesOf,
}

function machinesOf(roots: readonly LshwNode[]): FoundMachines {
  const nodes = [...nodesWithin(roots)]
  const system = nodes.find(({ node }) => node.class === 'system')?.node
  const machine: FoundMachine = {
    firmware: firmwareOf(nodes),
    architecture: architectureOf(nodes),
    cpus: threadsOf(nodes),
    memoryMib: memoryOf(nodes),
    manufacturer: system?.vendor,
    product: system?.product,
    serial: system?.serial,
    hostname: system?.id,
    nics: nodes.filter(isPhysicalNic).map(({ node }) => nicOf(node)),
    disks: nodes.filter(isDisk).map(diskOf),
  }
  return {
    format: 'the output of lshw -json',
    machines: [machine],
    notes: [
      'lshw also prints models and speeds of CPUs and NICs, versions of firmware and other devices, which a hardware file cannot hold',
      'lshw does not say which NIC the machine boots from, the WWNs and paths of disks, and the switches: the first NIC and made-up values are used',
      'the boot mode is guessed from whether the firmware supports UEFI, and a disk is guessed to be an SSD unless lshw says its revolutions',
      'a socket whose threads and cores lshw does not say counts as one CPU',
    ],
  }
}

/** A node, and the one that it is below of. */
interface PlacedNode {
  node: LshwNode
  parent: LshwNode | undefined
}

/** All nodes in the order of the text, without recursion. */
function* nodesWithin(roots: readonly LshwNode[]): Generator<PlacedNode> {
  const open: PlacedNode[] = roots.map((node) => ({ node, parent: undefined })).reverse()
  for (let next = open.pop(); next; next = open.pop()) {
    yield next
    const { node } = next
    for (const child of (node.children ?? []).toReversed()) open.push({ node: child, parent: node })
  }
}

function firmwareOf(nodes: readonly PlacedNode[]): string | undefined {
  const firmware = nodes.find(({ node }) => node.id === 'firmware')?.node
  if (!firmware) return undefined
  return 'uefi' in (firmware.capabilities ?? {}) ? 'uefi' : 'bios'
}

const isProcessor = ({ node }: PlacedNode): boolean => node.class === 'processor' && node.disabled !== true

function architectureOf(nodes: readonly PlacedNode[]): string | undefined {
  const capabilities = nodes.find(isProcessor)?.node.capabilities ?? {}
  if ('x86-64' in capabilities) return 'x86_64'
  return 'asimd' in capabilities ? 'aarch64' : undefined
}

/** Threads, or else cores, of all sockets that are not empty. */
function threadsOf(nodes: readonly PlacedNode[]): number | undefined {
  const processors = nodes.filter(isProcessor)
  const threads = processors.map(
    ({ node: { configuration = {} } }) => configuration['threads'] ?? configuration['cores'],
  )
  return processors.length === 0 ? undefined : threads.reduce((sum, count) => sum + (Number(count) || 1), 0)
}

/** System memory, or else its banks, in MiB. */
function memoryOf(nodes: readonly PlacedNode[]): number | undefined {
  const memory = nodes.map(({ node }) => node).filter((node) => node.class === 'memory')
  const whole = memory.filter(({ id = '', size }) => /^memory(:\d+)?$/.test(id) && size !== undefined)
  const counted = whole.length > 0 ? whole : memory.filter(({ id = '' }) => id.startsWith('bank'))
  const bytes = counted.reduce((sum, { size = 0 }) => sum + size, 0)
  return bytes === 0 ? undefined : Math.floor(bytes / MIB)
}

/** Bridges, bonds and the like are on no bus; a card without a name is one whose interfaces are nodes below it. */
const isPhysicalNic = ({ node }: PlacedNode): boolean =>
  node.class === 'network' && node.businfo !== undefined && namesOf(node).length > 0

/** Names of a device; lshw repeats each. */
const namesOf = ({ logicalname = [] }: LshwNode): readonly string[] => [logicalname].flat()

function nicOf(node: LshwNode): FoundNic {
  const { link, driver, ip = '' } = node.configuration ?? {}
  return {
    name: namesOf(node)[0],
    mac: node.serial?.toLowerCase(),
    ipv4: isIPv4(ip) ? ip : undefined,
    carrier: link === undefined ? undefined : link === 'yes',
    driver,
  }
}

/** Drives of media and the character devices of NVMe (`/dev/ng0n1`) are no disks. */
const isDisk = ({ node }: PlacedNode): boolean =>
  node.class === 'disk' && namesOf(node).some((name) => /^\/dev\/(?!sr\d|cdrom|dvd|ng\d)/.test(name))

function diskOf({ node, parent }: PlacedNode): ImportedDisk {
  const { capabilities = {}, configuration = {}, description = '' } = node
  const name = namesOf(node).find((each) => each.startsWith('/dev/'))
  const isNvme = name?.startsWith('/dev/nvme') === true
  // A namespace has neither model nor serial number: its controller has.
  const own = isNvme && node.serial === undefined ? parent : node
  const [, host, channel, target, lun] = /^scsi@(\d+):(\d+)\.(\d+)\.(\d+)/.exec(node.businfo ?? '') ?? []
  return {
    name,
    size: node.size,
    serial: own?.serial,
    model: own?.product,
    vendor: own?.vendor,
    hctl: host === undefined ? undefined : `${host}:${channel}:${target}:${lun}`,
    rotational: Object.keys(capabilities).some((each) => /^\d+rpm$/.test(each)),
    transport: transportOf(isNvme, description, parent),
    sectorSize: Number(configuration['logicalsectorsize']) || undefined,
  }
}

function transportOf(isNvme: boolean, description: string, parent: LshwNode | undefined): string | undefined {
  if (isNvme) return 'nvme'
  if (/^ATA/.test(description)) return 'sata'
  if (parent?.businfo?.startsWith('usb') === true) return 'usb'
  return /^SCSI/.test(description) ? 'sas' : undefined
}
