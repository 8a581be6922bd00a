import { describe, expect, test } from 'vitest'
import { served } from '../../../test/kit/redfish/served.js'

describe('the clock of a BMC', () => {
  const manager = '/redfish/v1/Managers/machine-1'

  test('is set as Ironic sets it, and goes on from there', async () => {
    await using bmc = await served()
    const wanted = '2031-05-06T07:08:09+00:00'
    const { status, document } = await bmc.call('PATCH', manager, { DateTime: wanted })
    expect([status, document.DateTime, document.DateTimeLocalOffset]).toEqual([200, wanted, '+00:00'])
    await bmc.clock.advance(61_000)
    expect((await bmc.call('GET', manager)).document.DateTime).toBe('2031-05-06T07:09:10+00:00')
    const shifted = await bmc.call('PATCH', manager, { DateTimeLocalOffset: '-02:30' })
    expect(shifted.document).toMatchObject({ DateTime: '2031-05-06T04:39:10-02:30', DateTimeLocalOffset: '-02:30' })
  })

  test.each([
    [{ DateTime: 'tomorrow' }, 'DateTime'],
    [{ DateTime: '2031-13-06T07:08:09Z' }, 'DateTime'],
    [{ DateTime: '2031-05-06T07:08:09' }, 'DateTime'],
    [{ DateTimeLocalOffset: '+25:00' }, 'DateTimeLocalOffset'],
    [{ DateTime: 5 }, 'DateTime'],
  ])('is not set to %j', async (body, property) => {
    await using bmc = await served()
    const { status, document } = await bmc.call('PATCH', manager, body)
    expect(status).toBe(400)
    expect(document.error['@Message.ExtendedInfo'][0].RelatedProperties).toEqual([`#/${property}`])
  })
})
