import type { IronicOperation } from '../ironic-operation.js'
import { eventsSchema } from '../resource-schemas.js'
import { unsupportedVersion, hiddenResource } from './list-arguments.js'

const { reading } = hiddenResource('shards')

export const OTHERS = [
  { id: 'shards.list', method: 'GET', path: '/v1/shards', since: 82, hidden: reading, status: 200 },
  { id: 'shards.get', method: 'GET', path: '/v1/shards/{name}', since: 82, hidden: reading, status: 200 },
  {
    id: 'events.post',
    method: 'POST',
    path: '/v1/events',
    since: 54,
    hidden: unsupportedVersion,
    body: { document: eventsSchema },
    status: 204,
  },
] as const satisfies readonly IronicOperation[]
