import { writeIso } from '../../base/bytes/index.js'
import { COREOS_SYSTEMS, type CoreosName } from './coreos-name.js'
import { liveTree, type LiveArchitecture, type LiveTree } from './live-tree.js'

/** The files of a small live image. */
export interface SmallLiveImage {
  iso: Buffer
  kernel: Buffer
  initramfs: Buffer
  rootfs: Buffer
}

/** Makes a small live image of a version. Equal input gives equal bytes. */
export function smallLiveImage(options: {
  name: CoreosName
  version: string
  architecture: LiveArchitecture
}): SmallLiveImage {
  const { name, version, architecture } = options
  const label = `${COREOS_SYSTEMS[name].prefix}-${version}`
  const tree = liveTree({ architecture, label, version })
  const file = (path: string): Buffer => tree[`images/pxeboot/${path}`]!
  return {
    iso: liveIso(tree, label),
    kernel: file('vmlinuz'),
    initramfs: file('initrd.img'),
    rootfs: file('rootfs.img'),
  }
}

/** The ISO of a tree, with names as in published ones: of 8 and 3 capitals, and Rock Ridge's beside them. */
export const liveIso = (tree: LiveTree, label: string): Buffer => writeIso(tree, { label, at: 0, plainNames: 'short' })
