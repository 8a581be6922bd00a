import type { Behaviour } from '../../../../base/kubernetes/index.js'

export const EMBEDS_THE_AGENT: Behaviour = {
  name: 'icc/embeds-the-agent',
  stories: { today: 'agent-container', document: 'agent-container' },
  says: 'hosts boot the unmodified live ISO: no agent starts, and their inspection times out',
  source: 'image-customization-controller eacc65f pkg/ignition/builder.go GenerateConfig',
  since: '4.10',
}
export const REMAKES_IMAGES: Behaviour = {
  name: 'icc/remakes-images',
  stories: { today: 'ironic-after-images', document: 'agent-container' },
  says: 'images keep the URLs of the old image service: no host can boot its deploy image',
  source: 'image-customization-controller eacc65f pkg/imagehandler/imagehandler.go getNameForKey',
  since: '4.10',
}
export const ONE_IMAGE_A_HOST: Behaviour = {
  name: 'icc/makes-an-image-for-each-host',
  stories: { today: 'own-network', document: 'own-network' },
  says: 'all hosts boot the same image, so none has its own network settings before it is provisioned',
  source: 'image-customization-controller eacc65f pkg/imageprovider/rhcos.go BuildImage',
  since: '4.10',
}
export const IMAGES_BY_STREAM: Behaviour = {
  name: 'icc/makes-images-by-stream',
  stories: { today: 'host-stream' },
  says: 'all hosts boot the default stream, whatever they are labelled with: hardware of RHEL 10 alone is never inspected',
  source: 'image-customization-controller pkg/imageprovider/rhcos.go streamFromImageData, newer than eacc65f',
}
