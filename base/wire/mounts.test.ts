import { expect, test } from 'vitest'
import type { Dispatch } from './wire-exchange.js'
import { Mounts } from './mounts.js'

const echo =
  (name: string): Dispatch =>
  ({ base, target }) =>
    Promise.resolve({ status: 200, headers: {}, body: `${name} ${base} ${target}` })

test('a request goes to the longest prefix of whole segments, which moves to the base', async () => {
  const mounts = new Mounts()
  mounts.add('/', echo('ironic'))
  mounts.add('/agents/a1', echo('a1'))
  mounts.add('/agents/a10/', echo('a10'))
  const ask = async (target: string) =>
    (await mounts.dispatch({ method: 'GET', target, headers: {}, base: 'http://h:1' })).body

  expect(await ask('/v1/nodes?limit=1')).toBe('ironic http://h:1 /v1/nodes?limit=1')
  expect(await ask('/')).toBe('ironic http://h:1 /')
  expect(await ask('/agents/a1')).toBe('a1 http://h:1/agents/a1 /')
  expect(await ask('/agents/a1/v1/commands/?wait=true')).toBe('a1 http://h:1/agents/a1 /v1/commands/?wait=true')
  expect(await ask('/agents/a10/v1/status')).toBe('a10 http://h:1/agents/a10 /v1/status')
  expect(await ask('/agents/a100')).toBe('ironic http://h:1 /agents/a100')
})

test('an unmounted path is gone, and a path is mounted once', async () => {
  const mounts = new Mounts()
  const mounted = mounts.add('/a', echo('a'))
  expect(() => mounts.add('/a/', echo('b'))).toThrow('mounted at /a already')
  mounted[Symbol.dispose]()
  const response = await mounts.dispatch({ method: 'GET', target: '/a', headers: {}, base: 'http://h' })
  expect(response.status).toBe(404)
})
