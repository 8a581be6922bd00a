import { describe, expect, test } from 'vitest'
import { manageableNode } from '../../../test/kit/conductor/scripted-lab.js'
import type { Heartbeat } from '../core/conductor.js'

describe('a heartbeat', () => {
  const waiting = async (conf = {}) => {
    const made = await manageableNode({}, conf)
    made.machine.script.silent = true
    await made.lab.provision(made.uuid, 'provide', 'clean wait')
    const { config } = await made.lab.conductor.lookup(made.uuid, { issueToken: true })
    const good: Heartbeat = {
      callback_url: 'http://127.0.0.1:1',
      agent_version: '13.0.0',
      agent_token: String(config.agent_token),
    }
    return { ...made, good }
  }

  test.each<[string, Partial<Record<keyof Heartbeat, string | undefined>>, string]>([
    [
      'a callback that is not a URL',
      { callback_url: 'x', agent_token: undefined },
      'An issue with the supplied "callback_url" has been detected.',
    ],
    [
      'an unknown status',
      { agent_status: 'nosuch', agent_version: undefined },
      'Agent status is invalid. Valid states are start,end,error.',
    ],
    ['no version', { agent_version: undefined, agent_token: 'wrong' }, 'Agent did not transmit a version'],
    ['a wrong token', { agent_token: 'wrong' }, 'Invalid or missing agent token received.'],
  ])('with %s is refused by the first check that fails', async (_, wrong, message) => {
    const { lab, uuid, good } = await waiting()
    const heartbeat = { ...good, ...wrong } as Heartbeat
    await expect(lab.conductor.heartbeat(uuid, heartbeat)).rejects.toMatchObject({
      status: 400,
      message: expect.stringContaining(message) as string,
    })
  })

  test('with plain HTTP is refused where TLS is required', async () => {
    const { lab, uuid, good } = await waiting({ requireTls: true })
    await expect(lab.conductor.heartbeat(uuid, good)).rejects.toMatchObject({
      message: 'TLS is required by configuration',
    })
    const other = await waiting()
    await expect(other.lab.conductor.heartbeat(other.uuid, other.good)).resolves.toBeUndefined()
  })

  test('with another callback URL than before is refused', async () => {
    const { lab, uuid, good, machine } = await waiting()
    machine.script.reachable = true
    await lab.conductor.heartbeat(uuid, good)
    await expect(lab.conductor.heartbeat(uuid, { ...good, callback_url: 'http://127.0.0.1:2' })).rejects.toMatchObject({
      message: 'Detected change in ramdisk provided "callback_url"',
    })
    await lab.until(uuid, 'clean failed')
  })

  test('is accepted and ignored in states that expect no agent', async () => {
    const { lab, uuid, good } = await waiting()
    await lab.provision(uuid, 'abort', 'clean failed')
    await expect(lab.conductor.heartbeat(uuid, good)).rejects.toMatchObject({ status: 400 })
  })

  test('during a reservation continues the flow when the reservation ends', async () => {
    const { lab, uuid, machine } = await manageableNode()
    // The step ends, and the agent says so, before the conductor has written down that it began.
    machine.script.run = () => null
    const begun = lab.clock.elapsed()
    await lab.provision(uuid, 'provide', 'available')
    expect(lab.clock.elapsed() - begun).toBeLessThan(1000)
  })
})
