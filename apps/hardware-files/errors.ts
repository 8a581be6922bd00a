import { defineCatalogue } from '../../base/runtime/index.js'

declare module '../../base/runtime/error.js' {
  interface ErrorCatalogues {
    hardwareFiles: typeof ERRORS
  }
}

/** The codes of `hardware-files/`, each with the failure that it stands for and its usual remedy. */
export const ERRORS = defineCatalogue({
  'hardware-import': {
    sentence: 'the description of a machine cannot be read',
    remedy: 'name an Ironic inventory, a HardwareData or BareMetalHost, or the output of lshw -json',
  },
})
