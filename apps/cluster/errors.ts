import { defineCatalogue } from '../../base/runtime/index.js'

declare module '../../base/runtime/error.js' {
  interface ErrorCatalogues {
    cluster: typeof ERRORS
  }
}

/** Error codes of `cluster/`, each with its sentence and usual remedy. */
export const ERRORS = defineCatalogue({
  'kube-refused': {
    sentence: 'the Kubernetes API refuses the request',
    remedy: 'read its message: it names the field, or the object that has changed meanwhile',
  },
  'kube-objects': {
    sentence: 'the objects of the Kubernetes API in the state folder cannot be used',
    remedy: 'put the file back, or keep what can be read with ironstage state repair',
  },
  'site-unreachable': {
    sentence: 'a disconnected site does not reach this place',
    remedy: 'mirror what is needed, and name the mirror',
  },
  'behaviour-unknown': {
    sentence: 'no actor has a behaviour of this name',
    remedy: 'name one of the list',
  },
  'scenario-file': {
    sentence: 'the scenario file cannot be used',
    remedy: 'docs/rehearse.md has all keys of a scenario, and an example',
  },
  'scenario-unknown': {
    sentence: 'there is no scenario and no file of this name',
    remedy: 'ironstage rehearse upgrade --list shows the scenarios',
  },
})
