import type { Behaviour } from '../../../../base/kubernetes/index.js'

export const EMBEDS_THE_AGENT: Behaviour = {
  name: 'icc/embeds-the-agent',
  story: 'agent-container',
  says: 'hosts boot the unmodified live ISO: no agent starts, and their inspection times out',
}
export const REMAKES_IMAGES: Behaviour = {
  name: 'icc/remakes-images',
  story: 'agent-container',
  says: 'images keep the URLs of the old image service: no host can boot its deploy image',
}
export const ONE_IMAGE_A_HOST: Behaviour = {
  name: 'icc/makes-an-image-for-each-host',
  story: 'own-network',
  says: 'all hosts boot the same image, so none has its own network settings before it is provisioned',
}
