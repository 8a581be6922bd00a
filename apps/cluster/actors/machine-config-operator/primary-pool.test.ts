import { expect, test } from 'vitest'
import { mostUnavailable, primaryPool } from './primary-pool.js'

const role = (name: string) => `node-role.kubernetes.io/${name}`
const pool = (name: string) => ({ metadata: { name }, spec: { nodeSelector: { matchLabels: { [role(name)]: '' } } } })
const POOLS = [pool('worker'), pool('infra'), pool('storage'), pool('master')]
const of = (...roles: string[]) =>
  primaryPool(POOLS, Object.fromEntries(roles.map((name) => [role(name), ''])))?.metadata.name

test('a node belongs to its custom pool before that of the workers, and to that of the control plane before any', () => {
  expect(of('worker')).toBe('worker')
  expect(of('worker', 'infra')).toBe('infra')
  expect(of('infra')).toBe('infra')
  expect(of('master', 'infra', 'worker')).toBe('master')
})

test('a node of two custom pools, or of none, has no pool', () => {
  expect(of('worker', 'infra', 'storage')).toBeUndefined()
  expect(of()).toBeUndefined()
  expect(primaryPool([{ metadata: { name: 'all' }, spec: { nodeSelector: {} } }], {})).toBeUndefined()
})

test('expressions select nodes as labels do', () => {
  const zones = {
    metadata: { name: 'zones' },
    spec: {
      nodeSelector: {
        matchExpressions: [
          { key: 'zone', operator: 'In' as const, values: ['a', 'b'] },
          { key: 'spot', operator: 'DoesNotExist' as const },
        ],
      },
    },
  }
  expect(primaryPool([zones], { zone: 'b' })).toBe(zones)
  expect(primaryPool([zones], { zone: 'c' })).toBeUndefined()
  expect(primaryPool([zones], { zone: 'a', spot: '' })).toBeUndefined()
})

test.each<[number | string | undefined, number, number]>([
  [undefined, 5, 1],
  [2, 5, 2],
  ['3', 5, 3],
  [0, 5, 1],
  ['40%', 5, 2],
  ['50%', 5, 2],
  ['10%', 5, 1],
  ['100%', 0, 1],
])('of %s of %s nodes, %s may be away', (wanted, nodes, most) => {
  expect(mostUnavailable(wanted, nodes)).toBe(most)
})
