import { jsonProblem, type DatabaseForm, type Row, type TableForm } from '../../base/runtime/index.js'
import { PROVISION_STATES } from '../../base/wire/index.js'
import { makeNodeRecord, newPort } from '../conductor/records/new-records.js'
import { OLDER_VERSIONS, PAGE_SIZE, SCHEMA_VERSION, TABLES } from './table-schema.js'

/** New records: the model of which fields a stored one must have, and of which types. */
const NODE_MODEL = makeNodeRecord({ driver: '' }, {} as never, '', '')
const PORT = newPort({ node_uuid: '', address: '' } as never, 0, '', '')

const column = (name: string) => (row: Readonly<Row>) => jsonProblem(row[name])
const makeTableForm = (name: string, columns: string, key: string, problem: TableForm['problem']): TableForm => ({
  name,
  problem,
  columns: columns.split(' '),
  key: key.split(' '),
})

/** `ironic.db` */
export const IRONIC_DATABASE: DatabaseForm = {
  file: 'ironic.db',
  version: SCHEMA_VERSION,
  older: OLDER_VERSIONS,
  schema: TABLES,
  pageSize: PAGE_SIZE,
  sealed: true,
  tables: [
    makeTableForm('nodes', 'id uuid name instance_uuid provision_state driver revision record', 'id', nodeProblem),
    makeTableForm(
      'ports',
      'id uuid address node record',
      'id',
      (row) => jsonProblem(row.record, PORT) ?? sameUuid(row),
    ),
    makeTableForm('effects', 'id node kind payload', 'id', column('payload')),
    makeTableForm('deadlines', 'node kind at', 'node kind', ({ at }) =>
      typeof at === 'number' ? undefined : 'it has no time',
    ),
    makeTableForm('inventories', 'node record', 'node', column('record')),
    makeTableForm('history', 'id node record', 'id', column('record')),
    makeTableForm('resources', 'kind id uuid record', 'kind id', column('record')),
    makeTableForm('resource_ids', 'kind last', 'kind', ({ last }) =>
      Number.isInteger(last) ? undefined : 'its last id is no number',
    ),
    makeTableForm('sheets', 'node kind record', 'node kind', column('record')),
  ],
}

function nodeProblem(row: Readonly<Row>): string | undefined {
  const known = (PROVISION_STATES as readonly unknown[]).includes(row.provision_state)
  const problem = jsonProblem(row.record, NODE_MODEL) ?? sameUuid(row)
  if (problem !== undefined) return problem
  return known ? undefined : 'its provision state is not known'
}

function sameUuid({ uuid, record }: Readonly<Row>): string | undefined {
  return (JSON.parse(record as string) as { uuid: unknown }).uuid === uuid
    ? undefined
    : 'its uuid is not that of its record'
}
