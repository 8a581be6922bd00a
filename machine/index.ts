export { commandPower, delayedPower, latestPowerChange } from './bmc-power.js'
/** The simulated computer: hardware, firmware, boot, disks and programs. */
export type { BootPoint, NodeImagePoint } from './boot/machine-boot.js'
export { type CheckedImage, checkMetalImage } from './disk/check-image.js'
export { compareWithImage } from './disk/compare-with-image.js'
export { ImageDigests } from './disk/image-digests.js'
export { openFileDisk } from './disk/file-disk.js'
export type { DiskPoint, PartitionsPoint } from './disk/probed-disk.js'
export { metalImage } from './making/make-metal-image.js'
export { type BootFile, bootFiles } from './disk/boot-files.js'
export { type DiskDrawing, drawDisk } from './disk/disk-drawing.js'
export { type DiskReport, inspectDisk } from './disk/inspect-disk.js'
export { ERRORS } from './errors.js'
export { defaultMachineSpec } from './hardware/default-spec.js'
export { DISK_TRANSPORTS, transportOf } from './hardware/disk-transports.js'
export { diskNames, NIC_DRIVERS } from './hardware/hardware-names.js'
export { type HardwareFleet, hardwareOf, hardwareOfHost, identityIn } from './hardware/hardware-fleet.js'
export { readFleet, unusableHardware } from './hardware/hardware-document.js'
export { HARDWARE_SCHEMA } from './hardware/hardware-schema.js'
export type { BmcLogPoint, LogEntry, LogKind } from './hardware/bmc-log.js'
export { BOOT_OVERRIDES, type BootOption, type BootOverride, type BootTarget } from './hardware/boot-override.js'
export { firmwareComponents } from './hardware/firmware-versions.js'
export type { FirmwareAttribute, FirmwareValue } from './hardware/firmware-attribute.js'
export { settingProblem } from './hardware/firmware-settings.js'
export { announcedNeighbour, type AnnouncedNeighbour } from './hardware/lldp/announced-neighbour.js'
export type { LldpNeighbour, LldpVlan } from './hardware/lldp/lldp-neighbour.js'
export { lldpTlvs } from './hardware/lldp/lldp-frame.js'
export { SWITCH_SYSTEMS, switchSystemOf, type SwitchSystemName } from './hardware/lldp/switch-systems.js'
export { isDell } from './hardware/vendors.js'
export {
  type RedfishSubscription,
  type InstalledFirmware,
  type MediaDrive,
  SECURE_BOOT_DATABASES,
  type SecureBootDatabase,
  type WrittenImage,
} from './hardware/firmware-state.js'
export { factoryFirmware, MachineFirmware } from './hardware/machine-firmware.js'
export { type SensorReading, sensorsOf } from './hardware/sensors.js'
export { type MachineHardware, withHardware } from './hardware/machine-hardware.js'
export { type HttpAnswer, NoAnswer } from './ignition/http-request.js'
export type { IgnitionRequest } from './ignition/ignition-resources.js'
export { qcow2Image } from './making/qcow2-image.js'
export { installToFile } from './install-to-file.js'
export type { NewDisk } from './hardware/changed-hardware.js'
export type { PullPoint } from './live/run-agent-unit.js'
export type { BootNetwork } from './live/boot-network.js'
export { liveVersion } from './live/live-version.js'
export { kernelParameters } from './live/kernel-parameters.js'
export { REGISTRY_DIAL_TIMEOUT, pullFailure } from './live/pull-failure.js'
export type * from './machine-points.js'
export { MACHINE_DATABASE } from './machine-store.js'
export {
  type Boot,
  type FirstBoot,
  type MachineSnapshot,
  type MachineSnapshots,
  type Machine,
  type MachinePace,
  type Machines,
  NO_PACE,
} from './machine.js'
export type { DiskSpec, MachineBootSource, MachineSpec, NicDriver, NicSpec } from './machine-spec.js'
export { openMachines } from './machines.js'
export type { ImagePullPoint } from './os/pivot.js'
export type { BootEntryPoint } from './os/running-system.js'
export { type ImageRegistry, type NodeImageManifest, PullFailure } from './os/machine-registry.js'
export { INSTALLED_PROGRAMS } from './programs/installed.js'
export type { CommandEnd, CommandPoint } from './ramdisk/ramdisk-session.js'
export { systemUuid } from './ramdisk/ramdisk-tree.js'
export { type RootNode, RootTree } from './root/root-tree.js'
