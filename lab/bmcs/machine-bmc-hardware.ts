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
    system: async () => {
      const spec = find()?.spec ?? planned()
      refuseInspection(spec)
      return systemReportOf(spec, seen().report().bootMode)
    },
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

/** @param image as in `image http://images.test/boot.iso` */
export const missingSlot = (node: string, image: string): UserError =>
  new UserError('bmc-refuses', `No suitable virtual media device found for node ${node} to mount ${image}`)

interface ChangedBmc {
  node: string
  driver: string
  spec: MachineSpec
  firmware: MachineFirmware
}

/** The path of a machine's system as its node has it. */
const systemPath = ({ bmc, id }: MachineSpec): string => `/redfish/v1/Systems/${bmc?.systemId || id}`

const lacks = (spec: MachineSpec, property: string): boolean => dialectOf(spec).properties.leftOut.includes(property)

/** True if a system of the BMC links to a resource. @param name `Storage` */
const hasBelowSystem = ({ properties, resources }: BmcDialect, name: string): boolean =>
  !properties.leftOut.includes(`ComputerSystem.${name}`) && !resources.absent.includes(`/Systems/*/${name}`)

/** Refuses an inspection by Redfish as Ironic does, which reads the NICs of the system (redfish/inspect.py _get_interface_info). */
function refuseInspection(spec: MachineSpec): void {
  if (!hasBelowSystem(dialectOf(spec), 'EthernetInterfaces'))
    throw new UserError(
      'bmc-refuses',
      `Unexpected exception of type MissingAttributeError: The attribute EthernetInterfaces is missing from the resource ${systemPath(spec)}`,
    )
}

/**
 * Refuses a change that the machine's BMC does not make, in Ironic's words (ironic 39.0.0 drivers/modules/redfish
 * management.py set_boot_mode, boot.py _insert_vmedia, raid.py create_configuration, bios.py apply_configuration).
 */
function refuseChange(changed: ChangedBmc, change: BmcChange): void {
  const { node, spec, firmware } = changed
  switch (change.change) {
    case 'insert media':
      if (!firmware.hasSlot(change.device)) throw missingSlot(node, `image ${maskedAddress(change.url)}`)
      return refuseInsertion(changed, change.url)
    case 'boot mode':
      return refuseBootMode(changed)
    case 'volumes':
      if (change.volumes.length > 0 && lacks(spec, 'Storage.Volumes'))
        throw new UserError(
          'bmc-refuses',
          `The attribute Volumes is missing from the resource ${systemPath(spec)}/Storage/RAID.1`,
        )
      return
    case 'bios': {
      const { without, withoutStatus: status } = dialectOf(spec).etags
      // Sushy has no tag of a settings object whose resource names none (sushy 5.14.0 settings.py commit).
      if (without === 'refused') throw refusedBy(status, refusalBody(spec, 'PreconditionRequired', []))
      return
    }
    default:
  }
}

/** Refuses an image by a protocol that the BMC does not take, and a PATCH with what it does not know (sushy sends it always). */
function refuseInsertion({ driver, spec }: ChangedBmc, url: string): void {
  const { protocols, insertBy, refused } = dialectOf(spec).media
  if (driver === 'redfish' && insertBy === 'patch' && refused.includes('Inserted'))
    throw refusedBy(400, refusalBody(spec, 'PropertyUnknown', ['Inserted']))
  const protocol = url.replace(/:.*$/s, '').toUpperCase()
  if (protocols === null || protocols.includes(protocol)) return
  const args = [protocol, 'TransferProtocolType', 'VirtualMedia.InsertMedia']
  throw refusedBy(400, refusalBody(spec, 'ActionParameterValueNotInList', args))
}

function refuseBootMode({ driver, spec }: ChangedBmc): void {
  const { mode } = dialectOf(spec).boot
  if (mode === 'absent')
    throw new UserError('bmc-refuses', `Driver ${driver} does not support set_boot_mode (disabled or not implemented).`)
  if (mode === 'read-only') throw refusedBy(400, refusalBody(spec, 'PropertyNotWritable', ['BootSourceOverrideMode']))
}

const refusedBy = (status: number, body: string): BmcError =>
  new BmcError('refused', `the BMC answered ${status}`, { answer: { status, body } })

/**
 * False for a BMC of whose NICs sushy has no MAC address: it does not say that they are well, or has no address (sushy 5.14
 * resources/system/ethernet_interface.py summary).
 */
function showsNics({ properties }: BmcDialect): boolean {
  const { changed, leftOut } = properties
  const { 'EthernetInterface.Status': status, 'EthernetInterface.MACAddress': mac } = changed
  const isUnknown = isObject(status) && status['Health'] === null
  const isNameless = mac === '' || mac === null || leftOut.includes('EthernetInterface.MACAddress')
  return !isUnknown && !isNameless
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
