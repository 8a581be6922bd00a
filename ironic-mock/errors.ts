import { defineCatalogue } from '../base/runtime/index.js'

declare module '../base/runtime/error.js' {
  interface ErrorCatalogues {
    'ironic-mock': typeof ERRORS
  }
}

/** The codes of `ironic-mock/`, each with the failure that it stands for and its usual remedy. */
export const ERRORS = defineCatalogue({
  'conductor-stopped': {
    sentence: 'the conductor has been stopped',
    remedy: 'start it again',
  },
  'database-address': {
    sentence: 'the address of the database cannot be used',
    remedy: 'correct the part of the URL, the variable or the file that the message names',
  },
  'database-refused': {
    sentence: 'the database refuses this user',
    remedy: 'correct the user or its password, or give it the right that the message names',
  },
  'database-schema': {
    sentence: 'the schema of the database is not one that this ironstage can use',
    remedy: 'name another schema with --database-schema, or use the version of ironstage that made it',
  },
  'database-unfit': {
    sentence: 'the database cannot hold the data of ironstage',
    remedy: 'use a PostgreSQL from 12 that takes writes, directly or through a pool of sessions, with encoding UTF8',
  },
  'database-unreachable': {
    sentence: 'the database does not answer',
    remedy: 'start it, or correct its address',
  },
  htpasswd: {
    sentence: 'the htpasswd file with the API users cannot be read',
    remedy: 'create it with htpasswd -B -c FILE USER',
  },
  'ironic-config': {
    sentence: 'the Ironic configuration is not valid',
    remedy: 'correct the option that the message names',
  },
  'member-clock': {
    sentence: 'two processes of one database have clocks that pass at different speeds',
    remedy: 'give all processes and fleets the same --speed',
  },
  'member-name': {
    sentence: 'two processes of one database have the same name',
    remedy: 'give each a name of its own',
  },
  'shared-database': {
    sentence: 'a database that several processes share does not allow that',
    remedy: 'take a lab with a database of its own',
  },
})
