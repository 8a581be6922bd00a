import { defineCatalogue } from '../runtime/index.js'

declare module '../runtime/error.js' {
  interface ErrorCatalogues {
    wire: typeof ERRORS
  }
}

/** The codes of `wire/`, each with the failure that it stands for and its usual remedy. */
export const ERRORS = defineCatalogue({
  'address-unusable': {
    sentence: 'the server cannot listen on the address',
    remedy: 'choose an address of this host and a port that this user may open',
  },
  timeout: {
    sentence: 'the node did not reach the expected state in time',
    remedy: "look at the node's last_error and at its history",
  },
  'tls-identity': {
    sentence: 'certificate and private key cannot be used',
    remedy: 'give a certificate and the private key that belongs to it, both in PEM',
  },
  'unexpected-state': {
    sentence: 'the node ended in another state than the expected one',
    remedy: "look at the node's last_error",
  },
})
