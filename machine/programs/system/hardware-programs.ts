import { ownMember } from '../../../base/runtime/index.js'
import { CPU, CPU_MHZ, FIRMWARE, hostName, nicNames } from '../../hardware/hardware-names.js'
import type { MachineSpec, NicSpec } from '../../machine-spec.js'
import { systemUuid } from '../../ramdisk/ramdisk-tree.js'
import type { MachineProgram } from '../machine-program.js'
import { defineTool, ToolFailure, utilLinuxJson } from '../tool.js'

export const lscpu = defineTool('lscpu', { json: 'J', bytes: 'B' }, ({ inside, stdout }, options) => {
  const { spec } = inside
  const cpu = CPU[spec.architecture]
  const facts: [string, string | number][] = [
    ['Architecture:', spec.architecture],
    ['CPU op-mode(s):', spec.architecture === 'x86_64' ? '32-bit, 64-bit' : '64-bit'],
    ['Byte Order:', 'Little Endian'],
    ['CPU(s):', spec.cpus],
    ['On-line CPU(s) list:', spec.cpus === 1 ? '0' : `0-${spec.cpus - 1}`],
    ['Vendor ID:', cpu.vendor],
    ['Model name:', cpu.model],
    ['Thread(s) per core:', 1],
    ['Core(s) per socket:', spec.cpus],
    ['Socket(s):', 1],
    ['CPU max MHz:', `${CPU_MHZ}.0000`],
    ['Flags:', cpu.flags],
    ['NUMA node(s):', 1],
  ]
  if (options.has('json'))
    stdout(utilLinuxJson({ lscpu: facts.map(([field, data]) => ({ field, data: String(data) })) }))
  else stdout(facts.map(([field, data]) => `${field.padEnd(40)} ${data}\n`).join(''))
})

/** DMI structures by type number, as dmidecode prints them. */
const STRUCTURES: readonly { type: number; title: string; facts: (spec: MachineSpec) => [string, string][] }[] = [
  {
    type: 0,
    title: 'BIOS Information',
    facts: () => [
      ['Vendor', FIRMWARE.vendor],
      ['Version', FIRMWARE.version],
      ['Release Date', FIRMWARE.date],
    ],
  },
  {
    type: 1,
    title: 'System Information',
    facts: (spec) => [
      ['Manufacturer', spec.manufacturer],
      ['Product Name', spec.product],
      ['Version', 'Not Specified'],
      ['Serial Number', spec.serial],
      ['UUID', systemUuid(spec)],
      ['Wake-up Type', 'Power Switch'],
      ['SKU Number', 'Not Specified'],
      ['Family', 'Not Specified'],
    ],
  },
  {
    type: 2,
    title: 'Base Board Information',
    facts: (spec) => [
      ['Manufacturer', spec.manufacturer],
      ['Product Name', spec.product],
      ['Version', 'Not Specified'],
      ['Serial Number', spec.serial],
    ],
  },
  {
    type: 3,
    title: 'Chassis Information',
    facts: (spec) => [
      ['Manufacturer', spec.manufacturer],
      ['Type', 'Rack Mount Chassis'],
      ['Serial Number', spec.serial],
    ],
  },
  {
    type: 4,
    title: 'Processor Information',
    facts: (spec) => [
      ['Socket Designation', 'CPU 0'],
      ['Type', 'Central Processor'],
      ['Manufacturer', CPU[spec.architecture].vendor],
      ['Version', CPU[spec.architecture].model],
      ['Max Speed', `${CPU_MHZ} MHz`],
      ['Current Speed', `${CPU_MHZ} MHz`],
      ['Status', 'Populated, Enabled'],
      ['Core Count', String(spec.cpus)],
    ],
  },
  {
    type: 17,
    title: 'Memory Device',
    facts: (spec) => [
      ['Size', spec.memoryMib % 1024 === 0 ? `${spec.memoryMib / 1024} GB` : `${spec.memoryMib} MB`],
      ['Form Factor', 'DIMM'],
      ['Locator', 'DIMM 0'],
      ['Type', 'RAM'],
    ],
  },
]

const DMI_KEYWORDS: Readonly<Record<string, number[]>> = {
  bios: [0],
  system: [1],
  baseboard: [2],
  chassis: [3],
  processor: [4],
  memory: [17],
}
const STRINGS: Readonly<Record<string, [type: number, fact: string]>> = {
  'bios-vendor': [0, 'Vendor'],
  'bios-version': [0, 'Version'],
  'bios-release-date': [0, 'Release Date'],
  'system-manufacturer': [1, 'Manufacturer'],
  'system-product-name': [1, 'Product Name'],
  'system-serial-number': [1, 'Serial Number'],
  'system-uuid': [1, 'UUID'],
  'baseboard-manufacturer': [2, 'Manufacturer'],
  'baseboard-product-name': [2, 'Product Name'],
  'baseboard-serial-number': [2, 'Serial Number'],
  'chassis-serial-number': [3, 'Serial Number'],
}

