import { defineCatalogue } from '../base/runtime/index.js'

declare module '../base/runtime/error.js' {
  interface ErrorCatalogues {
    baremetalOperator: typeof ERRORS
  }
}

/** Error codes of `baremetal-operator/`, each with its sentence and usual remedy. */
export const ERRORS = defineCatalogue({
  'host-secret': {
    sentence: 'a Secret that a host names cannot be read',
    remedy: 'apply the Secret in the namespace of the host, with the key that the message names',
  },
  'ironic-not-ready': {
    sentence: 'Ironic is not ready',
    remedy: 'wait for Ironic to start, or read its log',
  },
  'ironic-object': {
    sentence: 'the object of kind Ironic cannot be used',
    remedy: 'correct what the message names',
  },
  'operator-setting': {
    sentence: 'a setting of BareMetal Operator in the environment cannot be used',
    remedy: 'correct the variable, or unset it',
  },
})
