import {
  ADVANCE,
  CLOCK,
  ENROLL,
  ENTRY_SCHEMA,
  FAULT,
  FAULT_REPORT,
  JOURNAL_QUERY,
  MODE,
  POWER,
} from './control-schemas.js'
import { arraySchema, closedObjectSchema, openObjectSchema } from './schema-forms.js'
import type { LiveUrls } from '../../coreos/index.js'
import type { InstalledFile, SystemJournalLine } from '../documents/machine-documents.js'
import type { LabReport, NodeReport } from '../documents/documents.js'
import { LOOK_OPERATIONS } from './look-operations.js'
import { ACCOUNT, MACHINE_SCHEMA, MACHINE_OPERATIONS } from './machine-operations.js'
import { typedSchema, type ControlOperation } from './control-operation.js'

const NODE_SCHEMA = typedSchema<NodeReport>({ type: 'object' })
const OBJECT = { type: 'object' }
const TEXT = typedSchema<string>({ type: 'string' })
const FORK = openObjectSchema({
  id: TEXT,
  snapshot: TEXT,
  url: typedSchema<string>({ type: 'string', description: 'of its Ironic and its control API' }),
  caFile: typedSchema<string | null>({ type: ['string', 'null'], description: 'file with its generated certificate' }),
})
const SNAPSHOT = openObjectSchema({
  id: typedSchema<string>({ type: 'string', description: 'snapshot-1' }),
  labTime: typedSchema<string>({ type: 'string', format: 'date-time' }),
  repeats: typedSchema<number>({ type: 'integer', description: 'calls that are made again when it is restored' }),
})
const LAST = typedSchema<number>({ type: 'string', pattern: '^[0-9]+$', description: 'only the last entries, so many' })
const LIMIT_SCHEMA = typedSchema<number>({
  type: 'string',
  pattern: '^[0-9]+$',
  description: 'entries at most; default 100',
})

