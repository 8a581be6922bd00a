import { catalogue } from '../runtime/index.js'

declare module '../runtime/error.js' {
  interface ErrorCatalogues {
    metal3: typeof ERRORS
  }
}

/** The codes of `metal3/`, each with the failure that it stands for and its usual remedy. */
export const ERRORS = catalogue({
  'ironic-not-ready': {
    sentence: 'Ironic is not ready',
    remedy: 'wait, or look at why it does not start',
  },
})
