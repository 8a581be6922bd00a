import { defineCatalogue } from '../../base/runtime/index.js'

declare module '../../base/runtime/error.js' {
  interface ErrorCatalogues {
    dumps: typeof ERRORS
  }
}

/** The codes of `bmc/dumps/`, each with the failure that it stands for and its usual remedy. */
export const ERRORS = defineCatalogue({
  'bmc-dump': {
    sentence: "a dump of a BMC's Redfish service cannot be read, or is not whole",
    remedy: 'name the folder or the zip that Redfish-Mockup-Creator or ironstage bmc dump has written',
  },
})
