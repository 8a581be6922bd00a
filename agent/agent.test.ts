import { describe, expect, test } from 'vitest'
import { FLEET_PACE, IPA_PACE } from './pace.js'
import { AgentScene } from '../test/kit/agent-scene.js'
import { ironicError, NODE, TOKEN } from '../test/kit/fake-ironic.js'
import { exited, type FakeProgram } from '../test/kit/fake-target.js'

const INSPECTION = { 'ipa-inspection-callback-url': 'http://ironic:6385/v1/continue_inspection' }
const boot = (parameters: Record<string, string> = {}) => ({
  boot: { id: 'boot-1', parameters: { 'ipa-api-url': 'http://ironic:6385', ...parameters } },
})

describe('at the start of a boot', () => {
  test('the calls come in the order and with the versions that IPA uses', async () => {
    await using scene = await new AgentScene(boot(INSPECTION)).serving()

    expect(
      scene.ironic.calls.map(({ request }) => [
        `${request.method} ${request.url}`,
        request.headers['x-openstack-ironic-api-version'],
      ]),
    ).toEqual([
      ['POST http://ironic:6385/v1/continue_inspection', undefined],
      ['GET http://ironic:6385/', undefined],
      [
        `GET http://ironic:6385/v1/lookup?addresses=52%3A54%3A00%3Aaa%3Abb%3A01%2C52%3A54%3A00%3Aaa%3Abb%3A02&node_uuid=${NODE}`,
        '1.62',
      ],
      [`POST http://ironic:6385/v1/heartbeat/${NODE}`, '1.68'],
      ...scene.ironic
        .of('heartbeat')
        .slice(1)
        .map(() => expect.anything() as unknown),
    ])
    expect(JSON.parse(scene.ironic.of('heartbeat')[0]!.request.body!)).toEqual({
      callback_url: 'http://agent:9999',
      agent_token: TOKEN,
      agent_version: '13.0.0',
    })
    expect(JSON.parse(scene.ironic.of('inspect')[0]!.request.body!)).toMatchObject({
      inventory: { hostname: 'test' },
      boot_interface: null,
      configuration: {
        collectors: ['default', 'logs'],
        managers: [{ name: 'PeersHardwareManager', version: '1.0' }],
      },
      logs: expect.any(String) as unknown,
      error: null,
    })
  })

  test('the agent sends no inspection data unless it is asked to', async () => {
    await using scene = await new AgentScene().serving()
    expect(scene.ironic.of('inspect')).toEqual([])
    expect(scene.ironic.of('lookup')[0]!.request.url).not.toContain('node_uuid')
  })

  test.each<[string, FakeProgram, unknown]>([
    [
      'a list',
      () => ({ stdout: '[["disk", "sda", "size", "64"]]', ...exited(0) }),
      { data: [['disk', 'sda', 'size', '64']] },
    ],
    ['nothing, since it is not there', () => exited(127), { error: null }],
    [
      'no list',
      () => ({ stdout: '{}', ...exited(0) }),
      { error: expect.stringContaining('a list of lists of four: {}') },
    ],
    ['no JSON', () => ({ stdout: 'sda', ...exited(0) }), { error: expect.stringContaining('did not print JSON') }],
    ['that it failed', () => exited(1, 'boom\n'), { error: expect.stringContaining('hardware-detect failed: boom') }],
  ])('the collector extra-hardware passes on what hardware-detect says: %s', async (_, program, expected) => {
    await using scene = new AgentScene(boot({ ...INSPECTION, 'ipa-inspection-collectors': 'default,extra-hardware' }))
    scene.target.programs['hardware-detect'] = program
    await scene.serving()
    const data = JSON.parse(scene.ironic.of('inspect')[0]!.request.body!) as Record<string, unknown>
    expect(data).toMatchObject(expected as object)
    expect('data' in data).toBe('data' in (expected as object))
  })

  test('an agent for inspection only is idle afterwards', async () => {
    await using scene = await new AgentScene({ boot: { id: 'b', parameters: INSPECTION } }).serving()
    expect(scene.ironic.calls.map(({ call }) => call)).toEqual(['inspect'])
    expect(scene.agent.phase).toBe('idle')
  })

  test('refused inspection data is logged and the lookup continues by MAC addresses', async () => {
    const gaveUp: string[] = []
    await using scene = new AgentScene({ ...boot(INSPECTION), onGaveUp: (why) => void gaveUp.push(why) })
    scene.ironic.next('inspect', ironicError(404, 'Resource could not be found.'))
    await scene.serving()
    expect(gaveUp).toEqual([
      expect.stringMatching(/refused the inspection data: 404 Resource .*only while the node is in inspect wait/),
    ])
    expect(scene.ironic.of('inspect')).toHaveLength(1)
    expect(scene.ironic.of('lookup')[0]!.request.url).not.toContain('node_uuid')
    expect(scene.agent.phase).toBe('serving')
  })

  test('a fleet agent retries inspection data that Ironic refused too early, and gives up after the usual number of attempts', async () => {
    const gaveUp: string[] = []
    const options = { ...boot(INSPECTION), pace: FLEET_PACE, onGaveUp: (why: string) => void gaveUp.push(why) }
    const tooEarly = ironicError(404, 'Resource could not be found.')
    {
      await using scene = new AgentScene(options)
      scene.ironic.next('inspect', tooEarly, tooEarly)
      scene.start()
      await scene.clock.advance(11_000)
      expect(scene.ironic.calls.map(({ call }) => call)).toEqual(expect.arrayContaining(['inspect', 'lookup']))
      expect(scene.ironic.of('inspect')).toHaveLength(3)
      expect(scene.ironic.of('lookup')[0]!.request.url).toContain('node_uuid')
      expect(gaveUp).toEqual([])
    }
    await using scene = new AgentScene(options)
    scene.ironic.next('inspect', ...Array.from({ length: 5 }, () => tooEarly))
    scene.start()
    await scene.clock.advance(60_000)
    expect(scene.ironic.of('inspect')).toHaveLength(5)
    expect(gaveUp).toEqual([expect.stringMatching(/giving up on sending the inspection data: 404 .*booted too early/)])
    expect(scene.ironic.of('lookup')[0]!.request.url).not.toContain('node_uuid')
  })

  test('an invalid answer to the inspection data is logged, and the data sent again', async () => {
    const log: string[] = []
    await using scene = new AgentScene({ ...boot(INSPECTION), logger: (_level, message) => void log.push(message) })
    scene.ironic.next('inspect', { status: 202, headers: {}, body: '<html>' }, { status: 202, headers: {}, body: '{}' })
    scene.start()
    await scene.clock.advance(60_000)
    expect(log.join('\n')).toMatch(/did not arrive, trying again: .*not JSON: <html>/)
    expect(log.join('\n')).toMatch(/did not arrive, trying again: .*required property 'uuid'/)
    expect(scene.ironic.of('inspect')).toHaveLength(3)
    expect(scene.agent.phase).toBe('serving')
  })

  test('inspection data that does not arrive is sent five times, as far apart as IPA does', async () => {
    await using scene = new AgentScene({ ...boot(INSPECTION), pace: IPA_PACE })
    scene.ironic.next('inspect', 'refused', ironicError(503, 'busy'), ironicError(409, 'locked'), 'refused', 'refused')
    scene.start()
    await scene.clock.advance(60_000)
    expect(scene.ironic.of('inspect').map(({ at }) => at)).toEqual([0, 5000, 10_000, 16_000, 28_000])
    expect(scene.agent.phase).toBe('serving')
  })

  test('a locked node costs 5, 10, 30, 30 seconds on top of the usual wait', async () => {
    await using scene = new AgentScene({ pace: IPA_PACE })
    scene.ironic.next('lookup', ...Array.from({ length: 4 }, () => ironicError(409, 'Node is locked')))
    scene.start()
    await scene.clock.advance(200_000)
    const times = scene.ironic.of('lookup').map(({ at }) => at)
    expect(times).toHaveLength(5)
    const waits = times.slice(1).map((at, index) => at - times[index]!)
    const usualAtMost = [1000, 2000, 4000, 8000]
    for (const [index, extra] of [5000, 10_000, 30_000, 30_000].entries()) {
      expect(waits[index]).toBeGreaterThanOrEqual(extra + 1000)
      expect(waits[index]).toBeLessThanOrEqual(extra + usualAtMost[index]!)
    }
  })

  test('a machine that Ironic does not know looks itself up for ten minutes, then starts over', async () => {
    await using scene = new AgentScene({ pace: IPA_PACE })
    scene.ironic.next('lookup', ...Array.from({ length: 200 }, () => ironicError(404, 'Resource could not be found.')))
    scene.start()
    await scene.clock.advance(700_000)
    expect(scene.ironic.of('root').length).toBe(2)
    expect(scene.ironic.of('root')[1]!.at).toBeGreaterThan(600_000)
  })

  test('the first API URL that answers is used from then on', async () => {
    await using scene = new AgentScene(boot({ 'ipa-api-url': 'http://dead:6385,http://ironic:6385/' }))
    scene.ironic.next('root', 'refused')
    await scene.serving()
    expect(scene.ironic.calls.slice(0, 4).map(({ request }) => new URL(request.url).host)).toEqual([
      'dead:6385',
      'ironic:6385',
      'ironic:6385',
      'ironic:6385',
    ])
  })

  test('an older Ironic is asked with its own highest version', async () => {
    await using scene = new AgentScene()
    scene.ironic.next('root', { status: 200, headers: {}, body: '{"default_version": {"version": "1.60"}}' })
    await scene.serving()
    const versions = [...scene.ironic.of('lookup'), scene.ironic.of('heartbeat')[0]!]
    expect(versions.map(({ request }) => request.headers['x-openstack-ironic-api-version'])).toEqual(['1.60', '1.60'])
  })

  test.each([
    { parameters: {}, says: 'without ipa-api-url' },
    { parameters: { 'ipa-api-url': 'ironic:6385' }, says: 'ipa-api-url=ironic:6385, which it cannot use' },
    {
      parameters: { 'ipa-api-url': 'http://i', 'ipa-lookup-timeout': 'long' },
      says: 'ipa-lookup-timeout=long, which it cannot use',
    },
  ])('parameters that say $says are refused', ({ parameters, says }) => {
    expect(() => new AgentScene().start({ boot: { id: 'b', parameters } })).toThrow(says)
  })
})

