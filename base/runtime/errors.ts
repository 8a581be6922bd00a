import { defineCatalogue } from './catalogue.js'

/** The codes of `runtime/`, each with the failure that it stands for and its usual remedy. */
export const ERRORS = defineCatalogue({
  'agent-config-file': {
    sentence: 'the configuration file of the agent cannot be read',
    remedy: 'write sections and lines such as [DEFAULT] and api_url = http://192.0.2.1:6385',
  },
  'damaged-state': {
    sentence: 'a database or a file of the state folder is damaged or missing',
    remedy: 'look with ironstage state check; ironstage state repair keeps what can be read',
  },
  'endless-file': {
    sentence: 'a file that was named has more than is read',
    remedy: 'name a file that ends',
  },
  'missing-package': {
    sentence: 'a package that ironstage needs for this is not installed, or not built for this computer',
    remedy: 'install it with npm install --include=optional, or build it with npm rebuild',
  },
  'nested-too-deeply': {
    sentence: 'a document is nested more levels deep than is read',
    remedy: 'flatten the document',
  },
  'silent-file': {
    sentence: 'nothing comes from a pipe that was named',
    remedy: 'name a file, or a pipe whose program writes and ends',
  },
  'special-file': {
    sentence: 'a pipe, a socket or a device stands where a file must be',
    remedy: 'name a file; in a folder of ironstage, remove what stands in its place',
  },
  'state-folder': {
    sentence: 'the state folder cannot be read or written',
    remedy: 'check its permissions, its disk and its space, or name another folder with --state-dir',
  },
  'store-version': {
    sentence: 'the database was written by another version of ironstage',
    remedy: 'use another state folder, or the version of ironstage that made this one',
  },
  'temporary-folder': {
    sentence: 'the folder for temporary files cannot be used',
    remedy: 'name a folder that exists and may be written with TMPDIR',
  },
  'too-many-aliases': {
    sentence: 'a YAML document repeats itself by too many aliases',
    remedy: 'write out what the aliases stand for',
  },
})
