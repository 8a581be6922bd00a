import { catalogue } from '../../../runtime/index.js'

declare module '../../../runtime/error.js' {
  interface ErrorCatalogues {
    clusterKit: typeof ERRORS
  }
}

export const ERRORS = catalogue({
  'no-live-images': {
    sentence: 'the conductor waits for live images, and no image service is configured',
    remedy: 'configure an image service',
  },
  'images-unreachable': {
    sentence: 'the image service does not give a live ISO',
    remedy: 'start the image service, with the images of the release, before Ironic',
  },
  'images-outdated': {
    sentence: 'the image service has older images than the release wants',
    remedy: 'update the image service before Ironic',
  },
})
