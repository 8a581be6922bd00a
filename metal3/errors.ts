import { defineCatalogue } from '../base/runtime/index.js'

declare module '../base/runtime/error.js' {
  interface ErrorCatalogues {
    metal3: typeof ERRORS
  }
}

/** Error codes of `metal3/`, each with its sentence and usual remedy. */
export const ERRORS = defineCatalogue({
  'ironic-not-ready': {
    sentence: 'Ironic is not ready',
    remedy: 'wait for Ironic to start, or read its log',
  },
})
