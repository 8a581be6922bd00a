import { defineCatalogue } from '../../base/runtime/index.js'

declare module '../../base/runtime/error.js' {
  interface ErrorCatalogues {
    dialects: typeof ERRORS
  }
}

/** The codes of `bmc/dialects/`, each with the failure that it stands for and its usual remedy. */
export const ERRORS = defineCatalogue({
  'bmc-dialect': {
    sentence: 'the description of a BMC has a mistake, or there is none of this name',
    remedy: 'docs/bmc-dialects.md lists the names, the keys and their values',
  },
})
