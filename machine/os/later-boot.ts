import type { Clock } from '../../runtime/index.js'
import type { Bootable } from '../boot/bootable.js'
import { withBootVolume } from '../disk/boot-volume.js'
import { deployFiles, type OsDeployment } from './deployments.js'
import type { InstalledSystem } from './installed-system.js'
import { addEntry } from './loader-entries.js'
import { pullNodeImage, type PivotParts } from './pivot.js'

const titleOf = ({ version }: OsDeployment): string => `CoreOS node ${version} (ostree:0)`

/** Any boot but the first: what was staged runs, where the boot loader's entry says so, and what ran is what to go back to. */
export function laterBoot({ device, title }: Bootable, system: InstalledSystem, clock: Clock): void {
  const { os } = system
  const tree = system.tree(device.name)
  if (!os || !tree) return
  if (!os.staged) return
  if (title !== titleOf(os.staged)) {
    // Power went before it could be made the one to boot: it is pulled once more, mostly from what is there.
    system.keepOs({ ...os, staged: null, pivot: os.pivot && { ...os.pivot, state: 'pulling' } })
    return
  }
  deployFiles(tree, os.booted, os.staged)
  system.keepTree(device.name, tree)
  const pivot = os.pivot && { ...os.pivot, state: 'done' as const }
  system.keepOs({ ...os, booted: os.staged, staged: null, rollback: os.booted, pivot })
  system.print({ at: clock.now(), from: 'systemd[1]', priority: 'info', message: `Booted ${titleOf(os.staged)}` })
}

/** Becomes the node image that the cluster wants: pulled, staged, and made the one to boot. What is left is the reboot. */
export async function runNodeImage({ device, bootOffset }: Bootable, parts: PivotParts): Promise<void> {
  const { system, clock, signal } = parts
  // An earlier process may have been killed between here and the reboot.
  if (system.os?.pivot?.state === 'pulling') await pullNodeImage(parts)
  signal.throwIfAborted()
  await withBootVolume(device, bootOffset, clock, (volume) => addEntry(volume, titleOf(system.os!.staged!)))
  await device.flush()
  const message = 'initiating reboot: completing firstboot provisioning'
  system.print({ at: clock.now(), from: 'machine-config-daemon[1402]', priority: 'info', message })
}
