import { defineCatalogue } from '../base/runtime/index.js'

declare module '../base/runtime/error.js' {
  interface ErrorCatalogues {
    steps: typeof ERRORS
  }
}

/** The codes of `steps/`, each with the failure that it stands for and its usual remedy. */
export const ERRORS = defineCatalogue({
  'cache-full': {
    sentence: 'there is no room for the image in the image cache',
    remedy: 'make room with ironstage cache prune, or name another folder with --cache-dir',
  },
  'foreign-folder': {
    sentence: 'the folder is not an image cache of this ironstage',
    remedy: 'name an empty or a new folder',
  },
  'image-cache': {
    sentence: 'the image cache cannot be used',
    remedy: 'name a writable folder with --cache-dir, or use --no-cache',
  },
  'image-damaged': {
    sentence: 'the image is damaged',
    remedy: 'fetch it by other means and compare its checksum',
  },
  'image-digest': {
    sentence: 'the image has another SHA-256 than the expected one',
    remedy: 'compare it with its published checksum',
  },
  'image-is-page': {
    sentence: 'the URL of the image leads to a web page',
    remedy: 'open the URL in a browser: it may ask for a login, or the image has moved',
  },
  'image-refused': {
    sentence: 'the server refuses the image',
    remedy: 'check the URL of the image and its credentials',
  },
  'image-signature': {
    sentence: 'the image is not signed, or its signature is not accepted',
    remedy: 'take the image from a server that has its signature, or trust the key that it is signed with',
  },
  'image-too-large': {
    sentence: 'the image is larger than the limit',
    remedy: 'check the URL; --cache-size sets the limit',
  },
  'image-too-short': {
    sentence: 'the file is too short for an image of a disk',
    remedy: 'check the URL of the image',
  },
  'image-unreachable': {
    sentence: 'the image could not be fetched',
    remedy: 'check the image server and the network to it',
  },
  'lsblk-unreadable': {
    sentence: 'the output of lsblk cannot be read',
    remedy: 'install util-linux 2.27 or newer on the target',
  },
  'signing-key': {
    sentence: 'a key that verifies signatures cannot be read',
    remedy: 'give an armoured OpenPGP key',
  },
  'step-definition': {
    sentence: 'the definition of a step is incomplete or wrong',
    remedy: 'correct what the message names',
  },
  'step-taken': {
    sentence: 'the step has the name of a standard step',
    remedy: 'name it differently, or export a hardware manager with a support above 3',
  },
  'steps-twice': {
    sentence: 'two steps or two hardware managers have the same name',
    remedy: 'name one of them differently',
  },
})
