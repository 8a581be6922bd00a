import type { Behaviour } from '../../../../base/kubernetes/index.js'

export const EMBEDS_THE_AGENT: Behaviour = {
  name: 'icc/embeds-the-agent',
  story: 'agent-container',
  says: 'hosts boot the live ISO as it is published: no agent starts, and their inspection fails after its time limit',
}
export const REMAKES_IMAGES: Behaviour = {
  name: 'icc/remakes-images',
  story: 'agent-container',
  says: 'images keep the URLs that the image service had before its update: no host can boot its deploy image any more',
}
export const ONE_IMAGE_A_HOST: Behaviour = {
  name: 'icc/makes-an-image-for-each-host',
  story: 'own-network',
  says: 'all hosts boot one image, so that none has network settings of its own before it is provisioned',
}
