import { defineCatalogue } from '../../base/runtime/index.js'

declare module '../../base/runtime/error.js' {
  interface ErrorCatalogues {
    recording: typeof ERRORS
  }
}

/** The codes of `recording/`, each with the failure that it stands for and its usual remedy. */
export const ERRORS = defineCatalogue({
  'known-differences': {
    sentence: 'the file with known differences cannot be used',
    remedy: 'correct the entry that the message names; see docs/recordings.md',
  },
  'nothing-to-replay': {
    sentence: 'the recording has no request of the party that is to be played',
    remedy: 'make a recording that has some, or play the other party with --as',
  },
  'recording-cut': {
    sentence: 'the last line of a recording is cut off',
    remedy: 'give --partial to go on with the exchanges before it, or make the recording anew',
  },
  'recording-damaged': {
    sentence: 'a line of a recording is not what ironstage record writes',
    remedy: 'delete the line, or make the recording anew',
  },
  'recording-exists': {
    sentence: 'the file for the recording exists already',
    remedy: 'name another file, or replace it with --force',
  },
  'recording-unreadable': {
    sentence: 'a recording cannot be read',
    remedy: 'name a file that this user may read',
  },
  'recording-unwritable': {
    sentence: 'a recording cannot be written',
    remedy: 'check the space and the permissions of its folder, or name another file',
  },
  'recording-version': {
    sentence: 'a recording was made by another version of ironstage, in a form that this one does not read',
    remedy: 'read it with that version, or make the recording anew',
  },
  'replay-unreachable': {
    sentence: 'no Ironic answers at the URL to replay against',
    remedy: 'start one with ironstage up, or correct --against',
  },
  'secret-values': {
    sentence: 'the file with the values of masked secrets cannot be used',
    remedy: "write one line for each, as in '***1': value",
  },
  'upstream-url': {
    sentence: 'the URL of an Ironic is not usable',
    remedy: 'give one such as http://192.0.2.1:6385, without a query',
  },
})
