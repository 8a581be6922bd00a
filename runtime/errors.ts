import { catalogue } from './catalogue.js'

/** The codes of `runtime/`, each with the failure that it stands for and its usual remedy. */
export const ERRORS = catalogue({
  'agent-config-file': {
    sentence: 'the configuration file of the agent cannot be read',
    remedy: 'write sections and lines such as [DEFAULT] and api_url = http://192.0.2.1:6385',
  },
  'damaged-state': {
    sentence: 'a database or a file of the state folder is damaged or missing',
    remedy: 'look with ironstage state check; ironstage state repair keeps what can be read',
  },
  'nested-too-deeply': {
    sentence: 'a document is nested more levels deep than is read',
    remedy: 'flatten the document',
  },
  'state-folder': {
    sentence: 'the state folder cannot be read or written',
    remedy: 'check its permissions, its disk and its space, or name another folder with --state-dir',
  },
  'store-version': {
    sentence: 'the database was written by another version of ironstage',
    remedy: 'use another state folder, or the version of ironstage that made this one',
  },
  'too-many-aliases': {
    sentence: 'a YAML document repeats itself by too many aliases',
    remedy: 'write out what the aliases stand for',
  },
})
