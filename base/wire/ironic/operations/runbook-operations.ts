import { arg, type IronicOperation } from '../ironic-operation.js'
import { traitListSchema } from '../resource-schemas.js'
import type { JsonObject } from '../node.js'
import { patchSchema, type SchemaOf } from '../ironic-schemas.js'
import { fieldsOnly, pagingByName, fieldSelection, hiddenResource } from './list-arguments.js'

const { reading, writing } = hiddenResource('runbooks', 'pecan')
const ident = { runbook_ident: arg.ident } as const
const traits = { since: 112, hidden: hiddenResource('runbook traits', 'pecan').reading } as const

/** Any object: a version decides what of it is known. */
const runbookSchema: SchemaOf<JsonObject> = { type: 'object' }

export const RUNBOOKS = [
  {
    id: 'runbooks.list',
    method: 'GET',
    path: '/v1/runbooks',
    since: 92,
    hidden: reading,
    query: { ...pagingByName, ...fieldSelection, project: arg.boolean },
    status: 200,
  },
  {
    // The members of the body depend on the microversion: the handler checks them.
    id: 'runbooks.create',
    method: 'POST',
    path: '/v1/runbooks',
    also: ['/v1/runbooks/{document}'],
    since: 92,
    hidden: writing,
    body: { document: runbookSchema, label: 'runbook' },
    status: 201,
  },
  {
    id: 'runbooks.get',
    method: 'GET',
    path: '/v1/runbooks/{runbook_ident}',
    also: ['/v1/runbooks/{runbook_ident}/{fields}'],
    since: 92,
    hidden: reading,
    query: { ...ident, ...fieldsOnly },
    status: 200,
  },
  {
    id: 'runbooks.patch',
    method: 'PATCH',
    path: '/v1/runbooks/{runbook_ident}',
    also: ['/v1/runbooks'],
    since: 92,
    hidden: writing,
    query: ident,
    required: ['runbook_ident'],
    body: { document: patchSchema, label: 'patch' },
    status: 200,
  },
  {
    id: 'runbooks.delete',
    method: 'DELETE',
    path: '/v1/runbooks/{runbook_ident}',
    also: ['/v1/runbooks'],
    since: 92,
    hidden: writing,
    query: ident,
    required: ['runbook_ident'],
    status: 204,
  },
  {
    id: 'runbooks.traits',
    method: 'GET',
    path: '/v1/runbooks/{runbook_ident}/traits',
    ...traits,
    status: 200,
  },
  {
    id: 'runbooks.traits.put',
    method: 'PUT',
    path: '/v1/runbooks/{runbook_ident}/traits',
    also: ['/v1/runbooks/{runbook_ident}/traits/{trait}'],
    ...traits,
    query: { trait: arg.string },
    body: { document: traitListSchema, label: 'body' },
    status: 204,
  },
  {
    id: 'runbooks.traits.delete',
    method: 'DELETE',
    path: '/v1/runbooks/{runbook_ident}/traits',
    also: ['/v1/runbooks/{runbook_ident}/traits/{trait}'],
    ...traits,
    query: { trait: arg.string },
    status: 204,
  },
] as const satisfies readonly IronicOperation[]
