import { dialectOf, type BmcDialect } from '../../bmc/dialects/index.js'
import { refusalBody } from '../../bmc/redfish/index.js'
import { maskedAddress } from '../../base/bytes/index.js'
import { isObject, UserError } from '../../base/runtime/index.js'
import { factoryFirmware, type Machine, type MachineFirmware, type MachineSpec } from '../../machine/index.js'
import { BmcError, type BmcChange, type BmcHardware, type SystemReport } from '../../ironic-mock/index.js'

export interface HardwareAccess {
  /** Uuid of the node that asks. */
  node: string
  /** Name of the node's driver. */
  driver: string
  /** Throws when the caller's account is refused. */
  admit: () => void
  /** The machine, if it exists. */
  find: () => Machine | undefined
  /** Specification of a machine that does not exist yet; always the same. */
  planned: () => MachineSpec
  /** The machine, created if necessary. */
  reach: () => Promise<Machine>
}

/**
 * Firmware and BMC of a simulated machine. Reads of a machine that does not exist yet show its factory state. Only a
 * change creates the machine, since its NICs come from the ports that the node has then.
 */
export function machineHardware({ admit, planned, node, driver, ...behind }: HardwareAccess): BmcHardware {
  const find = () => {
    admit()
    return behind.find()
  }
  const reach = () => {
    admit()
    return behind.reach()
  }
  const seen = (): MachineFirmware => find()?.firmware ?? factoryFirmware(planned())
  return {
    report: async () => reportOf(find()?.spec ?? planned(), seen()),
    system: async () => systemReportOf(find()?.spec ?? planned(), seen().report().bootMode),
    change: async (change) => {
      const { spec, firmware } = await reach()
      refuseChange({ node, driver, spec, firmware }, change)
      await applyBmcChange(firmware, change)
    },
    media: async () => seen().media(),
    indicators: async () => seen().indicators(),
    indicator: async (component, name) => seen().indicator(component, name),
    subscribe: async ({ Context, Protocol, Destination, EventTypes }) =>
      (await reach()).firmware.subscribe({ Context, Protocol, Destination, EventTypes: [...EventTypes] }),
    unsubscribe: async (id) => (await reach()).firmware.unsubscribe(id),
    subscriptions: async () => seen().subscriptions(),
  }
}

/** The firmware as its BMC reports it: some do not say the boot mode. */
function reportOf(spec: MachineSpec, firmware: MachineFirmware): Awaited<ReturnType<BmcHardware['report']>> {
  const report = firmware.report()
  const { mode } = dialectOf(spec).boot
  return ['absent', 'null'].includes(mode) ? { ...report, bootMode: null } : report
}

interface ChangedBmc {
  node: string
  driver: string
  spec: MachineSpec
  firmware: MachineFirmware
}

/**
 * Refuses a change that the machine's BMC does not make, in Ironic's words (ironic 39.0.0 drivers/modules/redfish
 * management.py set_boot_mode, boot.py _insert_vmedia).
 */
function refuseChange({ node, driver, spec, firmware }: ChangedBmc, change: BmcChange): void {
  const dialect = dialectOf(spec)
  if (change.change === 'insert media' && !firmware.hasSlot(change.device))
    throw new UserError(
      'bmc-refuses',
      `No suitable virtual media device found for node ${node} to mount image ${maskedAddress(change.url)}`,
    )
  if (change.change !== 'boot mode') return
  if (dialect.boot.mode === 'absent')
    throw new UserError('bmc-refuses', `Driver ${driver} does not support set_boot_mode (disabled or not implemented).`)
  if (dialect.boot.mode !== 'read-only') return
  const body = refusalBody(spec, 'PropertyNotWritable', ['BootSourceOverrideMode'])
  throw new BmcError('refused', 'the BMC answered 400', { answer: { status: 400, body } })
}

/** True if a system of the BMC links to a resource. @param name `Storage` */
const hasBelowSystem = ({ properties, resources }: BmcDialect, name: string): boolean =>
  !properties.leftOut.includes(`ComputerSystem.${name}`) && !resources.absent.includes(`/Systems/*/${name}`)

/**
 * False for a BMC of whose NICs sushy has no MAC address: it has no EthernetInterfaces, does not say that they are well, or
 * has no address (sushy 5.14 resources/system/ethernet_interface.py summary).
 */
function showsNics(dialect: BmcDialect): boolean {
  const { changed, leftOut } = dialect.properties
  const { 'EthernetInterface.Status': status, 'EthernetInterface.MACAddress': mac } = changed
  const isUnknown = isObject(status) && status['Health'] === null
  const isNameless = mac === '' || mac === null || leftOut.includes('EthernetInterface.MACAddress')
  return hasBelowSystem(dialect, 'EthernetInterfaces') && !isUnknown && !isNameless
}

/** False for a BMC in which Ironic looks for disks in vain (ironic 39 redfish/inspect.py: Storage, and then SimpleStorage). */
const showsDisks = (dialect: BmcDialect): boolean =>
  hasBelowSystem(dialect, 'Storage') || hasBelowSystem(dialect, 'SimpleStorage')

function systemReportOf(spec: MachineSpec, bootMode: 'uefi' | 'bios'): SystemReport {
  const { manufacturer, product, serial, memoryMib, cpus, architecture } = spec
  return {
    manufacturer,
    model: product,
    serial,
    memoryMib,
    bootMode,
    cpu: { count: cpus, architecture, model: null },
    nics: (showsNics(dialectOf(spec)) ? spec.nics : []).map(({ name, mac, carrier }) => ({
      name,
      mac,
      speedMbps: carrier ? 10_000 : null,
    })),
    disks: (showsDisks(dialectOf(spec)) ? spec.disks : []).map(
      ({ name, size, vendor, model, serial: own, rotational }) => ({
        name,
        size,
        vendor,
        model,
        serial: own,
        rotational,
      }),
    ),
  }
}

async function applyBmcChange(firmware: MachineFirmware, change: BmcChange): Promise<void> {
  switch (change.change) {
    case 'boot mode':
      return firmware.setBootMode(change.mode)
    case 'secure boot':
      return firmware.setSecureBoot(change.on)
    case 'bios':
      return firmware.setBios(change.settings)
    case 'bios defaults':
      return firmware.resetBios()
    case 'firmware':
      return firmware.flash(change.component, change.url)
    case 'insert media':
      return firmware.insert(change.device, change.url)
    case 'eject media':
      return firmware.eject(change.devices)
    case 'indicator':
      return firmware.setIndicator(change.component, change.name, change.state)
    case 'volumes':
      return firmware.setVolumes(change.volumes)
    case 'nmi':
      return firmware.signal('nmi')
    case 'reset bmc':
      return firmware.signal('bmc reset', { warm: change.warm })
    case 'raw':
      return firmware.signal('raw', { bytes: change.bytes })
  }
}
