import type { Behaviour } from '../../../base/kubernetes/index.js'

/** The installer is no actor: it has written the machine sets before any of them acts. */
export const NAMES_NO_IMAGE: Behaviour = {
  name: 'installer/names-no-boot-image',
  stories: { today: 'worker-in-mid-upgrade' },
  says: 'new machines are always installed from the image of the first release: each scale-up pulls and boots twice',
  source: 'openshift/installer PR 5473',
  since: '4.10',
}