export const dmidecode = defineTool(
  'dmidecode',
  { type: 't=', string: 's=', quiet: 'q' },
  ({ inside: { spec }, stdout }, options) => {
    const keyword = options.value('string')
    if (keyword !== undefined) {
      const [type, fact] = ownMember(STRINGS, keyword) ?? []
      const found = STRUCTURES.find((structure) => structure.type === type)?.facts(spec)
      const value = found?.find(([name]) => name === fact)?.[1]
      if (value === undefined) throw new ToolFailure(`Invalid string keyword: ${keyword}`, 2)
      return stdout(`${value}\n`)
    }
    const wanted = options
      .values('type')
      .flatMap((list) =>
        list.split(',').flatMap((word) => ownMember(DMI_KEYWORDS, word) ?? (/^\d+$/.test(word) ? [Number(word)] : [])),
      )
    if (options.has('type') && wanted.length === 0)
      throw new ToolFailure(`Invalid type keyword: ${options.value('type')!}`, 2)
    if (!options.has('quiet')) stdout('# dmidecode 3.6\nGetting SMBIOS data from sysfs.\nSMBIOS 3.0.0 present.\n\n')
    for (const { type, title, facts } of STRUCTURES) {
      if (wanted.length > 0 && !wanted.includes(type)) continue
      const lines = facts(spec).map(([name, value]) => `\t${name}: ${value}\n`)
      stdout(`Handle 0x${(0x100 * type).toString(16).toUpperCase().padStart(4, '0')}, DMI type ${type}, 27 bytes\n`)
      stdout(`${title}\n${lines.join('')}\n`)
    }
  },
)

/** `lshw -quiet -json`: options have one dash, and JSON is the only format. */
export const lshw: MachineProgram = async ({ argv, inside, stdout, stderr }) => {
  const unknown = argv.slice(1).find((word) => !['-quiet', '-json', '-sanitize', '-numeric'].includes(word))
  if (unknown !== undefined || !argv.includes('-json')) {
    stderr(`lshw: ${unknown === undefined ? 'give -json' : `invalid option ${unknown}`}\n`)
    return 1
  }
  stdout(`${JSON.stringify(lshwTree(inside.spec), null, 2)}\n`)
  return 0
}

/** The tree from which IPA reads memory, vendor and firmware. */
function lshwTree(spec: MachineSpec): object {
  return {
    id: hostName(spec),
    class: 'system',
    claimed: true,
    handle: 'DMI:0100',
    description: 'Rack Mount Chassis',
    product: spec.product,
    vendor: spec.manufacturer,
    serial: spec.serial,
    width: 64,
    configuration: { boot: 'normal', uuid: systemUuid(spec) },
    children: [
      {
        id: 'core',
        class: 'bus',
        claimed: true,
        description: 'Motherboard',
        product: spec.product,
        vendor: spec.manufacturer,
        serial: spec.serial,
        children: [
          lshwFirmware(spec),
          lshwProcessor(spec),
          lshwMemory(spec),
          ...spec.nics.map((nic, index) => lshwNetwork(spec, nic, index)),
        ],
      },
    ],
  }
}

const lshwFirmware = (spec: MachineSpec): object => ({
  id: 'firmware',
  class: 'memory',
  claimed: true,
  description: 'BIOS',
  vendor: FIRMWARE.vendor,
  version: FIRMWARE.version,
  date: FIRMWARE.date,
  units: 'bytes',
  size: 65536,
  capabilities: spec.firmware === 'uefi' ? { uefi: 'UEFI specification is supported' } : {},
})

const lshwProcessor = (spec: MachineSpec): object => ({
  id: 'cpu',
  class: 'processor',
  claimed: true,
  product: CPU[spec.architecture].model,
  vendor: CPU[spec.architecture].vendor,
  units: 'Hz',
  size: CPU_MHZ * 1e6,
  configuration: { cores: String(spec.cpus) },
})

function lshwMemory(spec: MachineSpec): object {
  const bytes = spec.memoryMib * 1024 * 1024
  return {
    id: 'memory',
    class: 'memory',
    claimed: true,
    description: 'System Memory',
    units: 'bytes',
    size: bytes,
    children: [
      {
        id: 'bank:0',
        class: 'memory',
        claimed: true,
        description: 'DIMM RAM',
        slot: 'DIMM 0',
        units: 'bytes',
        size: bytes,
      },
    ],
  }
}

function lshwNetwork(spec: MachineSpec, nic: NicSpec, index: number): object {
  const names = nicNames(spec, nic)
  return {
    id: spec.nics.length === 1 ? 'network' : `network:${index}`,
    class: 'network',
    claimed: true,
    logicalname: nic.name,
    serial: nic.mac,
    businfo: names.pciAddress === null ? `usb@1:${index + 1}` : `pci@${names.pciAddress}`,
    units: 'bit/s',
    size: names.speed * 1e6,
    configuration: { driver: names.driver, link: nic.carrier ? 'yes' : 'no' },
  }
}
