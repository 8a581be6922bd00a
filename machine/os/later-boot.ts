import type { Clock } from '../../base/runtime/index.js'
import type { Bootable } from '../boot/bootable.js'
import { withBootPlace } from '../disk/boot-place.js'
import { deployFiles, titleOf } from './deployments.js'
import type { InstalledSystem } from './installed-system.js'
import { addEntry } from './loader-entries.js'
import { pullNodeImage, type PivotParts } from './pivot.js'

/** A boot after the first. A staged deployment whose entry was booted becomes the booted one, the former one the rollback. */
export function laterBoot({ device, title }: Bootable, system: InstalledSystem, clock: Clock): void {
  const { os } = system
  const staged = os?.staged
  if (!staged || !system.tree(device.name)) return
  if (title !== titleOf(staged)) {
    // Power was lost before its boot entry was written: it is pulled again, mostly from layers that are there.
    const pivot = os.pivot?.state === 'staged' ? { ...os.pivot, state: 'pulling' as const } : os.pivot
    system.keepOs({ ...os, staged: null, pivot })
    return
  }
  system.edit((tree) => deployFiles(tree, os.booted, staged))
  const pivot = os.pivot && { ...os.pivot, state: 'done' as const }
  system.keepOs({ ...os, booted: staged, staged: null, rollback: os.booted, pivot })
  system.print({ at: clock.now(), from: 'systemd[1]', priority: 'info', message: `Booted ${titleOf(staged)}` })
}

/**
 * Pulls and stages the cluster's node image and writes its boot entry.
 *
 * @returns whether the machine is to be rebooted: not when its disk image was of the very same build
 */
export async function runNodeImage({ device, bootPlace }: Bootable, parts: PivotParts): Promise<boolean> {
  const { system, clock, signal } = parts
  // An earlier process may have been killed after the pull and before the reboot.
  if (system.os?.pivot?.state === 'pulling') await pullNodeImage(parts)
  signal.throwIfAborted()
  if (system.os?.pivot?.state === 'done') return false
  await withBootPlace(device, bootPlace, clock, (volume) => addEntry(volume, titleOf(system.os!.staged!)))
  await device.flush()
  const message = 'initiating reboot: completing firstboot provisioning'
  system.print({ at: clock.now(), from: 'machine-config-daemon[1402]', priority: 'info', message })
  return true
}
