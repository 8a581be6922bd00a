import { defined } from '../../base/runtime/index.js'
import type { BootOption, BootOverride } from '../hardware/boot-override.js'
import type { MachineFirmware } from '../hardware/machine-firmware.js'
import type { LiveMedium } from '../live/live-boot.js'
import type { RemovableMedium } from '../live/removable-parameters.js'
import type { Machine } from '../machine.js'
import type { NicSpec } from '../machine-spec.js'

/** One device that the firmware tries. */
export type BootAttempt =
  | { kind: 'disk' }
  | { kind: 'medium'; from: 'virtual CD' | 'virtual USB stick' | 'HTTP boot'; medium: LiveMedium & { kind: 'iso' } }
  /** The boot script that DHCP names, by the NIC with this name. */
  | { kind: 'network'; nic: string; bootScript: string }
  | { kind: 'setup'; what: string }
  /** The device that the BMC was asked for, which has nothing to boot. */
  | { kind: 'nothing'; from: string; why: string }

interface BootParts {
  firmware: MachineFirmware
  nics: readonly NicSpec[]
  /** URL of the medium for HTTP boot; null to ask DHCP for what to boot. */
  httpBootUri: string | null
  bootScript: string | undefined
}

/**
 * The devices that a boot tries, in order: the one of the override, then those of the boot order. Each is tried once, and
 * the disks are one device: a try looks at all of them. A device of the boot order that has nothing to boot is left out.
 *
 * @param bootScript URL of the boot script that the network's DHCP server names; undefined without a server
 */
export function bootAttempts(
  override: BootOverride | undefined,
  { firmware, spec: { nics } }: Pick<Machine, 'firmware' | 'spec'>,
  bootScript: string | undefined,
): BootAttempt[] {
  const { boot } = firmware
  const parts = { firmware, nics, httpBootUri: (override ?? boot.override).httpBootUri, bootScript }
  const options = new Map(boot.options().map((option) => [option.reference, option]))
  const attempts: BootAttempt[] = override ? ofOverride(override, parts) : []
  for (const reference of boot.order) {
    const option = options.get(reference)
    if (option) attempts.push(...ofOption(option, parts))
  }
  const seen = new Set<string>()
  return attempts.filter((attempt) => {
    const key = JSON.stringify(attempt)
    return seen.size !== seen.add(key).size
  })
}

function ofOverride({ target, uefiTarget }: BootOverride, parts: BootParts): BootAttempt[] {
  const { firmware, nics } = parts
  switch (target) {
    case 'None':
      return []
    case 'BiosSetup':
      return [{ kind: 'setup', what: 'the firmware setup' }]
    case 'Diags':
      return [{ kind: 'setup', what: 'the diagnostics' }]
    case 'UefiTarget': {
      const named = firmware.boot.options().find(({ reference, path }) => [reference, path].includes(uefiTarget ?? ''))
      const why = uefiTarget === null ? 'no boot option is named' : `the machine has no boot option ${uefiTarget}`
      if (!named) return [{ kind: 'nothing', from: 'UEFI target', why }]
      return orNothing(ofOption(named, parts), named.target, parts)
    }
    case 'Pxe':
    case 'UefiHttp': {
      const booting = nics.filter(({ pxe }) => pxe)
      return orNothing(
        booting.flatMap(({ name }) => ofNic(target, name, parts)),
        target,
        parts,
      )
    }
    case 'Hdd':
      return [{ kind: 'disk' }]
    case 'Floppy':
      return orNothing([], target, parts)
    case 'Cd':
      return orNothing(ofDrive('virtual CD', firmware), target, parts)
    case 'Usb':
      return orNothing([...ofDrive('virtual USB stick', firmware), ...ofDrive('virtual CD', firmware)], target, parts)
  }
}

type DeviceTarget = BootOption['target'] | 'Floppy'

/** The attempts, or the reason why there is none for the device that the BMC was asked for. */
const orNothing = (attempts: BootAttempt[], target: DeviceTarget, parts: BootParts): BootAttempt[] =>
  attempts.length > 0 ? attempts : [{ kind: 'nothing', ...whyNothing(target, parts) }]

function whyNothing(target: DeviceTarget, { firmware, nics }: BootParts): { from: string; why: string } {
  const noServer = 'no boot server is configured (--ipxe-url)'
  const noNic = nics.some(({ pxe }) => pxe) ? undefined : 'network boot is enabled on no NIC'
  switch (target) {
    case 'Hdd':
      return { from: 'disk', why: 'no bootable system' }
    case 'Cd':
      return { from: 'virtual CD', why: 'no medium is inserted' }
    case 'Usb':
      return { from: 'virtual USB stick', why: 'no medium is inserted' }
    case 'Floppy':
      return {
        from: 'virtual floppy',
        why: firmware.inserted('floppy') === undefined ? 'no medium is inserted' : 'the medium has no bootable system',
      }
    case 'Pxe':
      return { from: 'PXE', why: noNic ?? noServer }
    case 'UefiHttp':
      if (firmware.bootMode === 'bios') return { from: 'HTTP boot', why: 'the boot mode is BIOS' }
      return { from: 'HTTP boot', why: noNic ?? `HttpBootUri is not set, and ${noServer}` }
  }
}

function ofOption({ target, device }: BootOption, parts: BootParts): BootAttempt[] {
  switch (target) {
    case 'Hdd':
      return [{ kind: 'disk' }]
    case 'Cd':
      return ofDrive('virtual CD', parts.firmware)
    case 'Usb':
      return ofDrive('virtual USB stick', parts.firmware)
    case 'Pxe':
    case 'UefiHttp':
      return ofNic(target, device!, parts)
  }
}

function ofNic(target: 'Pxe' | 'UefiHttp', nic: string, parts: BootParts): BootAttempt[] {
  const { firmware, httpBootUri, bootScript } = parts
  if (target === 'UefiHttp' && firmware.bootMode === 'bios') return []
  if (target === 'UefiHttp' && httpBootUri !== null)
    return [{ kind: 'medium', from: 'HTTP boot', medium: { kind: 'iso', url: httpBootUri } }]
  return bootScript === undefined ? [] : [{ kind: 'network', nic, bootScript }]
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
    ...defined({
      credentials: username === undefined ? undefined : { username, password: password ?? '' },
      verifiedBy: verify ? certificates.map(({ pem }) => pem) : undefined,
    }),
  }
}

/** Removable media other than the boot medium, in the order in which Ironic picks a drive for them. */
export const removableMedia = (firmware: MachineFirmware): RemovableMedium[] =>
  (['virtual USB stick', 'virtual floppy'] as const).flatMap((name) => {
    const medium = mediumIn(name, firmware)
    return medium ? [{ name, ...medium }] : []
  })
