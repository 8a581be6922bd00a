import { expect, test } from 'vitest'
import { FetchFailure } from '../../base/bytes/index.js'
import { VirtualClock } from '../../base/runtime/index.js'
import { ConnectionFailed, type OutgoingRequest, type WireResponse } from '../../base/wire/index.js'
import { enrollHosts, type FleetEnrollOptions } from './enroll-fleet.js'
import type { FleetHost } from './fleet-hosts.js'

const hosts = Array.from({ length: 12 }, (_, index) => ({
  name: `machine-${index + 1}`,
  bmc: 'http://127.0.0.1:8000',
  system: `/redfish/v1/Systems/machine-${index + 1}`,
  account: { username: 'admin', password: 'secret' },
  ipmi: null,
  selfSigned: false,
  bootMac: '52:54:00:00:00:01',
  macs: [],
  firmware: 'uefi',
  architecture: 'x86_64',
  cpus: 1,
  memoryMib: 1024,
  manufacturer: 'A',
  product: 'B',
  serial: 'C',
})) as FleetHost[]

const answer = (status: number, body: unknown = {}): WireResponse => ({
  status,
  headers: {},
  body: JSON.stringify(body),
})
const taken = (request: OutgoingRequest): WireResponse =>
  request.method === 'GET' ? answer(404) : answer(201, { uuid: 'a-uuid' })
const refusedConnection = () => Promise.reject(new ConnectionFailed('connection refused'))

/** Enrolls the hosts in an Ironic that answers by `answers`. */
function enrolling(
  answers: (request: OutgoingRequest) => Promise<WireResponse>,
  more: Partial<FleetEnrollOptions> = {},
) {
  const clock = new VirtualClock(0)
  const enrolled: string[] = []
  const away: string[] = []
  const under = new Set<OutgoingRequest>()
  const ended = enrollHosts(hosts, {
    url: 'http://ironic.example',
    headers: {},
    clock,
    signal: new AbortController().signal,
    bootInterface: 'ipxe',
    driverInfo: {},
    transport: {
      send: async (request) => {
        under.add(request)
        try {
          return await answers(request)
        } finally {
          under.delete(request)
        }
      },
    },
    onEnrolled: ({ name }) => enrolled.push(name),
    onAway: (reason) => away.push(reason),
    ...more,
  })
  ended.catch(() => {})
  return { clock, enrolled, away, under, ended }
}

test('waits for an Ironic that cannot be reached yet, says so once, and enrolls all machines when it is there', async () => {
  let isUp = false
  const starting = [502, 503, 504]
  const there = enrolling(async (request) => {
    if (!isUp) return refusedConnection()
    const status = starting.shift()
    return status === undefined ? taken(request) : answer(status)
  })
  await there.clock.advance(60_000)
  expect(there).toMatchObject({ enrolled: [], away: [expect.stringContaining('connection refused')] })
  isUp = true
  await there.clock.advance(10_000)
  await there.ended
  expect(there.enrolled).toHaveLength(hosts.length)
})

test('ends all its requests with the first refusal', async () => {
  const never = ({ signal }: OutgoingRequest) =>
    new Promise<WireResponse>((_, reject) => signal!.addEventListener('abort', () => reject(signal!.reason as Error)))
  const there = enrolling((request) =>
    request.url.endsWith('machine-3') ? Promise.resolve(answer(401, { error_message: 'no' })) : never(request),
  )
  await expect(there.ended).rejects.toMatchObject({
    code: 'fleet-enroll',
    message: expect.stringMatching(/^machine-3 /),
  })
  expect(there.under.size).toBe(0)
})

test('does not wait for a certificate that is not trusted', async () => {
  const place = { url: 'https://ironic.example', at: 'ironic.example:443', host: 'ironic.example' }
  const cause = new FetchFailure('tls-untrusted', place)
  const there = enrolling(() => Promise.reject(new ConnectionFailed('not trusted', { cause })))
  await expect(there.ended).rejects.toMatchObject({ code: 'fleet-enroll' })
  expect(there.away).toEqual([])
})

test.each(['hangs', 'is away'])('ends at the signal while the Ironic %s', async (how) => {
  const stop = new AbortController()
  const there = enrolling(
    ({ signal }) =>
      how === 'is away'
        ? refusedConnection()
        : new Promise((_, reject) => signal!.addEventListener('abort', () => reject(signal!.reason as Error))),
    { signal: stop.signal },
  )
  await there.clock.advance(1000)
  stop.abort(new Error('stopped'))
  await expect(there.ended).rejects.toThrow('stopped')
  expect(there.under.size).toBe(0)
})

const conflict = answer(409, { error_message: JSON.stringify({ faultstring: 'exists already' }) })
const redfishNode = (address: string, name: string) =>
  answer(200, {
    uuid: `uuid-of-${name}`,
    driver_info: { redfish_address: address, redfish_system_id: `/redfish/v1/Systems/${name}` },
  })

test.each([
  ['a node with another BMC', 'http://127.0.0.1:8001', /machine-1 already.*8001 .*8000 /],
  ['a node that another fleet makes at the same time', 'http://127.0.0.1:8002', /machine-1 already.*8002 .*8000 /],
])('the names of two fleets clash: %s', async (what, address, message) => {
  const names = new Set<string>()
  const there = enrolling(({ method, url, body }) => {
    const name =
      method === 'POST' ? String((JSON.parse(String(body)) as { name?: string }).name) : url.split('/').at(-1)!
    const isThere = what.includes('same time') ? names.has(name) : true
    names.add(name)
    if (method === 'POST') return Promise.resolve(conflict)
    return Promise.resolve(isThere ? redfishNode(address, name) : answer(404))
  })
  await expect(there.ended).rejects.toMatchObject({
    code: 'fleet-names',
    message: expect.stringMatching(message),
    remedy: expect.stringContaining('--name-prefix'),
  })
  expect(there.under.size).toBe(0)
})

test('a MAC address of another fleet is a clash of names too', async () => {
  const ofHost = { ...hosts[0]!, macs: ['52:54:00:00:00:02'] }
  const clock = new VirtualClock(0)
  const ended = enrollHosts([ofHost], {
    url: 'http://ironic.example',
    headers: {},
    clock,
    signal: new AbortController().signal,
    bootInterface: 'ipxe',
    driverInfo: {},
    transport: { send: async (request) => (request.url.endsWith('/ports') ? conflict : taken(request)) },
  })
  await expect(ended).rejects.toMatchObject({
    code: 'fleet-names',
    message: expect.stringMatching(/machine-1.*exists/),
  })
})

test('another Ironic is found once one is away', async () => {
  const found: string[] = []
  const asked = new Set<string>()
  const there = enrolling(
    async (request) => {
      const { host } = new URL(request.url)
      asked.add(host)
      return host === 'ironic-1' ? refusedConnection() : taken(request)
    },
    {
      url: async () => {
        found.push(`ironic-${found.length + 1}`)
        return `http://${found.at(-1)}`
      },
    },
  )
  await there.clock.advance(10_000)
  await there.ended
  expect(there.enrolled).toHaveLength(hosts.length)
  expect([...asked]).toEqual(['ironic-1', 'ironic-2'])
})
