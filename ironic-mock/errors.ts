import { defineCatalogue } from '../base/runtime/index.js'

declare module '../base/runtime/error.js' {
  interface ErrorCatalogues {
    'ironic-mock': typeof ERRORS
  }
}

/** The codes of `ironic-mock/`, each with the failure that it stands for and its usual remedy. */
export const ERRORS = defineCatalogue({
  'conductor-stopped': {
    sentence: 'the conductor has been stopped',
    remedy: 'start it again',
  },
  htpasswd: {
    sentence: 'the htpasswd file with the API users cannot be read',
    remedy: 'create it with htpasswd -B -c FILE USER',
  },
  'ironic-config': {
    sentence: 'the Ironic configuration is not valid',
    remedy: 'correct the option that the message names',
  },
  'member-name': {
    sentence: 'two processes of one database have the same name',
    remedy: 'give each a name of its own',
  },
  'shared-database': {
    sentence: 'a database that several processes share does not allow that',
    remedy: 'start a lab of its own, without --database',
  },
})
