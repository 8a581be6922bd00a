import type { Inventory, JsonObject } from '../../base/wire/index.js'
import type { Target } from '../../targets/index.js'
import { listBlockDevices, type BlockDevice } from './block-devices.js'
import { bootMode } from './boot-mode.js'
import { collectInventory } from './read-inventory.js'
import { chooseRootDevice } from './root-device.js'

/** Hardware of a step's machine. Every call reads the machine again, since a step changes it. */
export interface StepHardware {
  /** Disks, RAID arrays and multipath devices, in lsblk's order. */
  blockDevices(): Promise<BlockDevice[]>
  /**
   * The disk to install to: by the node's root device hints, or the smallest of at least 4 GiB.
   *
   * @throws StepError of type DeviceNotFound when there is none
   */
  rootDevice(): Promise<BlockDevice>
  bootMode(): Promise<'uefi' | 'bios'>
  /** CPU, memory, NICs, vendor, in the form in which an agent posts them to Ironic. */
  inventory(): Promise<Inventory>
}

/** Hardware of a target, for a step of `node`. */
export const stepHardware = (target: Target, node: JsonObject): StepHardware => ({
  blockDevices: () => listBlockDevices(target),
  rootDevice: async () => chooseRootDevice(await listBlockDevices(target), node),
  bootMode: () => bootMode(target.executor),
  inventory: () => collectInventory(target),
})