/** Everything that the control API serves. */
export const CONTROL_OPERATIONS = [
  {
    id: 'index',
    method: 'GET',
    path: '',
    status: 200,
    summary: 'Lists all calls',
    answer: typedSchema<LabReport>(OBJECT),
  },
  {
    id: 'openapi',
    method: 'GET',
    path: '/openapi',
    status: 200,
    summary: 'This document',
    answer: typedSchema<Readonly<Record<string, unknown>>>(OBJECT),
  },

  ...MACHINE_OPERATIONS,
  ...LOOK_OPERATIONS,
  {
    id: 'nodes',
    method: 'GET',
    path: '/nodes',
    status: 200,
    summary: 'All nodes: name, uuid, machine, state',
    answer: openObjectSchema({ nodes: arraySchema(NODE_SCHEMA) }),
  },
  {
    id: 'enroll',
    method: 'POST',
    path: '/nodes',
    status: 201,
    summary: 'Adds machines, and enrolls them as nodes',
    body: ENROLL,
    answer: openObjectSchema({ nodes: arraySchema(NODE_SCHEMA) }),
  },
  { id: 'node', method: 'GET', path: '/nodes/{node}', status: 200, summary: 'A node', answer: NODE_SCHEMA },
  {
    id: 'removeNode',
    method: 'DELETE',
    path: '/nodes/{node}',
    status: 204,
    summary: 'Deletes a node in any state, and its machine',
  },
  {
    id: 'machineOfNode',
    method: 'GET',
    path: '/nodes/{node}/machine',
    status: 200,
    summary: 'The machine behind a node',
    answer: MACHINE_SCHEMA,
  },
  {
    id: 'powerOfNode',
    method: 'PUT',
    path: '/nodes/{node}/power',
    status: 200,
    summary: "Presses the power button of a node's machine",
    body: POWER,
    answer: MACHINE_SCHEMA,
  },
  {
    id: 'ejectFromNode',
    method: 'POST',
    path: '/nodes/{node}/eject',
    status: 200,
    summary: 'Ejects all media',
    answer: MACHINE_SCHEMA,
  },
  {
    id: 'console',
    method: 'GET',
    path: '/nodes/{node}/console',
    status: 200,
    summary: "Lines of the machine's console",
    answer: openObjectSchema({ console: arraySchema(TEXT) }),
  },
  {
    id: 'systemJournal',
    method: 'GET',
    path: '/nodes/{node}/journal',
    status: 200,
    summary: 'Journal of the system on its disk',
    answer: openObjectSchema({ journal: arraySchema(typedSchema<SystemJournalLine>(OBJECT)) }),
  },
  {
    id: 'files',
    method: 'GET',
    path: '/nodes/{node}/files',
    status: 200,
    summary: 'Files of the system on its disk',
    query: { path: typedSchema<string>({ type: 'string', description: 'one file' }) },
    answer: openObjectSchema({ files: arraySchema(typedSchema<InstalledFile>(OBJECT)) }),
  },
  {
    id: 'images',
    method: 'GET',
    path: '/nodes/{node}/images',
    status: 200,
    summary: 'The live images that are served for the node',
    answer: typedSchema<LiveUrls>(OBJECT),
  },
  {
    id: 'bmcAccount',
    method: 'PUT',
    path: '/nodes/{node}/bmc-account',
    status: 204,
    summary: "Changes the account of the machine's BMC",
    body: ACCOUNT,
  },

  {
    id: 'faults',
    method: 'GET',
    path: '/faults',
    status: 200,
    summary: 'All faults',
    query: { label: TEXT },
    answer: openObjectSchema({ faults: arraySchema(FAULT_REPORT) }),
  },
  {
    id: 'addFault',
    method: 'POST',
    path: '/faults',
    status: 201,
    summary: 'Adds a fault, or all of a list, or none of it',
    body: FAULT,
    answer: FAULT_REPORT,
    listAnswer: openObjectSchema({ faults: arraySchema(FAULT_REPORT) }),
  },
  {
    id: 'liftFaults',
    method: 'DELETE',
    path: '/faults',
    status: 204,
    summary: 'Lifts all faults, or those with a label',
    query: { label: TEXT },
  },
  { id: 'fault', method: 'GET', path: '/faults/{fault}', status: 200, summary: 'A fault', answer: FAULT_REPORT },
  { id: 'liftFault', method: 'DELETE', path: '/faults/{fault}', status: 204, summary: 'Lifts a fault' },

  { id: 'clock', method: 'GET', path: '/clock', status: 200, summary: 'Lab time', answer: CLOCK },
  {
    id: 'setClock',
    method: 'PUT',
    path: '/clock',
    status: 200,
    summary: 'Sets how time passes',
    body: MODE,
    answer: CLOCK,
  },
  {
    id: 'advance',
    method: 'POST',
    path: '/clock/advance',
    status: 200,
    summary: 'Moves time forward: by a length, until a node is in a state, or to the next event',
    body: ADVANCE,
    answer: CLOCK,
  },

  {
    id: 'snapshots',
    method: 'GET',
    path: '/snapshots',
    status: 200,
    summary: 'All snapshots, the oldest first',
    answer: openObjectSchema({ snapshots: arraySchema(SNAPSHOT) }),
  },
  {
    id: 'takeSnapshot',
    method: 'POST',
    path: '/snapshots',
    status: 201,
    summary: 'Takes a snapshot of the whole lab',
    answer: SNAPSHOT,
  },
  {
    id: 'restoreSnapshot',
    method: 'POST',
    path: '/snapshots/{snapshot}/restore',
    status: 204,
    summary: 'Brings the lab back to a snapshot',
  },
  {
    id: 'fork',
    method: 'POST',
    path: '/snapshots/{snapshot}/fork',
    status: 201,
    summary: 'Creates a second lab from a snapshot, on its own port; both continue independently',
    answer: FORK,
  },
  {
    id: 'forks',
    method: 'GET',
    path: '/forks',
    status: 200,
    summary: 'All forks of this lab',
    answer: openObjectSchema({ forks: arraySchema(FORK) }),
  },
  { id: 'endFork', method: 'DELETE', path: '/forks/{fork}', status: 204, summary: 'Ends a fork' },
  {
    id: 'removeSnapshot',
    method: 'DELETE',
    path: '/snapshots/{snapshot}',
    status: 204,
    summary: 'Forgets a snapshot',
  },
  {
    id: 'exportSnapshot',
    method: 'GET',
    path: '/snapshots/{snapshot}/file',
    status: 200,
    summary: 'A snapshot as a file, with all secrets',
    answer: 'application/octet-stream',
  },
  {
    id: 'importSnapshot',
    method: 'POST',
    path: '/snapshots/import',
    status: 201,
    summary: 'Adds the snapshot of a file, of a lab with the same options',
    body: closedObjectSchema({ file: TEXT }, ['file']),
    answer: SNAPSHOT,
  },
  { id: 'reset', method: 'POST', path: '/reset', status: 204, summary: 'Brings the lab back to its start' },

  {
    id: 'journal',
    method: 'GET',
    path: '/journal',
    status: 200,
    summary: 'What happened in the lab, oldest first',
    query: { ...JOURNAL_QUERY, limit: LIMIT_SCHEMA, last: LAST },
    answer: openObjectSchema({
      entries: arraySchema(ENTRY_SCHEMA),
      next: typedSchema<string | null>({ type: ['string', 'null'] }),
    }),
  },
  {
    id: 'journalNdjson',
    method: 'GET',
    path: '/journal.ndjson',
    status: 200,
    summary: 'The same, a line an entry',
    query: JOURNAL_QUERY,
    answer: 'application/x-ndjson',
  },
  {
    id: 'journalHar',
    method: 'GET',
    path: '/journal.har',
    status: 200,
    summary: 'Its exchanges as an HTTP archive',
    query: JOURNAL_QUERY,
    answer: typedSchema<{ log: Readonly<Record<string, unknown>> }>({ type: 'object', required: ['log'] }),
  },
  {
    id: 'events',
    method: 'GET',
    path: '/events',
    status: 200,
    summary: 'Journal entries as they come; resumes after Last-Event-ID',
    query: JOURNAL_QUERY,
    answer: 'text/event-stream',
    event: ENTRY_SCHEMA,
  },
] as const satisfies readonly ControlOperation[]

export type ControlOperationId = (typeof CONTROL_OPERATIONS)[number]['id']
