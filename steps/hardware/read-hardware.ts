import type { Inventory, InventoryDisk } from '../../base/wire/index.js'
import type { Target } from '../../targets/index.js'
import { StepError } from '../sdk/step.js'
import { listBlockDevices, type BlockDevice } from './block-devices.js'
import { collectInventory, inventoryDisk, type CollectOptions } from './read-inventory.js'
import { chooseRootDevice } from './root-device.js'

/** Hardware of a target, as an inspection reports it. */
export interface TargetHardware {
  inventory: Inventory
  /** Root disk of a node without root device hints; null when no disk is large enough. */
  rootDisk: InventoryDisk | null
  /** MAC of the NIC that the firmware booted from, as `BOOTIF` on the kernel command line names it. */
  bootInterface: string | null
}

/** Reads a target's hardware once, for inspection: inventory, root disk without hints, boot interface. */
export async function readHardware(target: Target, options: CollectOptions = {}): Promise<TargetHardware> {
  const devices = options.devices ?? (await listBlockDevices(target))
  const inventory = await collectInventory(target, { ...options, devices })
  return {
    inventory,
    rootDisk: rootDisk(devices),
    bootInterface: bootifMacOf(inventory.boot.pxe_interface),
  }
}

function rootDisk(devices: readonly BlockDevice[]): InventoryDisk | null {
  try {
    return inventoryDisk(chooseRootDevice(devices, {}))
  } catch (error) {
    if (error instanceof StepError) return null
    throw error
  }
}

/** MAC of a BOOTIF value, `01-52-54-00-aa-bb-01`: hardware type 01 for Ethernet, then the address. */
const bootifMacOf = (bootif: string | null) => bootif?.replace(/^01-/, '').replaceAll('-', ':').toLowerCase() ?? null
