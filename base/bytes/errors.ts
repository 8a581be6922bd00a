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
    sentence: 'a file is not of the expected format',
    remedy: 'give a file of the format that the message names',
  },
  'foreign-page': {
    sentence: 'a web page of another server has called a server of ironstage',
    remedy: 'open the dashboard of the lab itself, at the URL that ironstage prints',
  },
  'image-server': {
    sentence: 'images cannot be served at the address',
    remedy: 'choose another address or port; 0 picks a free port',
  },
  'port-in-use': {
    sentence: 'another program listens on the port',
    remedy: 'stop that program, choose another port, or let port 0 pick a free one',
  },
  'unknown-host': {
    sentence: 'a server was called by a host name that is not known to be its own',
    remedy: 'call it by its IP address or as localhost, or name the host with --allowed-host',
  },
})
