import type { BootOption, BootOverride, BootSettings } from '../hardware/boot-override.js'
import type { MachineFirmware } from '../hardware/machine-firmware.js'
import type { LiveMedium } from '../live/live-boot.js'
import type { RemovableMedium } from '../live/removable-parameters.js'

/** One device that the firmware tries. */
export type BootAttempt =
  | { kind: 'disk' }
  | { kind: 'medium'; from: 'virtual CD' | 'virtual USB stick' | 'HTTP boot'; medium: LiveMedium & { kind: 'iso' } }
  /** The NIC with this name. */
  | { kind: 'network'; nic: string | null }
  | { kind: 'setup'; what: string }

/**
 * The devices that a boot tries, in order: the one of the override, then those of the boot order. Drives without a medium
 * are left out, and so is a further try of the disks: the first one looks at all of them.
 */
export function bootAttempts(override: BootOverride | undefined, firmware: MachineFirmware): BootAttempt[] {
  const { boot } = firmware
  const options = new Map(boot.options().map((option) => [option.reference, option]))
  const attempts: BootAttempt[] = override ? ofOverride(override, boot, firmware) : []
  for (const reference of boot.order) {
    const option = options.get(reference)
    if (option) attempts.push(...ofOption(option, firmware))
  }
  const seen = new Set<string>()
  return attempts.filter((attempt) => {
    const key = JSON.stringify(attempt)
    return seen.size !== seen.add(key).size
  })
}

function ofOverride(override: BootOverride, boot: BootSettings, firmware: MachineFirmware): BootAttempt[] {
  const { target, httpBootUri, uefiTarget } = override
  switch (target) {
    case 'None':
      return []
    case 'BiosSetup':
      return [{ kind: 'setup', what: 'the firmware setup' }]
    case 'Diags':
      return [{ kind: 'setup', what: 'the diagnostics' }]
    case 'UefiHttp':
      // Without a URL DHCP names what to boot.
      return httpBootUri === null
        ? [{ kind: 'network', nic: null }]
        : [{ kind: 'medium', from: 'HTTP boot', medium: { kind: 'iso', url: httpBootUri } }]
    case 'UefiTarget': {
      const named = boot.options().find(({ reference, path }) => [reference, path].includes(uefiTarget ?? ''))
      return named ? ofOption(named, firmware) : []
    }
    case 'Pxe':
      return [{ kind: 'network', nic: null }]
    case 'Hdd':
      return [{ kind: 'disk' }]
    case 'Floppy':
      return []
    case 'Cd':
      return ofDrive('virtual CD', firmware)
    case 'Usb':
      return [...ofDrive('virtual USB stick', firmware), ...ofDrive('virtual CD', firmware)]
  }
}

function ofOption({ target, device }: BootOption, firmware: MachineFirmware): BootAttempt[] {
  switch (target) {
    case 'Hdd':
      return [{ kind: 'disk' }]
    case 'Cd':
      return ofDrive('virtual CD', firmware)
    case 'Usb':
      return ofDrive('virtual USB stick', firmware)
    case 'Pxe':
      return [{ kind: 'network', nic: device }]
    default:
      return []
  }
}

const DRIVES = { 'virtual CD': 'cdrom', 'virtual USB stick': 'disk', 'virtual floppy': 'floppy' } as const

function ofDrive(from: 'virtual CD' | 'virtual USB stick', firmware: MachineFirmware): BootAttempt[] {
  const medium = mediumIn(from, firmware)
  return medium ? [{ kind: 'medium', from, medium: { kind: 'iso', ...medium } }] : []
}

function mediumIn(drive: keyof typeof DRIVES, firmware: MachineFirmware) {
  const url = firmware.inserted(DRIVES[drive])
  if (url === undefined) return undefined
  const { username, password } = firmware.mediaOptions(DRIVES[drive])
  const { verify, certificates } = firmware.mediaTrust(DRIVES[drive])
  return {
    url,
    ...(username === undefined ? {} : { credentials: { username, password: password ?? '' } }),
    ...(verify ? { verifiedBy: certificates.map(({ pem }) => pem) } : {}),
  }
}

/** Removable media other than the boot medium, in the order in which Ironic picks a drive for them. */
export const removableMedia = (firmware: MachineFirmware): RemovableMedium[] =>
  (['virtual USB stick', 'virtual floppy'] as const).flatMap((name) => {
    const medium = mediumIn(name, firmware)
    return medium ? [{ name, ...medium }] : []
  })
