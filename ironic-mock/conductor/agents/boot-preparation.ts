import type { MediaDevice, NodeRecord } from '../../../base/wire/index.js'
import type { BootMedia, BootSource } from '../../drivers/bmc.js'
import type { BmcChange, BootMode } from '../../drivers/bmc-hardware.js'
import { bootModeProblem, isSecureBootRequested, requestedBootMode } from '../../drivers/deploy/agent-checks.js'
import { implementationOf } from '../../drivers/hardware-types.js'
import { managementProblem, readsModes } from '../../drivers/management.js'
import type { EffectBody } from '../core/effects.js'
import type { NodeTask } from '../core/node-task.js'

/*
 * Work of boot interfaces around a boot: boot mode, secure boot and virtual media (ironic 39.0.0
 * drivers/modules/redfish/boot.py, pxe_base.py and boot_mode_utils.py). The flows say when.
 */

/** `[deploy]default_boot_mode` */
const DEFAULT_BOOT_MODE: BootMode = 'uefi'

/** Boot interfaces that are Ironic's own; `fake` prepares nothing. */
const preparesBoots = ({ boot_interface }: Readonly<NodeRecord>): boolean =>
  implementationOf('boot', boot_interface) !== undefined

const usesVirtualMedia = ({ boot_interface }: Readonly<NodeRecord>): boolean =>
  implementationOf('boot', boot_interface)?.virtualMedia ?? false

/** Changes of the firmware before a ramdisk boots. */
export const beforeRamdisk = (task: NodeTask): EffectBody[] => syncBootMode(task)

/** Changes of the firmware before the instance boots. */
export const beforeInstance = (task: NodeTask): EffectBody[] => [...syncBootMode(task), ...setSecureBoot(task, true)]

/** Media of the drives during a boot from a source: its own image alone. */
export function mediaFor({ node }: Pick<NodeTask, 'node'>, source: BootSource): { media?: BootMedia } {
  if (!usesVirtualMedia(node)) return {}
  const insert = imageIn(source)
  const eject = ejectedDrives(node)
  return { media: insert === undefined ? { eject } : { eject, insert } }
}

function imageIn(source: BootSource): string | undefined {
  if (source.kind === 'iso') return source.url
  if (source.kind === 'live' && 'iso' in source.image) return source.image.iso
  return undefined
}

/** Ejects what a ramdisk that has ended was booted from; other boot interfaces have nothing in the drives. */
export function cleanUpRamdisk(task: NodeTask): EffectBody[] {
  if (!usesVirtualMedia(task.node)) return []
  const source: BootSource = { kind: 'disk' }
  return [{ kind: 'boot', source, ...mediaFor(task, source) }]
}

/** Ejects the instance's media, also those that a user has attached, and takes back what was set for it. */
export const cleanUpInstance = (task: NodeTask): EffectBody[] => [...cleanUpRamdisk(task), ...unsetSecureBoot(task)]

/** Takes back what was set in the firmware for the instance. */
export const unsetSecureBoot = (task: NodeTask): EffectBody[] => setSecureBoot(task, false)

/** The drives that Ironic empties: the CD always, others where it uses them. */
function ejectedDrives({ driver_info, instance_info, deploy_interface }: Readonly<NodeRecord>): readonly MediaDevice[] {
  const drives: MediaDevice[] = ['cdrom']
  const hasConfigDrive = deploy_interface === 'ramdisk' && (instance_info.configdrive ?? null) !== null
  if (driver_info.config_via_removable || driver_info.config_via_floppy) drives.push('disk', 'floppy')
  else if (hasConfigDrive) drives.push('disk')
  return drives
}

/** Makes the boot mode of node and machine the same; the node's goes first, and is stored where it had none. */
function syncBootMode(task: NodeTask): EffectBody[] {
  const { node } = task
  if (!preparesBoots(node)) return []
  const refusal = refuseBootMode(task)
  if (refusal.length > 0) return refusal
  const requested = requestedBootMode(node)
  if (requested === undefined) {
    task.setInfo({ deploy_boot_mode: (readsModes(node) ? node.boot_mode : null) ?? DEFAULT_BOOT_MODE })
    return []
  }
  // Machines whose BMC does not report a boot mode keep theirs.
  if (!readsModes(node) || node.boot_mode === null || node.boot_mode === requested) return []
  return [bmcChange({ change: 'boot mode', mode: requested === 'bios' ? 'bios' : 'uefi' })]
}

/** Fails where no boot mode follows from the node's record, as Ironic does when it prepares a boot. */
export function refuseBootMode({ node }: NodeTask): EffectBody[] {
  const problem = preparesBoots(node) ? bootModeProblem(node) : undefined
  return problem === undefined ? [] : [{ kind: 'refuse', error: problem }]
}

/** Switches secure boot on or off where the instance asks for it. */
function setSecureBoot(task: NodeTask, on: boolean): EffectBody[] {
  const { node } = task
  if (!preparesBoots(node) || !isSecureBootRequested(node)) return []
  if (managementProblem(node, 'set_secure_boot_state') !== undefined) {
    if (on)
      task.warn(
        `Secure boot was requested for node ${node.uuid} but its management interface ${node.management_interface} does not support it`,
      )
    return []
  }
  return node.secure_boot === on ? [] : [bmcChange({ change: 'secure boot', on })]
}

const bmcChange = (change: BmcChange): EffectBody => ({ kind: 'bmc-change', change })

/** Stores a change of the firmware that a boot needed. */
export function applyBmcChange({ node }: NodeTask, change: BmcChange): void {
  if (change.change === 'boot mode') {
    node.boot_mode = change.mode
    if (change.mode === 'bios') node.secure_boot = false
  }
  if (change.change === 'secure boot') node.secure_boot = change.on
}
