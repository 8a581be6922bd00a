import { UserError } from '../../../base/runtime/index.js'
import type { BmcChange } from '../../../ironic-mock/index.js'
import { sendBoot } from './redfish-boot.js'
import { setIndicatorState } from './redfish-indicators.js'
import { linkIn, objectIn, textIn } from './redfish-json.js'
import { ejectMedia, insertMedia } from './redfish-media.js'
import { resetSystem } from './redfish-power.js'
import { missingAction, missingAttribute, type RedfishSystem } from './redfish-system.js'
import { awaitTask } from './redfish-tasks.js'
import { replaceVolumes } from './redfish-volumes.js'

/** Carries out a change of a machine through its Redfish service. */
export async function changeByRedfish(system: RedfishSystem, change: BmcChange): Promise<void> {
  switch (change.change) {
    case 'boot mode':
      return setBootMode(system, change.mode)
    case 'secure boot':
      return setSecureBoot(system, change.on)
    case 'bios':
      return setBios(system, change.settings)
    case 'bios defaults':
      return resetBios(system)
    case 'firmware':
      return updateFirmware(system, change.url)
    case 'insert media':
      return insertMedia(system, change.device, change.url)
    case 'eject media':
      for (const device of change.devices ?? [null]) await ejectMedia(system, device)
      return
    case 'indicator':
      return setIndicatorState(system, change)
    case 'volumes':
      return replaceVolumes(system, change.volumes)
    case 'nmi':
      return resetSystem(system, await system.read(), 'Nmi', 'Redfish inject NMI')
    case 'reset bmc':
      return resetManager(system, change.warm)
    case 'raw':
      throw new UserError('bmc-refuses', 'a BMC takes raw bytes by IPMI alone')
  }
}

/** A BMC that shows no mode takes none (ironic 39.0.0 drivers/modules/redfish/management.py set_boot_mode). */
async function setBootMode(system: RedfishSystem, mode: 'uefi' | 'bios'): Promise<void> {
  const found = await system.read()
  if (textIn(objectIn(found.document, 'Boot'), 'BootSourceOverrideMode') === undefined)
    throw new UserError(
      'bmc-refuses',
      `Driver ${system.options.node.driver} does not support set_boot_mode (disabled or not implemented).`,
    )
  await sendBoot(system, found, { change: { BootSourceOverrideMode: mode === 'uefi' ? 'UEFI' : 'Legacy' } })
}

async function setSecureBoot(system: RedfishSystem, on: boolean): Promise<void> {
  const { document, path } = await system.read()
  const link = linkIn(document, 'SecureBoot')
  if (link === undefined) throw missingAttribute('SecureBoot/@odata.id', path)
  await system.patch(await system.get(link), { SecureBootEnable: on })
}

async function readBios(system: RedfishSystem) {
  const { document, path } = await system.read()
  const link = linkIn(document, 'Bios')
  if (link === undefined) throw missingAttribute('Bios/@odata.id', path)
  return system.get(link)
}

/** Settings go to the settings object with a time where it lists one (sushy 5.14.0 resources/system/bios.py). */
async function setBios(
  system: RedfishSystem,
  settings: Readonly<Record<string, string | number | boolean>>,
): Promise<void> {
  const bios = await readBios(system)
  const later = objectIn(bios.document, '@Redfish.Settings')
  const path = linkIn(later, 'SettingsObject')
  const target = path === undefined ? bios : await system.get(path)
  const times = later?.['SupportedApplyTimes']
  const isTimed = Array.isArray(times) && times.includes('OnReset')
  await system.patch(target, {
    Attributes: settings,
    ...(isTimed ? { '@Redfish.SettingsApplyTime': { ApplyTime: 'OnReset' } } : {}),
  })
}

async function resetBios(system: RedfishSystem): Promise<void> {
  const { document, path } = await readBios(system)
  const target = textIn(objectIn(objectIn(document, 'Actions'), '#Bios.ResetBios'), 'target')
  if (target === undefined) throw missingAction('#Bios.ResetBios', path)
  await system.connection.post(target, {}, system.options.signal)
}

/** Names the system that is meant, for a service of several (ironic 39.0.0 drivers/modules/redfish/firmware.py). */
async function updateFirmware(system: RedfishSystem, url: string): Promise<void> {
  const { connection, options } = system
  const link = linkIn(await connection.root(), 'UpdateService')
  if (link === undefined) throw missingAttribute('UpdateService/@odata.id', connection.account.root)
  const { document } = await system.get(link)
  const target = textIn(objectIn(objectIn(document, 'Actions'), '#UpdateService.SimpleUpdate'), 'target')
  if (target === undefined) throw missingAction('#UpdateService.SimpleUpdate', link)
  const { path } = await system.read()
  const several = (await system.countSystems()) > 1
  const wanted = several ? { ImageURI: url, Targets: [path] } : { ImageURI: url }
  await awaitTask(system, await connection.post(target, wanted, options.signal))
}

async function resetManager(system: RedfishSystem, isWarm: boolean): Promise<void> {
  const found = await system.read()
  const [manager] = await system.managers(found)
  const target = textIn(objectIn(objectIn(manager?.document, 'Actions'), '#Manager.Reset'), 'target')
  if (target === undefined) throw missingAction('#Manager.Reset', manager?.path ?? found.path)
  const type = isWarm ? 'GracefulRestart' : 'ForceRestart'
  await system.connection.post(target, { ResetType: type }, system.options.signal)
}
