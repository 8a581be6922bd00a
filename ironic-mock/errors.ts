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
    sentence: 'the file with the users of the API cannot be read',
    remedy: 'make it with htpasswd -B -c FILE USER',
  },
  'ironic-config': {
    sentence: 'the configuration of Ironic is not valid',
    remedy: 'correct the option that the message names',
  },
})
