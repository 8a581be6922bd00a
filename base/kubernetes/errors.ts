import { defineCatalogue } from '../runtime/index.js'

declare module '../runtime/error.js' {
  interface ErrorCatalogues {
    kubernetes: typeof ERRORS
  }
}

/** Error codes of `base/kubernetes/`, each with its sentence and usual remedy. */
export const ERRORS = defineCatalogue({
  'behaviour-unknown': {
    sentence: 'no actor has a behaviour of this name',
    remedy: 'name one of the list',
  },
  'kube-objects': {
    sentence: 'the objects of the Kubernetes API in the state folder cannot be used',
    remedy: 'put the file back, or keep what can be read with ironstage state repair',
  },
  'kube-refused': {
    sentence: 'the Kubernetes API refuses the request',
    remedy: 'read its message: it names the field, or the object that has changed meanwhile',
  },
})
