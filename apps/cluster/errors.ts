import { defineCatalogue } from '../../base/runtime/index.js'

declare module '../../base/runtime/error.js' {
  interface ErrorCatalogues {
    cluster: typeof ERRORS
  }
}

/** Error codes of `cluster/`, each with its sentence and usual remedy. */
export const ERRORS = defineCatalogue({
  'cluster-folder': {
    sentence: 'the folder of --cluster cannot be used',
    remedy: 'name an unpacked must-gather, or a folder with outputs of oc get -o yaml',
  },
  'cluster-target': {
    sentence: 'the cluster of --cluster cannot go to the release of --to',
    remedy: 'name a newer release: a version, a pull specification or an OCI layout',
  },
  'site-unreachable': {
    sentence: 'a disconnected site cannot reach this server',
    remedy: 'mirror the content, and name the mirror',
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
