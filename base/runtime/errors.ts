import { defineCatalogue } from './catalogue.js'

/** The codes of `runtime/`, each with the failure that it stands for and its usual remedy. */
export const ERRORS = defineCatalogue({
  'agent-config-file': {
    sentence: 'the configuration file of the agent cannot be read',
    remedy: 'write sections and lines such as [DEFAULT] and api_url = http://192.0.2.1:6385',
  },
  'damaged-state': {
    sentence: 'a database or file in the state folder is damaged or missing',
    remedy: 'run ironstage state check; ironstage state repair keeps everything readable',
  },
  'endless-file': {
    sentence: 'an input file exceeds the size limit',
    remedy: 'name a smaller file, or one that ends',
  },
  'missing-package': {
    sentence: 'a required package is not installed, or not built for this computer',
    remedy: 'install it with npm install --include=optional, or build it with npm rebuild',
  },
  'nested-too-deeply': {
    sentence: 'a document is nested too deeply',
    remedy: 'flatten the document',
  },
  'silent-file': {
    sentence: 'an input pipe delivers nothing',
    remedy: 'name a file, or a pipe whose program writes and ends',
  },
  'special-file': {
    sentence: 'a pipe, socket or device is in place of a regular file',
    remedy: 'name a regular file; in an ironstage folder, remove the object',
  },
  'state-folder': {
    sentence: 'the state folder cannot be read or written',
    remedy: 'check its permissions, disk and free space, or name another folder with --state-dir',
  },
  'store-version': {
    sentence: 'the database was written by another version of ironstage',
    remedy: 'use another state folder, or the version of ironstage that created this one',
  },
  'temporary-folder': {
    sentence: 'the folder for temporary files cannot be used',
    remedy: 'set TMPDIR to an existing, writable folder',
  },
  'too-many-aliases': {
    sentence: 'a YAML document expands too many aliases',
    remedy: 'write the repeated parts out',
  },
  'unknown-alias': {
    sentence: 'a YAML document has an alias without an anchor',
    remedy: 'correct its name, or put a text that begins with * into quotes',
  },
})
