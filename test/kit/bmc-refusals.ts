import type { JsonObject } from '../../base/wire/index.js'

/** Work on a node that its BMC does not let Ironic do, and the sentence of Ironic 39 then. */
export interface BmcRefusal {
  readonly title: string
  readonly bmc: string
  readonly fields: JsonObject
  /** Disks that are wanted of a RAID, set before the work. */
  readonly raid?: JsonObject
  readonly verb: 'inspect' | 'clean'
  readonly request?: JsonObject
  readonly error: RegExp
}

/** Both Ironics are asked: a real one in `test/real/fleets`, a lab's own in `test/scenarios/bmcs`. */
export const BMC_REFUSALS: readonly BmcRefusal[] = [
  {
    title: 'an inspection by Redfish where a system has no EthernetInterfaces',
    bmc: 'nvidia-gb200',
    fields: { inspect_interface: 'redfish' },
    verb: 'inspect',
    error:
      /Unexpected exception of type MissingAttributeError: The attribute EthernetInterfaces is missing from the resource \/redfish\/v1\/Systems\/\S+$/,
  },
  {
    title: 'a volume where controllers have no Volumes',
    bmc: 'ilo5',
    fields: { raid_interface: 'redfish' },
    raid: { logical_disks: [{ size_gb: 10, raid_level: '1', is_root_volume: true }] },
    verb: 'clean',
    request: { clean_steps: [{ interface: 'raid', step: 'create_configuration' }] },
    error:
      /^Node \S+ failed step .*'create_configuration'.*: The attribute Volumes is missing from the resource \/redfish\/v1\/Systems\/\S+\/Storage\/RAID\.1/,
  },
  {
    title: 'settings where a change needs If-Match, and the BIOS names no tag of its settings',
    bmc: 'ami',
    fields: { bios_interface: 'redfish' },
    verb: 'clean',
    request: {
      clean_steps: [
        {
          interface: 'bios',
          step: 'apply_configuration',
          args: { settings: [{ name: 'ARIEnable', value: 'Disable' }] },
        },
      ],
    },
    error:
      /^Node \S+ failed step .*Redfish exception occurred\. Error: Redfish BIOS apply configuration failed for node \S+\. Error: HTTP PATCH \S+ returned code 428\. Ami\.1\.0\.PreconditionHeaderMissing: /,
  },
]

/** Hardware with two disks of a size, of which a volume can be made. */
export const refusalHardware = () => ({
  machines: BMC_REFUSALS.map(({ bmc }) => ({
    bmc,
    disks: [1, 2].map(() => ({ size: '480GB', transport: 'sas', rotational: false })),
  })),
})
