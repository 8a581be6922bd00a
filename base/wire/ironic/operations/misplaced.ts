import type { IronicOperation } from '../ironic-operation.js'

/** Lists that are shown below another resource too, where they can only be read. */
const LISTS = [
  '/v1/nodes/{parent}/ports',
  '/v1/nodes/{parent}/portgroups',
  '/v1/nodes/{parent}/volume/connectors',
  '/v1/nodes/{parent}/volume/targets',
  '/v1/portgroups/{parent}/ports',
] as const
const items = LISTS.map((list) => `${list}/{item}`)

/** Calls that upstream routes and then refuses: one item of such a list, or writing to it. */
export const MISPLACED = [
  {
    id: 'misplaced.get',
    method: 'GET',
    path: '/v1/nodes/{parent}/ports/{item}',
    also: [...items.slice(1), '/v1/chassis/{parent}/nodes/{item}'],
    since: 1,
    refused: true,
    status: 200,
  },
  {
    id: 'misplaced.post',
    method: 'POST',
    path: '/v1/nodes/{parent}/ports',
    also: LISTS.slice(1),
    since: 1,
    refused: true,
    status: 201,
  },
  {
    id: 'misplaced.patch',
    method: 'PATCH',
    path: '/v1/nodes/{parent}/ports/{item}',
    also: [...items.slice(1), ...LISTS],
    since: 1,
    refused: true,
    status: 200,
  },
  {
    id: 'misplaced.delete',
    method: 'DELETE',
    path: '/v1/nodes/{parent}/ports/{item}',
    also: [...items.slice(1), ...LISTS],
    since: 1,
    refused: true,
    status: 204,
  },
] as const satisfies readonly IronicOperation[]
