import type { FirmwareMaker } from '../../bmc/dialects/index.js'
import { attribute, enumAttribute, toggle, type FirmwareAttribute } from './firmware-attribute.js'

/** The parts of a machine that these settings show. */
interface SettingsOwner {
  serial: string
  product: string
}

const serialNumber = (name: string, { serial }: SettingsOwner): FirmwareAttribute =>
  attribute(name, 'String', serial, { readOnly: true, unique: true, longest: 32, shortest: 1 })

/** As a ProLiant Gen10 has them (NVIDIA/libredfish, tests/mockups/hpe). */
const hpeSettings = (owner: SettingsOwner): FirmwareAttribute[] => [
  toggle('AcpiHpet', 'Enabled'),
  enumAttribute('AssetTagProtection', 'Unlocked', 'Locked'),
  enumAttribute('BootMode', 'Uefi', 'LegacyBios'),
  enumAttribute('BootOrderPolicy', 'RetryIndefinitely', 'AttemptOnce', 'ResetAfterFailed'),
  toggle('EmbeddedUefiShell', 'Enabled'),
  enumAttribute('NumaGroupSizeOpt', 'Flat', 'Clustered'),
  attribute('PackagePowerLimitValue', 'Integer', 0, { lower: 0, upper: 65_535 }),
  enumAttribute('PowerOnDelay', 'NoDelay', 'Delay15Sec', 'Delay30Sec', 'Delay45Sec', 'Delay60Sec', 'DelayRandom'),
  toggle('ProcAes', 'Enabled'),
  toggle('ProcHyperthreading', 'Enabled'),
  toggle('ProcVirtualization', 'Enabled'),
  serialNumber('SerialNumber', owner),
  attribute('ServerAssetTag', 'String', '', { shortest: 0, longest: 32 }),
  attribute('ServerName', 'String', '', { shortest: 0, longest: 14 }),
  toggle('Sriov', 'Enabled'),
  enumAttribute('ThermalConfig', 'OptimalCooling', 'IncreasedCooling', 'MaxCooling'),
  toggle('UefiOptimizedBoot', 'Enabled'),
  enumAttribute(
    'WorkloadProfile',
    'GeneralPowerEfficientCompute',
    'GeneralPeakFrequencyCompute',
    'LowLatency',
    'Virtualization-MaxPerformance',
    'Custom',
  ),
]

/** As a ThinkSystem has them: the group, then the name (NVIDIA/libredfish, tests/mockups/lenovo). */
const lenovoSettings = (): FirmwareAttribute[] => [
  toggle('BootModes_InfiniteBootRetry', 'Enabled'),
  toggle('BootModes_PreventOSChangesToBootOrder', 'Disabled'),
  enumAttribute('BootModes_SystemBootMode', 'UEFIMode', 'LegacyMode'),
  toggle('DevicesandIOPorts_ConsoleRedirection', 'Enabled'),
  toggle('DevicesandIOPorts_SRIOV', 'Enabled'),
  enumAttribute('Power_WorkloadConfiguration', 'Balanced', 'IOSensitive'),
  toggle('Processors_EnergyEfficientTurbo', 'Enabled'),
  toggle('Processors_HyperThreading', 'Enabled'),
  toggle('Processors_IntelVirtualizationTechnology', 'Enabled'),
  enumAttribute('Processors_SNC', 'Disabled', 'SNC2'),
  toggle('Processors_SWGuardExtensions', 'Disabled'),
  toggle('Processors_TurboMode', 'Enabled'),
  attribute('SystemRecovery_POSTWatchdogTimerValue', 'Integer', 5, { lower: 5, upper: 20 }),
]

/** As a SYS-821GE-TNHR has them: the name, then four digits (NVIDIA/libredfish, tests/mockups/supermicro). */
const supermicroSettings = (): FirmwareAttribute[] => [
  enumAttribute('AES_NI_3C75', 'Enable', 'Disable'),
  toggle('Above4GDecoding_0041', 'Enabled'),
  enumAttribute('BitsPerSecond_008D', '115200', '57600', '38400', '9600'),
  attribute('ConsoleRedirection_007E', 'Boolean', false),
  enumAttribute('Hyper_Threading_ALL__F27F', 'Enable', 'Disable'),
  enumAttribute('IntelVirtualizationTechnology_3C6F', 'Enable', 'Disable'),
  toggle('NUMA_003B', 'Enabled'),
  attribute('QuietBoot_002D', 'Boolean', true),
  enumAttribute('SNC_F300', 'Auto', 'Enable', 'Disable'),
  enumAttribute('TurboMode_3D06', 'Enable', 'Disable'),
]

/** As a DGX H100 has them (NVIDIA/libredfish, tests/mockups/nvidia_viking). */
const amiSettings = (): FirmwareAttribute[] => [
  enumAttribute('ARIEnable', 'Enable', 'Disable'),
  enumAttribute('CpuPaLimit', 'Disable', 'Enable'),
  enumAttribute('KcsInterfaceDisable', 'Allow All', 'Deny All', 'Restricted'),
  enumAttribute('NumaEn', 'Enable', 'Disable'),
  toggle('ProcessorHyperThreadingDisable', 'Enabled'),
  enumAttribute('ProcessorVmxEnable', 'Enable', 'Disable'),
  enumAttribute('SRIOVEnable', 'Enable', 'Disable'),
  enumAttribute('TurboMode', 'Enable', 'Disable'),
  attribute('VikingMemTransientErrorSelLimit', 'Integer', 10, { lower: 0, upper: 65_535 }),
]

/** As a GB200 has them (NVIDIA/libredfish, tests/mockups/nvidia_gb200). */
const nvidiaSettings = (): FirmwareAttribute[] => [
  attribute('ActiveCores', 'Integer', 144, { lower: 1, upper: 144 }),
  toggle('AssetTagProtection', 'Disabled'),
  attribute('DisableChannelSparing', 'Boolean', false),
  attribute('EGM', 'Boolean', false),
  attribute('EGMHypervisorReservedMemory', 'Integer', 0, { lower: 0, upper: 65_535 }),
  toggle('EmbeddedUefiShell', 'Enabled'),
  toggle('EnableUefiQuickBoot', 'Disabled'),
  enumAttribute('IpModeIpmiBootOrderChange', 'IPv4', 'IPv6'),
  attribute('ProductAssetTag', 'String', '', { shortest: 0, longest: 32 }),
]

/** Settings of makers at their factory values, where they are not those of the default machine. */
export const MAKER_SETTINGS: Readonly<Partial<Record<FirmwareMaker, (owner: SettingsOwner) => FirmwareAttribute[]>>> = {
  hpe: hpeSettings,
  lenovo: lenovoSettings,
  supermicro: supermicroSettings,
  ami: amiSettings,
  nvidia: nvidiaSettings,
}
