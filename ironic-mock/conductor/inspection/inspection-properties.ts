import { GIB } from '../../../base/runtime/index.js'
import {
  HintError,
  parseLldp,
  parseRootDeviceHints,
  pythonRepr,
  satisfiesHints,
  formatClientValue,
  type JsonObject,
} from '../../../base/wire/index.js'
import {
  collectedTlvs,
  HookFailure,
  inspectionFailure,
  invalidInventory,
  objectsOfList,
  objectOf,
  withCapabilities,
  type Inspected,
} from './inspection-context.js'

/** `ramdisk-error`: fails for an error that the agent reports. */
export function ramdiskError({ pluginData }: Inspected): void {
  if (pluginData.error) throw inspectionFailure(`Ramdisk reported error: ${formatClientValue(pluginData.error)}`)
}

export function setArchitecture({ uuid, inventory, properties }: Inspected): void {
  const found = objectOf(inventory.cpu).architecture
  if (found === undefined)
    throw invalidInventory(
      uuid,
      `Inventory has malformed or missing CPU architecture information: ${pythonRepr(inventory.cpu)} for node ${uuid}.`,
    )
  properties.cpu_arch = found
}

export function setMemory({ uuid, inventory, properties }: Inspected): void {
  const found = objectOf(inventory.memory).physical_mb
  if (found === undefined)
    throw invalidInventory(
      uuid,
      `Inventory has missing memory information: ${pythonRepr(inventory.memory)} for node ${uuid}.`,
    )
  properties.memory_mb = found
}

export function setCpus({ inventory, properties }: Inspected): void {
  const count = Math.trunc(Number(objectOf(inventory.cpu).count ?? 0))
  if (count > 0) properties.cpus = count
}

export function bootMode({ inventory, properties }: Inspected): void {
  const mode = objectOf(inventory.boot).current_boot_mode
  if (mode === undefined || mode === null) return
  properties.capabilities = withCapabilities(properties.capabilities, { boot_mode: mode })
}

export function cpuCapabilities({ inventory, properties, conf }: Inspected): void {
  const flags = objectOf(inventory.cpu).flags
  if (!Array.isArray(flags) || flags.length === 0) return
  const found = Object.entries(conf.cpuCapabilities).filter(([flag]) => flags.includes(flag))
  const more = Object.fromEntries(found.map(([, name]) => [name, 'true']))
  properties.capabilities = withCapabilities(properties.capabilities, more)
}

const pciDevices = ({ pluginData, inventory }: Inspected): JsonObject[] => {
  const collected = objectsOfList(pluginData.pci_devices)
  return collected.length > 0 ? collected : objectsOfList(inventory.pci_devices)
}

export function setAccelerators(inspected: Inspected): void {
  const devices = pciDevices(inspected)
  if (devices.length === 0) {
    inspected.warnings.push(`Unable to process accelerator devices because no PCI device information was received`)
    return
  }
  const { knownAccelerators } = inspected.conf
  inspected.properties.accelerators = devices.flatMap(({ vendor_id, product_id, bus }) => {
    const known = knownAccelerators.find((item) => item.vendor_id === vendor_id && item.device_id === product_id)
    return known ? [{ ...known, pci_address: bus }] : []
  })
}

/** `pci-devices`: sets the count of each aliased PCI device as a capability. */
export function pciAliases({ pluginData, properties, conf }: Inspected): void {
  const counts: Record<string, number> = {}
  for (const { vendor_id, product_id } of objectsOfList(pluginData.pci_devices)) {
    const alias = conf.pciDeviceAliases.find((item) => item.vendor_id === vendor_id && item.product_id === product_id)
    if (alias) counts[alias.name] = (counts[alias.name] ?? 0) + 1
  }
  if (Object.keys(counts).length > 0) properties.capabilities = withCapabilities(properties.capabilities, counts)
}

