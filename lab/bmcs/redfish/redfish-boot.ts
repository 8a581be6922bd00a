import { UserError } from '../../../base/runtime/index.js'
import { BmcError } from '../../../ironic-mock/index.js'
import type { RedfishResource } from './redfish-connection.js'
import { linkIn, objectIn, textIn, textsIn, type RedfishJson } from './redfish-json.js'
import { invalidValue, missingAttribute, type RedfishSystem } from './redfish-system.js'

/** The device of the next boots. */
export interface BootOverride {
  readonly target: 'Cd' | 'Hdd' | 'Pxe' | 'UefiHttp'
  /** False for one boot. */
  readonly isPersistent: boolean
  /** Image of a `UefiHttp` boot. */
  readonly url?: string
}

/** Vendors whose BMCs want all properties of a boot at once (ironic 39.0.0 drivers/modules/redfish/management.py). */
const FULL_REQUEST_VENDORS = ['american megatrends international', 'ami', 'asrockrack', 'redfish_compatible']

/**
 * Sets the boot device. A BMC that takes no lasting override gets one for the next boot (ironic 39.0.0
 * drivers/modules/redfish/management.py _set_boot_device).
 */
export async function setBootOverride(system: RedfishSystem, override: BootOverride): Promise<void> {
  const found = await system.read()
  try {
    await sendOverride(system, found, override)
  } catch (error) {
    if (!override.isPersistent || !(error instanceof BmcError) || error.why !== 'refused') throw error
    await sendOverride(system, await system.read(), { ...override, isPersistent: false })
  }
}

async function sendOverride(
  system: RedfishSystem,
  found: RedfishResource,
  { target: wanted, isPersistent, url }: BootOverride,
): Promise<void> {
  const vendor = vendorOf(system)
  const boot = objectIn(found.document, 'Boot') ?? {}
  const target = offeredTarget(system, found, wanted)
  const enabled = isPersistent ? 'Continuous' : 'Once'
  const wantsAll = FULL_REQUEST_VENDORS.some((each) => vendor.includes(each))
  const sendsEnabled = wantsAll || vendor === 'supermicro' || textIn(boot, 'BootSourceOverrideEnabled') !== enabled
  const change: RedfishJson = { BootSourceOverrideTarget: target }
  if (sendsEnabled) change['BootSourceOverrideEnabled'] = enabled
  if (wantsAll) change['BootSourceOverrideMode'] = textIn(boot, 'BootSourceOverrideMode') ?? 'UEFI'
  await sendBoot(system, found, { change, url: wanted === 'UefiHttp' ? (url ?? null) : null })
}

const vendorOf = ({ options: { node } }: RedfishSystem): string =>
  typeof node.properties.vendor === 'string' ? node.properties.vendor.toLowerCase() : ''

/** The target as the service lists it. Supermicro's CD is a `UsbCd` (sushy 5.14.0 resources/system/system.py). */
function offeredTarget(system: RedfishSystem, { document }: RedfishResource, wanted: BootOverride['target']): string {
  const boot = objectIn(document, 'Boot')
  const allowed = textsIn(boot, 'BootSourceOverrideTarget@Redfish.AllowableValues') ?? []
  if (allowed.length > 0 && !allowed.includes(wanted))
    throw new UserError(
      'bmc-refuses',
      `Redfish exception occurred. Error: Redfish set boot device failed for node ${system.uuid}. Error: ${invalidValue('target', wanted, allowed)}`,
    )
  const isSupermicro = textIn(document, 'Manufacturer')?.toLowerCase() === 'supermicro'
  return isSupermicro && wanted === 'Cd' && allowed.includes('UsbCd') ? 'UsbCd' : wanted
}

/**
 * Sends properties of a boot to the resource that has them: the settings of the system, or the system itself. The URL of an
 * earlier boot is taken away where a resource has one.
 */
export async function sendBoot(
  system: RedfishSystem,
  found: RedfishResource,
  { change, url }: { change: RedfishJson; url?: string | null },
): Promise<void> {
  const settingsPath = linkIn(objectIn(found.document, '@Redfish.Settings'), 'SettingsObject')
  const settings = settingsPath === undefined ? undefined : await system.get(settingsPath)
  const later = objectIn(settings?.document, 'Boot') ?? {}
  const now = objectIn(found.document, 'Boot') ?? {}
  const forSettings: RedfishJson = {}
  const forSystem: RedfishJson = {}
  const placeOf = (name: string): RedfishJson => (name in later ? forSettings : forSystem)
  for (const [name, value] of Object.entries(change)) placeOf(name)[name] = value
  const holder = 'HttpBootUri' in later ? later : 'HttpBootUri' in now ? now : undefined
  if (typeof url === 'string' && !holder) throw missingAttribute('HttpBootUri', found.path)
  if (typeof url === 'string') placeOf('HttpBootUri')['HttpBootUri'] = url
  else if (url === null && holder && holder['HttpBootUri'] !== null) placeOf('HttpBootUri')['HttpBootUri'] = null
  if (settings && Object.keys(forSettings).length > 0) await system.patch(settings, { Boot: forSettings })
  if (Object.keys(forSystem).length > 0) await system.patch(found, { Boot: forSystem })
}
