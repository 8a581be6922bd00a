import { expect, test } from 'vitest'
import { IRONIC_OPERATIONS, type IronicOperation } from '../../base/wire/index.js'
import { Router } from './router.js'

const router = new Router()
const find = (method: string, path: string) => {
  const route = router.find(method, path.split('/').filter(Boolean))
  return (
    route && { id: route.operations.get(method)?.id, params: route.params, allow: [...route.operations.keys()].sort() }
  )
}

test.each([
  ['GET', '/', 'root', {}],
  ['GET', '/v1/nodes/detail', 'nodes.detail', {}],
  ['GET', '/v1/nodes/node-b', 'nodes.get', { node_ident: 'node-b' }],
  // Upstream reads a second segment as the argument `fields`.
  ['GET', '/v1/nodes/node-b/uuid', 'nodes.get', { node_ident: 'node-b', fields: 'uuid' }],
  ['GET', '/v1/nodes/node-b/states', 'nodes.states', { node_ident: 'node-b' }],
  ['GET', '/v1/nodes/node-b/validate', 'nodes.validate', { node: 'node-b' }],
  ['GET', '/v1/nodes/validate', 'nodes.validate', {}],
  ['DELETE', '/v1/nodes', 'nodes.delete', {}],
  ['GET', '/v1/nodes/n/bios/Foo', 'nodes.bios.setting', { node_ident: 'n', setting_name: 'Foo' }],
])('%s %s is %s', (method, path, id, params) => {
  expect(find(method, path)).toMatchObject({ id, params })
})

test('a route lists the methods of its path', () => {
  expect(find('PUT', '/v1/nodes')).toMatchObject({ id: undefined, allow: ['DELETE', 'GET', 'PATCH', 'POST'] })
  expect(find('GET', '/v1/nodes/node-b/maintenance')).toMatchObject({ allow: ['DELETE', 'PUT'] })
  expect(find('GET', '/v1/nosuch')).toBeUndefined()
  expect(find('GET', '/v1/nodes/a/states/nosuch')).toBeUndefined()
})

test('ids of operations are unique', () => {
  const rows: readonly IronicOperation[] = IRONIC_OPERATIONS
  expect(new Set(rows.map(({ id }) => id)).size).toBe(rows.length)
})
