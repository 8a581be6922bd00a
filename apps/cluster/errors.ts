import { defineCatalogue } from '../../base/runtime/index.js'

declare module '../../base/runtime/error.js' {
  interface ErrorCatalogues {
    cluster: typeof ERRORS
  }
}

/** Error codes of `cluster/`, each with its sentence and usual remedy. */
export const ERRORS = defineCatalogue({
  'site-unreachable': {
    sentence: 'a disconnected site does not reach this place',
    remedy: 'mirror what is needed, and name the mirror',
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
