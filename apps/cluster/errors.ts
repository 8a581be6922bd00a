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
    remedy: 'see its message: it names the field, or the object that has changed',
  },
  'kube-objects': {
    sentence: 'the objects of the Kubernetes API in the state folder cannot be used',
    remedy: 'restore the file, or keep the readable objects with ironstage state repair',
  },
  'site-unreachable': {
    sentence: 'a disconnected site cannot reach this server',
    remedy: 'mirror the content, and name the mirror',
  },
  'behaviour-unknown': {
    sentence: 'no actor has a behaviour with this name',
    remedy: 'choose one from the list',
  },
  'scenario-file': {
    sentence: 'the scenario file cannot be used',
    remedy: 'docs/rehearse.md describes all keys of a scenario',
  },
  'scenario-unknown': {
    sentence: 'there is no scenario or file with this name',
    remedy: 'list the scenarios with ironstage rehearse upgrade --list',
  },
})
