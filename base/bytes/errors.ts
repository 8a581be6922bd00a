import { defineCatalogue } from '../runtime/index.js'

declare module '../runtime/error.js' {
  interface ErrorCatalogues {
    bytes: typeof ERRORS
  }
}

/** The codes of `bytes/`, each with the failure that it stands for and its usual remedy. */
export const ERRORS = defineCatalogue({
  'compressed-data': {
    sentence: 'compressed data is damaged or cut short',
    remedy: 'download the file again and compare its checksum',
  },
  'file-format': {
    sentence: 'a file does not have the expected format',
    remedy: 'use a file in the format that the message names',
  },
  'foreign-page': {
    sentence: 'a web page from another server has called an ironstage server',
    remedy: "open the lab's own dashboard at the URL that ironstage prints",
  },
  'image-server': {
    sentence: 'images cannot be served on this address',
    remedy: 'choose another address or port; 0 picks a free port',
  },
  'port-in-use': {
    sentence: 'another program is listening on the port',
    remedy: 'stop it, choose another port, or use port 0 to pick a free one',
  },
  'unknown-host': {
    sentence: 'a server was called by an unknown host name',
    remedy: 'use its IP address or localhost, or allow the name with --allowed-host',
  },
})
