import { defineCatalogue } from '../base/runtime/index.js'

declare module '../base/runtime/error.js' {
  interface ErrorCatalogues {
    control: typeof ERRORS
  }
}

/** The codes of `control/`, each with the failure that it stands for and its usual remedy. */
export const ERRORS = defineCatalogue({
  'bad-request': {
    sentence: 'the request to the control API is not valid',
    remedy: 'correct what the message names; /_lab/openapi describes all calls',
  },
  fault: {
    sentence: 'the fault is not valid',
    remedy: 'correct what the message names',
  },
  'no-lab': {
    sentence: 'the URL does not belong to an ironstage, so the disks of its machines cannot be found',
    remedy: 'deploy through an ironstage of this version',
  },
})
