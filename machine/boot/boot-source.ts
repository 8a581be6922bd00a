import type { BootOverride } from '../hardware/boot-override.js'
import type { MachineBootSource } from '../machine-spec.js'

/** The source of a boot: the one that the BMC's override names, or else the one that was set. */
export function chooseBootSource(override: BootOverride | undefined, set: MachineBootSource): MachineBootSource {
  if (set.kind === 'boot order') return override ? { ...set, override } : set
  switch (override?.target) {
    case 'Cd':
    case 'Usb':
      return { kind: 'cdrom' }
    case 'Hdd':
      return { kind: 'disk' }
    case 'UefiHttp':
      return override.httpBootUri === null ? set : { kind: 'iso', url: override.httpBootUri }
    default:
      return set
  }
}
