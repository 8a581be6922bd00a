import { describe, expect, test } from 'vitest'
import { served } from '../../../test/kit/redfish/served.js'
import type { OutgoingRequest } from '../../../base/wire/index.js'

const SYSTEM = '/redfish/v1/Systems/machine-1'

describe('events', () => {
  const subscriptions = '/redfish/v1/EventService/Subscriptions'
  const Destination = 'http://subscriber.test/events'

  /** A transport that takes events, after some refusals. */
  const taking = (refusals = 0) => {
    const taken: OutgoingRequest[] = []
    const send = (request: OutgoingRequest) => {
      taken.push(request)
      return Promise.resolve({ status: taken.length > refusals ? 204 : 500, headers: {} })
    }
    return { taken, transport: { send } }
  }

  test('are sent to those who want their type, with their context and headers', async () => {
    const { taken, transport } = taking()
    await using bmc = await served(1, { transport })
    const HttpHeaders = [{ 'X-Token': 'hidden' }]
    const made = await bmc.call('POST', subscriptions, {
      Destination,
      Protocol: 'Redfish',
      Context: 'mine',
      EventTypes: ['StatusChange'],
      HttpHeaders,
    })
    expect(made.status).toBe(201)
    expect(made.body).not.toContain('hidden')
    await bmc.call('POST', `${SYSTEM}/VirtualMedia/Cd/Actions/VirtualMedia.InsertMedia`, {
      Image: 'http://a.test/b.iso',
    })
    await bmc.machine().setPower('on')
    await expect.poll(() => taken.length).toBeGreaterThan(0)
    const [{ url, headers, body }] = taken as [OutgoingRequest]
    expect([url, headers['X-Token']]).toEqual([Destination, 'hidden'])
    expect(JSON.parse(body!)).toMatchObject({
      Context: 'mine',
      Events: [
        {
          EventType: 'StatusChange',
          MessageId: 'MachineEvent.1.0.PowerOn',
          OriginOfCondition: { '@odata.id': SYSTEM },
        },
      ],
    })
    expect((await bmc.call('DELETE', made.headers['location']!)).status).toBe(204)
    expect(bmc.machine().firmware.subscriptions()).toEqual([])
  })

  test('are sent again when a subscriber fails', async () => {
    const { taken, transport } = taking(1)
    await using bmc = await served(1, { transport })
    await bmc.call('POST', subscriptions, { Destination, Protocol: 'Redfish' })
    await bmc.call('POST', '/redfish/v1/EventService/Actions/EventService.SubmitTestEvent', { EventType: 'Alert' })
    await expect.poll(() => taken.length).toBe(1)
    await bmc.clock.advance(5000)
    await expect.poll(() => taken.length).toBe(2)
    expect(taken[1]!.body).toBe(taken[0]!.body)
  })

  test('end their subscription when it does not take one, and are not lost for others meanwhile', async () => {
    const taken: string[] = []
    const send = ({ url }: OutgoingRequest) => {
      if (url.includes('dead')) return Promise.reject(new Error('connection refused'))
      taken.push(url)
      return Promise.resolve({ status: 204, headers: {} })
    }
    await using bmc = await served(1, { transport: { send } })
    await bmc.call('POST', subscriptions, { Destination: 'http://dead.test/', Protocol: 'Redfish' })
    await bmc.call('POST', subscriptions, { Destination, Protocol: 'Redfish' })
    const test = '/redfish/v1/EventService/Actions/EventService.SubmitTestEvent'
    for (let sent = 0; sent < 1100; sent++) await bmc.call('POST', test, { EventType: 'Alert' })
    await expect.poll(() => taken.length).toBe(1100)
    for (const attempt of [1, 2]) await bmc.clock.advance(5000).then(() => attempt)
    await expect
      .poll(() =>
        bmc
          .machine()
          .firmware.subscriptions()
          .map((one) => one.Destination),
      )
      .toEqual([Destination])
  })

  test('of a machine that is named twice come once, and no names stand for all machines', async () => {
    const { taken, transport } = taking()
    await using bmc = await served(2, { transport })
    const OriginResources = ['Systems', 'Chassis'].map((kind) => ({ '@odata.id': `/redfish/v1/${kind}/machine-1` }))
    const made = await bmc.call('POST', subscriptions, { Destination, Protocol: 'Redfish', OriginResources })
    await bmc.call('POST', '/redfish/v1/EventService/Actions/EventService.SubmitTestEvent', { EventType: 'Alert' })
    await expect.poll(() => taken.length).toBe(1)
    expect((await bmc.call('DELETE', made.headers['location']!)).status).toBe(204)
    await bmc.call('POST', subscriptions, { Destination, Protocol: 'Redfish', OriginResources: [] })
    expect([1, 2].map((n) => bmc.machine(n).firmware.subscriptions().length)).toEqual([1, 1])
  })

  test('of several machines have one subscription, or that of the named one', async () => {
    await using bmc = await served(3)
    const all = await bmc.call('POST', subscriptions, { Destination, Protocol: 'Redfish' })
    const OriginResources = [{ '@odata.id': '/redfish/v1/Systems/machine-2' }]
    const one = await bmc.call('POST', subscriptions, { Destination, Protocol: 'Redfish', OriginResources })
    expect((await bmc.call('GET', subscriptions)).document.Members).toEqual([
      ...[all, one].map(({ headers }) => ({ '@odata.id': headers['location'] })),
    ])
    expect([1, 2, 3].map((n) => bmc.machine(n).firmware.subscriptions().length)).toEqual([1, 2, 1])
    await bmc.call('DELETE', all.headers['location']!)
    expect([1, 2, 3].map((n) => bmc.machine(n).firmware.subscriptions().length)).toEqual([0, 1, 0])
  })
})
