import { defineCatalogue } from '../runtime/index.js'

declare module '../runtime/error.js' {
  interface ErrorCatalogues {
    kubernetes: typeof ERRORS
  }
}

/** Error codes of `base/kubernetes/`, each with its sentence and usual remedy. */
export const ERRORS = defineCatalogue({
  'behaviour-unknown': {
    sentence: 'no actor has a behaviour with this name',
    remedy: 'choose one from the list',
  },
  'kube-definition': {
    sentence: 'a CustomResourceDefinition in a file cannot be used',
    remedy: 'mend the definition, or leave it out: the message names the field',
  },
  'kube-objects': {
    sentence: 'the objects of the Kubernetes API in the state folder cannot be used',
    remedy: 'restore the file, or keep the readable objects with ironstage state repair',
  },
  'kube-refused': {
    sentence: 'the Kubernetes API refuses the request',
    remedy: 'see its message: it names the field, or the object that has changed',
  },
})