describe('tokens', () => {
  const pregenerated = 'A'.repeat(43)

  test('a masked one is fatal: nothing is served and no heartbeat goes out', async () => {
    await using scene = new AgentScene()
    scene.ironic.token = '******'
    await scene.serving()
    expect(scene.agent.phase).toBe('locked down')
    expect(scene.ironic.of('heartbeat')).toEqual([])
    expect((await scene.get('/v1/status')).status).toBe(503)
  })

  test.each([
    { name: 'a masked one leaves the pregenerated one', given: '******', uses: pregenerated },
    { name: 'one that is too short is ignored', given: 'short', uses: pregenerated },
    { name: 'a real one wins', given: TOKEN, uses: TOKEN },
  ])('$name', async ({ given, uses }) => {
    await using scene = new AgentScene(boot({ 'ipa-agent-token': pregenerated }))
    scene.ironic.token = given
    await scene.serving()
    expect(JSON.parse(scene.ironic.of('heartbeat')[0]!.request.body!)).toMatchObject({ agent_token: uses })
  })
})

describe('heartbeats', () => {
  test('follow each other at 0.3 to 0.6 of what Ironic tolerates and never hurry the clock', async () => {
    await using scene = await new AgentScene({ pace: IPA_PACE }).serving()
    await scene.clock.advance(1_800_000)
    const times = scene.ironic.of('heartbeat').map(({ at }) => at)
    expect(times.length).toBeGreaterThanOrEqual(10)
    for (const [index, at] of times.slice(1).entries()) {
      expect(at - times[index]!).toBeGreaterThanOrEqual(90_000)
      expect(at - times[index]!).toBeLessThan(180_000)
    }
    await expect(scene.clock.until(new Promise(() => {}))).rejects.toThrow('no timer is set')
  })

  test('after a refused one the next comes in 5 to 10 seconds', async () => {
    await using scene = new AgentScene({ pace: IPA_PACE })
    scene.ironic.next('heartbeat', ironicError(409, 'locked'), { status: 200, headers: {} })
    await scene.serving()
    await scene.clock.advance(25_000)
    const times = scene.ironic.of('heartbeat').map(({ at }) => at)
    expect(times).toHaveLength(3)
    for (const [index, at] of times.slice(1).entries()) {
      expect(at - times[index]!).toBeGreaterThanOrEqual(5000)
      expect(at - times[index]!).toBeLessThan(10_000)
    }
  })

  test('the end of a command is reported at once, but 5 seconds after the last heartbeat at IPA’s pace', async () => {
    await using scene = await new AgentScene({ pace: IPA_PACE }).serving()
    await scene.execute('peers_noop')
    await scene.clock.advance(30_000)
    expect(scene.ironic.of('heartbeat').map(({ at }) => at)).toEqual([0, 5000])

    await scene.execute('peers_noop')
    await scene.clock.advance(1000)
    expect(scene.ironic.of('heartbeat').map(({ at }) => at)).toEqual([0, 5000, 30_000])
  })

  test('a synchronous command causes no heartbeat', async () => {
    await using scene = await new AgentScene({ pace: IPA_PACE }).serving()
    await scene.command('standby.get_partition_uuids')
    await scene.clock.advance(30_000)
    expect(scene.ironic.of('heartbeat')).toHaveLength(1)
  })

  test('without pace, one that changed nothing is repeated until Ironic asks', async () => {
    await using scene = await new AgentScene().serving()
    await scene.clock.advance(160)
    expect(scene.ironic.of('heartbeat').map(({ at }) => at)).toEqual([0, 50, 150])
    await scene.commands()
    await scene.clock.advance(60_000)
    expect(scene.ironic.of('heartbeat')).toHaveLength(4)
  })

  test('an Ironic that never answers leaves the agent waiting, and it can be stopped', async () => {
    const scene = new AgentScene()
    scene.ironic.next('heartbeat', 'silent')
    await scene.serving()
    await scene.clock.advance(600_000)
    expect(scene.ironic.of('heartbeat')).toHaveLength(1)
    await scene.agent.stop()
  })
})

test('nothing is answered before it is saved', async () => {
  const gate: (() => void)[] = []
  await using scene = await new AgentScene().serving({
    saved: { read: () => undefined, write: () => new Promise((resolve) => gate.push(resolve)) },
  })
  const open = async () => {
    for (const resolve of gate.splice(0)) resolve()
    await scene.clock.advance(0)
  }
  // Version and lookup are being saved; no heartbeat may go out before.
  await open()
  expect(scene.ironic.of('heartbeat')).toEqual([])
  await open()
  expect(scene.ironic.of('heartbeat')).toHaveLength(1)

  let answered = false
  const answer = scene.execute('peers_noop').then(() => (answered = true))
  await scene.clock.advance(0)
  expect(answered).toBe(false)
  expect(await scene.commands()).toEqual([])
  await open()
  await answer
  // The end of the command is being saved, and stopping waits for it.
  await open()
})
