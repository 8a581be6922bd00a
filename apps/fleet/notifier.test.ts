import { expect, test } from 'vitest'
import { NO_PACE, openMachines } from '../../machine/index.js'
import { Probe, defined, seededRandom, silent, VirtualClock } from '../../base/runtime/index.js'
import { makeNotifier } from './notifier.js'

const MAC = '00:5C:52:31:3A:9C'

/** A system as sushy-tools reports it before its power changes. */
const report = (power: string, more: Record<string, unknown> = {}) => ({
  uuid: '27946b59-9e44-4fa7-8e91-f3527a1ef094',
  name: 'fake1',
  power_state: 'Off',
  external_notifier: 'True',
  nics: [{ mac: MAC, ip: '172.22.0.100' }],
  boot_device: 'Pxe',
  pending_power: { power_state: power, apply_time: 1_767_225_605 },
  ...more,
})

async function scene(most?: number) {
  const clock = new VirtualClock(1_767_225_600_000)
  const up: string[] = []
  const machines = await openMachines({
    stateDir: null,
    clock,
    random: seededRandom(1),
    probe: new Probe(),
    logger: silent,
    pace: NO_PACE,
    events: { ramdiskUp: ({ spec }) => void up.push(spec.nics[0]!.mac), down: () => {} },
  })
  const dispatch = makeNotifier({
    machines,
    clock,
    logger: silent,
    ironicUrl: 'http://192.0.2.1:6385',
    ...defined({ most: most || undefined }),
  })
  const put = async (body: unknown, target = '/', method = 'PUT') => {
    const text = typeof body === 'string' ? body : JSON.stringify(body)
    return dispatch({ method, target, base: 'http://fleet', headers: {}, body: text })
  }
  return { clock, machines, up, put, [Symbol.asyncDispose]: () => machines[Symbol.asyncDispose]() }
}

test('a notification of a pending power-on boots an agent at the announced time; one of a power-off switches the machine off', async () => {
  await using there = await scene()
  const { uuid } = report('On')
  expect(await there.put(report('On'))).toMatchObject({ status: 204 })
  expect(there.machines.get(uuid)).toBeUndefined()
  await there.clock.advance(6000)
  const machine = there.machines.get(uuid)!
  expect(machine.boot()).toMatchObject({
    outcome: 'ramdisk',
    source: {
      parameters: {
        'ipa-api-url': 'http://192.0.2.1:6385',
        'ipa-inspection-callback-url': 'http://192.0.2.1:6385/v1/continue_inspection',
      },
    },
  })
  expect(there.up).toEqual(['00:5c:52:31:3a:9c'])
  // The emulator reports every change of a system; one without pending power changes nothing.
  await there.put(report('On', { pending_power: null }))
  await there.put(report('On'))
  await there.clock.advance(6000)
  expect(there.up).toHaveLength(1)
  await there.put(report('Off'))
  await there.clock.advance(1)
  expect(machine.power()).toBe('off')
})

test('a system that boots its disk boots it', async () => {
  await using there = await scene()
  await there.put(report('On', { boot_device: 'Hdd' }))
  await there.clock.advance(6000)
  expect(there.up).toEqual([])
  expect(there.machines.get(report('On').uuid)!.boot()).toMatchObject({ source: { kind: 'disk' } })
})

test.each([
  ['no JSON', '{', /is not JSON/],
  ['no uuid', { name: 'x' }, /uuid is missing/],
  ['a path as its uuid', report('On', { uuid: '../../../../tmp/evil' }), /uuid cannot name a machine/],
  ['control characters in its uuid', report('On', { uuid: 'a"b\u0000' }), /uuid cannot name a machine/],
  ['a uuid of 5,000 characters', report('On', { uuid: 'x'.repeat(5000) }), /249 at most/],
  ['a uuid that is a number', report('On', { uuid: 7 }), /uuid is missing/],
  [
    'an address that is none',
    report('On', { nics: [{ mac: MAC, ip: 'not-an-ip' }] }),
    /nics\[0\]\.ip is .*not-an-ip.*, which is no IP/,
  ],
  ['an address that is a number', report('On', { nics: [{ mac: MAC, ip: 5 }] }), /nics\[0\]\.ip is 5, which is no IP/],
  ['no NIC in its list of NICs', report('On', { nics: [null] }), /nics\[0\] is no \{mac, ip\}/],
  ['a MAC address that is none', report('On', { nics: [{ mac: 'x' }] }), /nics\[0\]\.mac is .*, which is no MAC/],
  ['a pending power of another form', report('On', { pending_power: 'On' }), /pending_power without power_state/],
])('a notification with %s is refused by what is wrong', async (_, body, why) => {
  await using there = await scene()
  const { status, body: text } = await there.put(body)
  expect(status).toBe(400)
  expect(text).toMatch(why)
})

test('another path is not found', async () => {
  await using there = await scene()
  expect(await there.put({}, '/v1')).toMatchObject({ status: 404 })
  expect(await there.put({}, '/', 'GET')).toMatchObject({ status: 404 })
})

test.each(['27946B59-9E44-4FA7-8E91-F3527A1EF094', 'fake1', 'node-0.rack-7'])(
  'a system whose uuid is %s becomes a machine',
  async (uuid) => {
    await using there = await scene()
    for (const nics of [[{ mac: MAC }], [{ mac: MAC, ip: null }], [{ mac: MAC, ip: 'fd00::7' }]])
      expect(await there.put(report('On', { uuid, nics }))).toMatchObject({ status: 204 })
    await there.clock.advance(6000)
    expect(there.machines.list().map(({ spec }) => spec.id)).toEqual([uuid.toLowerCase()])
  },
)

test('more systems than a fleet has machines are refused, and those that are there are not', async () => {
  await using there = await scene(2)
  const on = async (uuid: string) => (await there.put(report('On', { uuid }))).status
  expect([await on('a'), await on('a'), await on('b'), await on('c')]).toEqual([204, 204, 204, 409])
  await there.clock.advance(6000)
  expect(there.machines.list()).toHaveLength(2)
  expect([await on('a'), await on('c')]).toEqual([204, 409])
  await there.machines.remove('a')
  expect(await on('c')).toBe(204)
})