/** `extra-hardware`: turns the lists of hardware-detect into nested objects. */
export function extraHardware({ pluginData, conf }: Inspected): void {
  const { data } = pluginData
  if (data === undefined) return
  const strict = conf.extraHardwareStrict
  if (!Array.isArray(data) || !data.every((item) => Array.isArray(item) && (!strict || item.length === 4))) {
    if (strict) delete pluginData.data
    return
  }
  const extra: Record<string, Record<string, JsonObject>> = {}
  for (const [kind, name, key, value] of data as unknown[][]) {
    if (key === undefined || value === undefined) continue
    const number = typeof value === 'string' && /^\s*[+-]?\d+\s*$/.test(value) ? Number(value) : value
    const of = (extra[formatClientValue(kind)] ??= {})
    ;(of[formatClientValue(name)] ??= {})[formatClientValue(key)] = number
  }
  pluginData.extra = extra
  delete pluginData.data
}

/** `parse-lldp`: parses the LLDP data of each interface. */
export function parsedLldp({ inventory, pluginData }: Inspected): void {
  // Limit of devices: real machines have fewer.
  for (const item of objectsOfList(inventory.interfaces).slice(0, 64)) {
    const tlvs = collectedTlvs(pluginData, item)
    const parsed = tlvs && parseLldp(tlvs)
    if (parsed && Object.keys(parsed).length > 0)
      pluginData.parsed_lldp = { ...objectOf(pluginData.parsed_lldp), [formatClientValue(item.name)]: parsed }
  }
}

/** `raid-device`: makes the one disk that is new since the last inspection the root device. */
export function raidDevice({ inventory, before, properties, warnings, uuid }: Inspected): void {
  if ('root_device' in properties || before === null) return
  const serials = (from: JsonObject): string[] =>
    objectsOfList(from.disks).flatMap(({ serial }) => (typeof serial === 'string' && serial !== '' ? [serial] : []))
  const known = serials(before)
  const fresh = serials(inventory).filter((serial) => !known.includes(serial))
  if (fresh.length === 1) properties.root_device = { serial: fresh[0] }
  else warnings.push(`the root device of node ${uuid} is not known: ${fresh.length} disks are new`)
}

/** `root-device`: finds the disk that matches the hints, and sets its size. */
export function rootDevice({ uuid, inventory, pluginData, properties, conf }: Inspected): void {
  const hints = properties.root_device
  if (hints && Object.keys(objectOf(hints)).length > 0) {
    const root = hintedDisk(objectsOfList(inventory.disks), objectOf(hints), properties.skip_block_devices, uuid)
    if (!root)
      throw new HookFailure('HardwareInspectionFailure', `No disks satisfied root device hints for node ${uuid}`)
    pluginData.root_disk = root
  }
  const root = objectOf(pluginData.root_disk)
  const size = Math.floor(Number(root.size ?? 0) / GIB)
  const spacing = size > 0 && conf.diskPartitioningSpacing ? 1 : 0
  pluginData.local_gb = size - spacing
  properties.local_gb = size - spacing
}

function hintedDisk(
  disks: readonly JsonObject[],
  hints: JsonObject,
  skipped: unknown,
  uuid: string,
): JsonObject | undefined {
  try {
    const skip = (Array.isArray(skipped) ? skipped : [])
      .map(objectOf)
      .filter((each) => Object.keys(each).length > 0)
      .map((each) => parseRootDeviceHints(each))
    const left = disks.filter((disk) => !skip.some((each) => satisfiesHints(disk, each)))
    const wanted = parseRootDeviceHints(hints)
    return left.find((disk) => satisfiesHints(disk, wanted))
  } catch (error) {
    if (!(error instanceof HintError)) throw error
    throw new HookFailure(
      'HardwareInspectionFailure',
      `No disks could be found using root device hints ${pythonRepr(hints)} for node ${uuid} because they failed to validate. Error: ${error.message}`,
    )
  }
}
