import { rpmOstreeStatus, type OsDeployment, type Pivot, type RpmOstreeStatus } from './deployments.js'
import type { InstalledSystem } from './installed-system.js'
import { kubeletState } from './pivot.js'

/** The OS on a machine's disk, as a user who is logged in sees it. */
export interface OsReport {
  booted: Pick<OsDeployment, 'version' | 'image'>
  /** Version of the disk image that it was installed from; null where an older state folder does not say it. */
  base: string | null
  /** Update to the cluster's node image; null without one. */
  pivot: Pivot | null
  kubelet: ReturnType<typeof kubeletState>
  /** `rpm-ostree status --json` */
  status: RpmOstreeStatus
}

export function osReport(system: InstalledSystem): OsReport | null {
  const { os } = system
  const tree = system.tree()
  if (!os || !tree) return null
  const { version, image } = os.booted
  return {
    booted: { version, image },
    base: os.base ?? null,
    pivot: os.pivot,
    kubelet: kubeletState(os, tree),
    status: rpmOstreeStatus(os),
  }
}
