import { defineCatalogue } from '../../base/runtime/index.js'

declare module '../../base/runtime/error.js' {
  interface ErrorCatalogues {
    recording: typeof ERRORS
  }
}

/** The codes of `recording/`, each with the failure that it stands for and its usual remedy. */
export const ERRORS = defineCatalogue({
  'known-differences': {
    sentence: 'the file of known differences cannot be used',
    remedy: 'correct the entry that the message names; see docs/recordings.md',
  },
  'nothing-to-replay': {
    sentence: 'the recording has no request from the party to replay',
    remedy: 'make a recording with such requests, or replay the other party with --as',
  },
  'recording-cut': {
    sentence: 'the last line of a recording is cut off',
    remedy: 'use the exchanges before it with --partial, or record again',
  },
  'recording-damaged': {
    sentence: 'a line of the recording is not in the format of ironstage record',
    remedy: 'delete the line, or record again',
  },
  'recording-exists': {
    sentence: 'the recording file already exists',
    remedy: 'name another file, or replace it with --force',
  },
  'recording-unreadable': {
    sentence: 'the recording cannot be read',
    remedy: 'name a file that you can read',
  },
  'recording-unwritable': {
    sentence: 'the recording cannot be written',
    remedy: 'check the free space and permissions of its folder, or name another file',
  },
  'recording-version': {
    sentence: 'the recording has a format version that this ironstage does not read',
    remedy: 'use the version that made it, or record again',
  },
  'replay-running': {
    sentence: 'the lab is already replaying a recording',
    remedy: 'wait until it ends, or stop it: DELETE /_lab/replay',
  },
  'replay-unreachable': {
    sentence: 'no Ironic answers at the URL to replay against',
    remedy: 'start one with ironstage up, or correct --against',
  },
  'secret-values': {
    sentence: 'the secret values file cannot be used',
    remedy: "write one line per secret, as in '***1': value",
  },
  'upstream-url': {
    sentence: 'the Ironic URL is not valid',
    remedy: 'give a URL such as http://192.0.2.1:6385, without a query',
  },
})
