import { catalogue } from '../../../runtime/index.js'

declare module '../../../runtime/error.js' {
  interface ErrorCatalogues {
    cluster: typeof ERRORS
  }
}

export const ERRORS = catalogue({
  'boot-image-withheld': {
    sentence: 'the boot image is newer than the cluster',
    remedy: 'complete the upgrade of the cluster first',
  },
  'no-upgrade': { sentence: 'no upgrade is under way', remedy: 'begin one' },
  'upgrade-under-way': { sentence: 'an upgrade is under way', remedy: 'complete it first' },
})
