import { expect, test } from 'vitest'
import { served } from '../../../test/kit/redfish/served.js'
import { parse } from 'yaml'
import { silent, systemClock } from '../../../base/runtime/index.js'
import { serveHttp } from '../../../base/wire/index.js'
import { addressesIn, addressesInAll, discoverSystems, foundHostsYaml } from './discover.js'

const clock = systemClock()
const { signal } = new AbortController()

test.each([
  ['192.0.2.7', ['192.0.2.7']],
  ['192.0.2.0/30', ['192.0.2.1', '192.0.2.2']],
  ['192.0.2.7/31:8443', ['192.0.2.6:8443', '192.0.2.7:8443']],
  ['bmc-7.example.org', ['bmc-7.example.org']],
])('%s has the addresses %j', (range, expected) => {
  expect(addressesIn(range)).toEqual(expected)
})

test.each(['192.0.2.300', '192.0.2.0/33', 'https://x', '192.0.2.7:70000', 'bmc-7:0'])(
  '%s is refused: neither an address nor a network',
  (range) => {
    expect(() => addressesIn(range)).toThrow(`${range} is neither an address nor a network`)
  },
)

test('a network that is too large is refused as such', () => {
  expect(() => addressesIn('10.0.0.0/8')).toThrow('10.0.0.0/8 has more than 1024 addresses')
})

test('the systems behind a service are found, with what its account may read', async () => {
  await using bmc = await served(2)
  await using server = await serveHttp({ dispatch: bmc.service.dispatch, port: 0, clock, logger: silent })
  await using nothing = await serveHttp({
    dispatch: () => Promise.resolve({ status: 404, headers: {} }),
    port: 0,
    clock,
  })
  const addresses = [`127.0.0.1:${nothing.port}`, `127.0.0.1:${server.port}`]
  const asked = { addresses, username: 'admin', clock, signal }
  const { systems, others } = await discoverSystems({ ...asked, password: 'secret-1' })
  expect(systems.map(({ url, system, serial }) => ({ url, system, serial }))).toEqual([
    { url: server.url, system: '/redfish/v1/Systems/machine-1', serial: 'IST-000001' },
    { url: server.url, system: '/redfish/v1/Systems/machine-2', serial: 'IST-000002' },
  ])
  expect(others).toEqual([
    {
      address: addresses[0],
      asked: [
        { url: `https://${addresses[0]}`, why: 'no TLS' },
        { url: `http://${addresses[0]}`, why: 'no Redfish service' },
      ],
    },
  ])
  const yaml = parse(foundHostsYaml(systems, 'admin')) as { hosts: Record<string, { bmc: object; expect: object }> }
  expect(yaml.hosts['host-2']).toMatchObject({
    bmc: { redfish: server.url, system: '/redfish/v1/Systems/machine-2' },
    expect: { serial: 'IST-000002' },
  })
  const wrong = await discoverSystems({ ...asked, password: 'wrong' })
  expect(wrong.systems[0]!.refused).toContain('the account is not accepted')
  expect(foundHostsYaml(wrong.systems, 'admin')).not.toContain('wrong')
})

test('ports are tried at addresses that name none', async () => {
  await using bmc = await served(1)
  await using server = await serveHttp({ dispatch: bmc.service.dispatch, port: 0, clock, logger: silent })
  await using closed = await serveHttp({ dispatch: bmc.service.dispatch, port: 0, clock, logger: silent })
  const free = closed.port
  await closed[Symbol.asyncDispose]()
  const options = { addresses: ['127.0.0.1'], username: 'admin', password: undefined, clock, signal }
  const { systems } = await discoverSystems({ ...options, ports: [free, server.port] })
  expect(systems).toMatchObject([{ url: server.url, refused: 'a password is needed to list its systems' }])
  const { others } = await discoverSystems({ ...options, ports: [free] })
  expect(others[0]!.asked).toEqual([
    { url: `https://127.0.0.1:${free}`, why: 'refused' },
    { url: `http://127.0.0.1:${free}`, why: 'refused' },
  ])
})

test('a name without an address is refused before anything is asked', async () => {
  const refused = addressesInAll(['banana.invalid'])
  await expect(refused).rejects.toThrow('banana.invalid is no address, and no host of that name was found')
  await expect(refused).rejects.toMatchObject({ kind: 'usage' })
  expect(await addressesInAll(['localhost:8000', '192.0.2.0/30'])).toEqual(['localhost:8000', '192.0.2.1', '192.0.2.2'])
})
