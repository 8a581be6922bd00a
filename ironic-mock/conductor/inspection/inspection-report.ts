import { defined, GIB } from '../../../base/runtime/index.js'
import type { JsonObject, NodeRecord } from '../../../base/wire/index.js'
import type { SystemReport } from '../../drivers/bmc-hardware.js'
import { withCapabilities } from './inspection-context.js'

/** Inventory of an out-of-band inspection from a BMC's report, and properties that no hook sets. */
export function reportedInventory(
  node: Readonly<NodeRecord>,
  report: SystemReport,
): { inventory: JsonObject; properties: JsonObject } {
  const { manufacturer, model, serial, memoryMib, cpu, nics, disks, bootMode } = report
  const inventory: JsonObject = {
    memory: { physical_mb: memoryMib },
    cpu: { count: cpu.count, architecture: cpu.architecture, ...defined({ model_name: cpu.model ?? undefined }) },
    disks: disks.map(({ name, size, vendor, model: of, serial: own, rotational }) => ({
      name,
      size,
      vendor,
      model: of,
      serial: own,
      rotational,
    })),
    interfaces: nics.map(({ name, mac, speedMbps }) => ({
      mac_address: mac,
      name,
      ...defined({ speed_mbps: speedMbps ?? undefined }),
    })),
    system_vendor: { product_name: model, serial_number: serial, manufacturer },
    boot: { current_boot_mode: bootMode },
  }
  const { capabilities } = node.properties
  const known = typeof capabilities === 'string' && /(^|,)boot_mode:/.test(capabilities)
  return {
    inventory,
    properties: {
      memory_mb: memoryMib,
      local_gb: localGb(disks.map(({ size }) => size)),
      ...defined({ capabilities: known ? undefined : withCapabilities(capabilities, { boot_mode: bootMode }) }),
    },
  }
}

/** Size of the smallest disk of at least 4 GiB, less one GiB, as upstream. */
function localGb(sizes: readonly number[]): number {
  const large = sizes.filter((size) => size >= 4 * GIB)
  return large.length === 0 ? 0 : Math.max(0, Math.floor(Math.min(...large) / GIB) - 1)
}
