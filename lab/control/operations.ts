import {
  ADVANCE,
  closed,
  CLOCK,
  ENROL,
  ENTRY,
  FAULT,
  FAULT_REPORT,
  JOURNAL_QUERY,
  listOf,
  MODE,
  open,
  POWER,
} from './schemas.js'
import type { LiveUrls } from '../../coreos/index.js'
import type { InstalledFile } from '../installed-files.js'
import type { LabMachine } from '../lab.js'
import type { LabReport, NodeReport } from './documents.js'
import { LOOK_OPERATIONS } from './look-operations.js'
import { ACCOUNT, MACHINE, MACHINE_OPERATIONS } from './machine-operations.js'
import { describing, type ControlOperation } from './operation.js'

const NODE = describing<NodeReport>({ type: 'object' })
const OBJECT = { type: 'object' }
const TEXT = describing<string>({ type: 'string' })
const SNAPSHOT = open({
  id: describing<string>({ type: 'string', description: 'snapshot-1' }),
  labTime: describing<string>({ type: 'string', format: 'date-time' }),
  repeats: describing<number>({ type: 'integer', description: 'calls that are made again when it is restored' }),
})
const LAST = describing<number>({ type: 'string', pattern: '^[0-9]+$', description: 'only the last entries, so many' })
const LIMIT = describing<number>({ type: 'string', pattern: '^[0-9]+$', description: 'entries at most; default 100' })

/** Everything that the control API serves. */
export const CONTROL_OPERATIONS = [
  {
    id: 'index',
    method: 'GET',
    path: '',
    status: 200,
    summary: 'Lists what there is',
    answer: describing<LabReport>(OBJECT),
  },
  {
    id: 'openapi',
    method: 'GET',
    path: '/openapi',
    status: 200,
    summary: 'This document',
    answer: describing<Readonly<Record<string, unknown>>>(OBJECT),
  },

  ...MACHINE_OPERATIONS,
  ...LOOK_OPERATIONS,
  {
    id: 'nodes',
    method: 'GET',
    path: '/nodes',
    status: 200,
    summary: 'All nodes: name, uuid, machine, state',
    answer: open({ nodes: listOf(NODE) }),
  },
  {
    id: 'enrol',
    method: 'POST',
    path: '/nodes',
    status: 201,
    summary: 'Adds machines, and enrols them as nodes',
    body: ENROL,
    answer: open({ nodes: listOf(NODE) }),
  },
  { id: 'node', method: 'GET', path: '/nodes/{node}', status: 200, summary: 'A node', answer: NODE },
  {
    id: 'removeNode',
    method: 'DELETE',
    path: '/nodes/{node}',
    status: 204,
    summary: 'Deletes a node, in whatever state it is, with its machine',
  },
  {
    id: 'machineOfNode',
    method: 'GET',
    path: '/nodes/{node}/machine',
    status: 200,
    summary: 'The machine behind a node',
    answer: MACHINE,
  },
  {
    id: 'powerOfNode',
    method: 'PUT',
    path: '/nodes/{node}/power',
    status: 200,
    summary: "Presses the power button of a node's machine",
    body: POWER,
    answer: MACHINE,
  },
  {
    id: 'ejectFromNode',
    method: 'POST',
    path: '/nodes/{node}/eject',
    status: 200,
    summary: 'Ejects all media',
    answer: MACHINE,
  },
  {
    id: 'console',
    method: 'GET',
    path: '/nodes/{node}/console',
    status: 200,
    summary: "Lines of the machine's console",
    answer: open({ console: listOf(TEXT) }),
  },
  {
    id: 'systemJournal',
    method: 'GET',
    path: '/nodes/{node}/journal',
    status: 200,
    summary: 'Journal of the system on its disk',
    answer: open({ journal: listOf(describing<ReturnType<LabMachine['journal']>[number]>(OBJECT)) }),
  },
  {
    id: 'files',
    method: 'GET',
    path: '/nodes/{node}/files',
    status: 200,
    summary: 'Files of the system on its disk',
    query: { path: describing<string>({ type: 'string', description: 'one file' }) },
    answer: open({ files: listOf(describing<InstalledFile>(OBJECT)) }),
  },
  {
    id: 'images',
    method: 'GET',
    path: '/nodes/{node}/images',
    status: 200,
    summary: 'The live images that are served for the node',
    answer: describing<LiveUrls>(OBJECT),
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
    answer: open({ faults: listOf(FAULT_REPORT) }),
  },
  {
    id: 'addFault',
    method: 'POST',
    path: '/faults',
    status: 201,
    summary: 'Adds a fault',
    body: FAULT,
    answer: FAULT_REPORT,
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
    answer: open({ snapshots: listOf(SNAPSHOT) }),
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
    body: closed({ file: TEXT }, ['file']),
    answer: SNAPSHOT,
  },
  { id: 'reset', method: 'POST', path: '/reset', status: 204, summary: 'Brings the lab back to its start' },

  {
    id: 'journal',
    method: 'GET',
    path: '/journal',
    status: 200,
    summary: 'What happened in the lab, oldest first',
    query: { ...JOURNAL_QUERY, limit: LIMIT, last: LAST },
    answer: open({ entries: listOf(ENTRY), next: describing<string | null>({ type: ['string', 'null'] }) }),
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
    answer: describing<{ log: Readonly<Record<string, unknown>> }>({ type: 'object', required: ['log'] }),
  },
  {
    id: 'events',
    method: 'GET',
    path: '/events',
    status: 200,
    summary: 'Entries of the journal as they come; goes on after Last-Event-ID',
    query: JOURNAL_QUERY,
    answer: 'text/event-stream',
    event: ENTRY,
  },
] as const satisfies readonly ControlOperation[]

export type ControlOperationId = (typeof CONTROL_OPERATIONS)[number]['id']
