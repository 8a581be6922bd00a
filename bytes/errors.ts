import { catalogue } from '../runtime/index.js'

declare module '../runtime/error.js' {
  interface ErrorCatalogues {
    bytes: typeof ERRORS
  }
}

/** The codes of `bytes/`, each with the failure that it stands for and its usual remedy. */
export const ERRORS = catalogue({
  'compressed-data': {
    sentence: 'compressed data is damaged or cut short',
    remedy: 'download the file again and compare its checksum',
  },
  'file-format': {
    sentence: 'a file is not of the expected format',
    remedy: 'give a file of the format that the message names',
  },
  'image-server': {
    sentence: 'images cannot be served at the address',
    remedy: 'choose another address or port; 0 picks a free port',
  },
  'port-in-use': {
    sentence: 'another program listens on the port',
    remedy: 'stop that program, choose another port, or let port 0 pick a free one',
  },
})
