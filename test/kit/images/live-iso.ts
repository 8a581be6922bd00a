import { defined } from '../../../base/runtime/index.js'
import { liveIso, liveIsoKargs, liveTree, smallInitramfs } from '../../../coreos/index.js'
import type { LiveArchitecture, LiveTree } from '../../../coreos/index.js'

export type { LiveArchitecture, LiveTree as LiveFiles }

/** The live ISO that comes with ironstage. */
const LABEL = 'fake-coreos-99'
export const LIVE_KARGS = liveIsoKargs(LABEL)

/** An initramfs of a live system. */
export const liveInitramfs = (features?: object | null): Buffer =>
  smallInitramfs({ version: '99', ...defined({ features }) })

/** Files of a live ISO of an architecture, by their paths before ISO 9660 shortens and capitalises them. */
export const liveFiles = (
  architecture: LiveArchitecture = 'x86_64',
  { features, size }: { features?: object | null; size?: number } = {},
): LiveTree =>
  liveTree({
    architecture,
    label: LABEL,
    version: '99',
    ...defined({ features, kargsSize: size }),
  })

export const isoImage = (files: LiveTree, volume = LABEL): Buffer => liveIso(files, volume)
