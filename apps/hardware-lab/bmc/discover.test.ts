import { expect, test } from 'vitest'
import { served } from '../../../test/kit/redfish/served.js'
import { parse } from 'yaml'
import { silent, systemClock } from '../../../base/runtime/index.js'
import { serveHttp } from '../../../base/wire/index.js'
import { addressesIn, discoverSystems, foundHostsYaml } from './discover.js'

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

test.each(['192.0.2.300', '10.0.0.0/8', '192.0.2.0/33', 'https://x'])('%s is refused', (range) => {
  expect(() => addressesIn(range)).toThrow(`${range} is neither an address nor a network`)
})

test('the systems behind a service are found, with what its account may read', async () => {
  await using bmc = await served(2)
  await using server = await serveHttp({ dispatch: bmc.service.dispatch, port: 0, clock, logger: silent })
  await using nothing = await serveHttp({
    dispatch: () => Promise.resolve({ status: 404, headers: {} }),
    port: 0,
    clock,
  })
  const ranges = [`127.0.0.1:${nothing.port}`, `127.0.0.1:${server.port}`]
  const asked = { ranges, username: 'admin', clock, signal }
  const found = await discoverSystems({ ...asked, password: 'secret-1' })
  expect(found.map(({ url, system, serial }) => ({ url, system, serial }))).toEqual([
    { url: server.url, system: '/redfish/v1/Systems/machine-1', serial: 'IST-000001' },
    { url: server.url, system: '/redfish/v1/Systems/machine-2', serial: 'IST-000002' },
  ])
  const yaml = parse(foundHostsYaml(found, 'admin')) as { hosts: Record<string, { bmc: object; expect: object }> }
  expect(yaml.hosts['host-2']).toMatchObject({
    bmc: { redfish: server.url, system: '/redfish/v1/Systems/machine-2' },
    expect: { serial: 'IST-000002' },
  })
  const [refused] = await discoverSystems({ ...asked, password: 'wrong' })
  expect(refused!.refused).toContain('the account is not accepted')
  expect(foundHostsYaml([refused!], 'admin')).not.toContain('wrong')
})
