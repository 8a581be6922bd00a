import { dialectOf } from '../../bmc/dialects/index.js'
import type { InstalledFirmware } from './firmware-state.js'
import type { MachineSpec } from '../machine-spec.js'
import { isDell } from './vendors.js'

const nicNames = ({ nics, serial }: Pick<MachineSpec, 'nics' | 'serial'>): string[] =>
  nics.map((_, index) => `NIC-${serial}-${index + 1}`)

/** The names of a machine's firmware components, without their versions: of ten thousand machines they are read together. */
export const firmwareComponents = (spec: MachineSpec): string[] => [
  'bios',
  'bmc',
  ...nicNames(spec).map((nic) => `nic:${nic}`),
]

/**
 * The components in the order of {@link firmwareComponents}.
 *
 * @param flashed versions by component, where they are not the factory's
 */
export function firmwareVersions(spec: MachineSpec, flashed: Readonly<Record<string, string>>): InstalledFirmware[] {
  const { manufacturer, product } = spec
  const { versions } = dialectOf(spec)
  const component = (name: string, version: string, more: Partial<InstalledFirmware> = {}): InstalledFirmware => ({
    component: name,
    version: flashed[name] ?? version,
    vendor: null,
    model: null,
    serial: null,
    ...more,
  })
  return [
    component('bios', versions.bios ?? '1.0.0'),
    isDell(spec)
      ? component('bmc', versions.bmc ?? '7.10.30.00', { model: '16G Monolithic' })
      : component('bmc', versions.bmc ?? '2.0.0', { model: `${product} BMC` }),
    ...nicNames(spec).map((serial) =>
      component(`nic:${serial}`, '3.0.0', { vendor: manufacturer, model: 'Simulated NIC', serial }),
    ),
  ]
}
