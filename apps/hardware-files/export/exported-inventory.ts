import { Probe, seededRandom, silent, systemClock } from '../../../base/runtime/index.js'
import { parseLldp, type Inventory, type InventoryInterface } from '../../../base/wire/index.js'
import {
  announcedNeighbour,
  lldpTlvs,
  NO_PACE,
  openMachines,
  type Machine,
  type MachineSpec,
} from '../../../machine/index.js'
import { readHardware } from '../../../steps/index.js'

/** Inventory of an inspected node, as `baremetal node inventory save` writes it. */
export interface ExportedInventory {
  inventory: Inventory
  plugin_data: {
    all_interfaces: Record<string, InventoryInterface & { pxe_enabled: boolean }>
    parsed_lldp: Record<string, object>
  }
}

/**
 * The inventory that an agent on a machine posts, with LLDP. A machine like it boots its ramdisk here, where the programs of
 * the agent read it: the machine itself may be off, or run a system.
 */
export async function exportedInventory(spec: MachineSpec): Promise<ExportedInventory> {
  let reportBoot = (): void => {}
  const booted = new Promise<void>((resolve) => (reportBoot = resolve))
  await using machines = await openMachines({
    stateDir: null,
    clock: systemClock(),
    random: seededRandom(1),
    probe: new Probe(),
    logger: silent,
    pace: NO_PACE,
    events: { ramdiskUp: () => reportBoot(), down: () => {} },
  })
  const machine = await machines.create(spec)
  await machine.setBoot({ kind: 'ramdisk', parameters: {} })
  await machine.setPower('on')
  await booted
  return await inventoryOf(machine)
}

async function inventoryOf({ target, spec }: Machine): Promise<ExportedInventory> {
  const { inventory, bootInterface } = await readHardware(target)
  const frames = new Map(spec.nics.map((nic, index) => [nic.name, framesOf(nic, index)]))
  const interfaces = inventory.interfaces.map((nic) => ({ ...nic, lldp: frames.get(nic.name) ?? [] }))
  const neighbours = interfaces.map(({ name, lldp }): [string, object] => [name, parseLldp(lldp)])
  return {
    inventory: { ...inventory, interfaces },
    plugin_data: {
      all_interfaces: Object.fromEntries(
        interfaces.map((nic) => [nic.name, { ...nic, pxe_enabled: nic.mac_address === bootInterface }]),
      ),
      parsed_lldp: Object.fromEntries(neighbours.filter(([, parsed]) => Object.keys(parsed).length > 0)),
    },
  }
}

/** TLVs as the agent posts them, with that of the end; none of a port that sends none, or without a cable. */
function framesOf(nic: MachineSpec['nics'][number], index: number): [number, string][] {
  const neighbour = nic.carrier ? announcedNeighbour(nic, index) : null
  if (!neighbour) return []
  const tlvs = lldpTlvs(neighbour).map(([type, value]): [number, string] => [type, value.toString('hex')])
  return [...tlvs, [0, '']]
}
