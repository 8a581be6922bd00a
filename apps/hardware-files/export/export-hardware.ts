import { stringify } from 'yaml'
import { hardwareDetails } from '../../../baremetal-operator/index.js'
import type { MachineReport } from '../../../control/index.js'
import { hardwareText } from '../hardware-text.js'
import { exportedInventory } from './exported-inventory.js'
import { reportedHardware, reportedSpec } from './reported-spec.js'

type HardwareExporter = (report: MachineReport) => Promise<string>

/** Forms of the description of a lab's machine, by their names in `hardware export --format`. */
export const EXPORT_FORMATS = {
  hardware: async (report) =>
    hardwareText([{ hardware: reportedHardware(report) }], `Machine ${report.id}; docs/hardware.md explains the keys`),
  'ironic-inventory': async (report) => {
    const exported = await exportedInventory(reportedSpec(report))
    return `${JSON.stringify(exported, null, 2)}\n`
  },
  'hardware-data': async (report) => {
    const exported = await exportedInventory(reportedSpec(report))
    const object = {
      apiVersion: 'metal3.io/v1alpha1',
      kind: 'HardwareData',
      metadata: { name: objectName(report.id) },
      spec: { hardware: hardwareDetails({ ...exported }) },
    }
    return stringify(object, { aliasDuplicateObjects: false, lineWidth: 0 })
  },
} as const satisfies Record<string, HardwareExporter>

export type ExportFormat = keyof typeof EXPORT_FORMATS

/** A name that Kubernetes takes (RFC 1123). */
const objectName = (id: string): string =>
  id
    .toLowerCase()
    .replaceAll(/[^a-z0-9.-]+/g, '-')
    .replaceAll(/^[.-]+|[.-]+$/g, '') || 'machine'
