import type { ArgsInfo, NodeRecord, StepInterface, StepKind } from '../../../wire/index.js'
import type { OutOfBandStep } from './driver-steps.js'

interface Row {
  interface: StepInterface
  step: string
  argsinfo?: ArgsInfo
  /** In which flows, and whether an agent has to be there for it; absent where the interface does not offer it. */
  in: Partial<Record<StepKind, { ramdisk?: boolean; abortable?: boolean }>>
}

const SETTINGS: ArgsInfo = { settings: { description: 'A list of BIOS settings to be applied', required: true } }
const FAKE_SETTINGS: ArgsInfo = {
  settings: {
    description: 'List of BIOS settings, each item needs to contain a dictionary with name/value pairs',
    required: true,
  },
}
const FAKE_COMPONENTS: ArgsInfo = {
  settings: {
    description: 'List of Firmware components, each item needs to contain a dictionary with name/value pairs',
    required: true,
  },
}
const COMPONENTS: ArgsInfo = {
  settings: { description: 'A list of dicts with firmware components to be updated', required: true },
}
const RAW: ArgsInfo = {
  raw_bytes: {
    description: 'A string of raw bytes to convey the request to transmit to the remote BMC.',
    required: true,
  },
}
const VOLUMES: ArgsInfo = {
  create_root_volume: { description: 'Whether to make the root volume; true when not given.', required: false },
  create_nonroot_volumes: { description: 'Whether to make the other volumes; true when not given.', required: false },
  delete_existing: { description: 'Whether to remove what there is before; false when not given.', required: false },
}
const RAID: ArgsInfo = { raid_config: { description: 'The RAID configuration to apply.', required: true }, ...VOLUMES }

/** Steps of what a BMC can do, as real Ironic's Redfish interfaces offer them. */
const REDFISH: Readonly<Record<string, readonly Row[]>> = {
  bios_interface: [
    {
      ...{ interface: 'bios', step: 'apply_configuration', argsinfo: SETTINGS },
      in: { clean: { ramdisk: false }, deploy: {}, service: { ramdisk: false } },
    },
    {
      ...{ interface: 'bios', step: 'factory_reset' },
      in: { clean: { ramdisk: false }, deploy: {}, service: { ramdisk: false } },
    },
  ],
  firmware_interface: [
    {
      ...{ interface: 'firmware', step: 'update', argsinfo: COMPONENTS },
      in: { clean: {}, deploy: { abortable: false }, service: { ramdisk: false } },
    },
  ],
  raid_interface: [
    { interface: 'raid', step: 'apply_configuration', argsinfo: RAID, in: { deploy: {}, service: {} } },
    { interface: 'raid', step: 'create_configuration', argsinfo: VOLUMES, in: { clean: {} } },
    { interface: 'raid', step: 'delete_configuration', in: { clean: {}, deploy: {}, service: {} } },
  ],
}

const FAKE: Readonly<Record<string, readonly Row[]>> = {
  vendor_interface: [
    { interface: 'vendor', step: 'log_passthrough', in: { clean: {}, service: { ramdisk: false } } },
    // It waits for somebody who never calls (recorded).
    { interface: 'vendor', step: 'trigger_servicewait', in: { service: {} } },
  ],
  bios_interface: [
    { interface: 'bios', step: 'apply_configuration', argsinfo: FAKE_SETTINGS, in: { clean: {} } },
    { interface: 'bios', step: 'factory_reset', in: { clean: {} } },
    { interface: 'bios', step: 'cache_bios_settings', in: { clean: {} } },
  ],
  firmware_interface: [{ interface: 'firmware', step: 'update', argsinfo: FAKE_COMPONENTS, in: { clean: {} } }],
}

const IPMI: Readonly<Record<string, readonly Row[]>> = {
  vendor_interface: [
    {
      interface: 'vendor',
      step: 'send_raw',
      argsinfo: RAW,
      in: { clean: { ramdisk: false }, deploy: {}, service: {} },
    },
  ],
}

const BY_IMPLEMENTATION: Readonly<Record<string, Readonly<Record<string, readonly Row[]>>>> = {
  fake: FAKE,
  ipmitool: IPMI,
  redfish: REDFISH,
  'idrac-redfish': REDFISH,
}
const FIELDS = ['vendor_interface', 'bios_interface', 'firmware_interface', 'raid_interface'] as const

/** The steps of a node's interfaces other than deploy, in one flow. Of them only a fake one is run unasked. */
export function interfaceSteps(node: Readonly<NodeRecord>, kind: StepKind): OutOfBandStep[] {
  return FIELDS.flatMap((field) => BY_IMPLEMENTATION[node[field]]?.[field] ?? []).flatMap((row) => {
    const how = row.in[kind]
    return how ? [offered(row, kind, how)] : []
  })
}

function offered(
  row: Row,
  kind: StepKind,
  { ramdisk = true, abortable = kind === 'deploy' }: { ramdisk?: boolean; abortable?: boolean },
): OutOfBandStep {
  const unasked = kind === 'clean' && row.step === 'log_passthrough'
  return {
    step: row.step,
    priority: unasked ? 1 : 0,
    abortable,
    argsinfo: row.argsinfo ?? null,
    interface: row.interface,
    ...(kind === 'deploy' ? {} : { requires_ramdisk: ramdisk }),
  }
}
