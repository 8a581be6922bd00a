import { describe, expect, test } from 'vitest'
import { VirtualClock } from '../../base/runtime/index.js'
import {
  exchanged,
  openRequestOf,
  openSession,
  Refused,
  requestOf,
  sessionless,
  type CallerOptions,
} from '../../test/kit/ipmi/caller.js'
import { servedIpmi } from '../../test/kit/ipmi/served.js'
import { PAYLOAD, plainPacket } from './protocol/packet.js'
import { RMCP_IPMI, rmcpDatagram } from './protocol/rmcp.js'

const POWER_STATUS = [0x00, 0x01] as const

const refusal = (of: Promise<unknown>): Promise<unknown> =>
  of.then(
    () => 'opened',
    (error: unknown) => (error instanceof Refused ? [error.step, error.status] : error),
  )

describe('outside of sessions', () => {
  test('a presence ping is answered', async () => {
    await using served = await servedIpmi()
    const ping = Buffer.from('0600ff06000011be80420000', 'hex')
    const answers = await exchanged(served.bmc(), ping)
    expect(answers.map((each) => each.toString('hex'))).toEqual([
      '0600ff06000011be40420010000011be0000000081000000' + '00000000',
    ])
  })

  test('the authentication capabilities offer RMCP+ and nothing older', async () => {
    await using served = await servedIpmi()
    const { completion, data } = await sessionless(served.bmc(), 0x06, 0x38, [0x8e, 0x04])
    expect([completion, ...data]).toEqual([0, 1, 0x80, 0x04, 0x02, 0, 0, 0, 0])
    const older = await sessionless(served.bmc(), 0x06, 0x38, [0x0e, 0x04])
    expect([...older.data]).toEqual([1, 0, 0x04, 0, 0, 0, 0, 0])
    expect(await sessionless(served.bmc(), 0x06, 0x38, [0x83, 0x04])).toMatchObject({ completion: 0xcc })
  })

  test('the cipher suites are 3 and 17', async () => {
    await using served = await servedIpmi()
    const { data } = await sessionless(served.bmc(), 0x06, 0x54, [0x0e, 0x00, 0x80])
    expect(data.toString('hex')).toBe('01' + 'c003014181' + 'c011034481')
    expect((await sessionless(served.bmc(), 0x06, 0x54, [0x0e, 0x00, 0x81])).data.toString('hex')).toBe('01')
  })

  test('a response, a damaged message and one to another address have no answer', async () => {
    await using served = await servedIpmi()
    const answers = (message: Buffer): Promise<Buffer[]> =>
      exchanged(served.bmc(), rmcpDatagram(RMCP_IPMI, plainPacket('1.5', PAYLOAD.ipmi, message)))
    const sound = requestOf(0x06, 0x38, [0x8e, 0x04])
    expect(await answers(sound)).toHaveLength(1)
    expect(await answers(requestOf(0x07, 0x38, [0x8e, 0x04]))).toEqual([])
    for (const at of [0, 2, 3, sound.length - 1]) {
      const damaged = Buffer.from(sound)
      damaged[at]! ^= 0x10
      expect(await answers(damaged)).toEqual([])
    }
    const elsewhere = Buffer.from(sound)
    elsewhere[0] = 0x22
    elsewhere[2]! -= 2
    expect(await answers(elsewhere)).toEqual([])
  })

  test('every other command is refused, whether there is one or not', async () => {
    await using served = await servedIpmi()
    for (const [netFn, command, ...data] of [[...POWER_STATUS], [0x00, 0x02, 1], [0x06, 0x01], [0x30, 0x99]] as const)
      expect(await sessionless(served.bmc(), netFn, command, data)).toMatchObject({ completion: 0xd4 })
    expect(served.machine().power()).toBe('off')
  })
})

describe('a session', () => {
  test.each([3, 17] as const)('opens with cipher suite %i and carries commands', async (suite) => {
    await using served = await servedIpmi()
    const caller = await openSession(served.bmc(), { suite })
    expect([...(await caller.done(...POWER_STATUS))]).toEqual([0, 0, 0x40])
  })

  test.each<[string, CallerOptions, [string, number]]>([
    ['an unknown user', { username: 'root' }, ['rakp2', 0x0d]],
    ['the user without a name', { username: '' }, ['rakp2', 0x0d]],
    ['a wrong password', { password: 'wrong' }, ['rakp4', 0x0f]],
    ['a name that is too long', { username: 'a-name-of-17-byte' }, ['rakp2', 0x0c]],
    ['no privilege', { privilege: 0 }, ['rakp2', 0x09]],
    ['the privilege of an OEM', { privilege: 5 }, ['rakp2', 0x09]],
    ['algorithms without authentication', { algorithms: [0, 0, 0] }, ['open', 0x11]],
    ['algorithms of two suites', { algorithms: [3, 1, 1] }, ['open', 0x11]],
  ])('is refused to %s', async (_, options, expected) => {
    await using served = await servedIpmi()
    expect(await refusal(openSession(served.bmc(), options))).toEqual(expected)
  })

  test('is refused to a user whose password is too long for IPMI, and where there is no account', async () => {
    await using served = await servedIpmi()
    const password = 'p'.repeat(21)
    served.accounts.set('machine-1', { username: 'admin', password })
    expect(await refusal(openSession(served.bmc(), { password: password.slice(0, 20) }))).toEqual(['rakp2', 0x0d])
    served.accounts.clear()
    expect(await refusal(openSession(served.bmc()))).toEqual(['rakp2', 0x0d])
  })

  test('is not answered when the caller reports that the code of the BMC is wrong', async () => {
    await using served = await servedIpmi()
    const bmc = served.bmc()
    const opened = await exchanged(bmc, plain(PAYLOAD.openRequest, openRequestOf([3, 4, 1])))
    const id = opened[0]!.subarray(24, 28)
    const rakp1 = Buffer.concat([
      Buffer.alloc(4),
      id,
      Buffer.alloc(16),
      Buffer.from([0x14, 0, 0, 5]),
      Buffer.from('admin'),
    ])
    expect(await exchanged(bmc, plain(PAYLOAD.rakp1, rakp1))).toHaveLength(1)
    const rakp3 = Buffer.concat([Buffer.from([0, 0x0f, 0, 0]), id])
    expect(await exchanged(bmc, plain(PAYLOAD.rakp3, rakp3))).toEqual([])
  })

  test('begins as a user, and rises as far as was asked for', async () => {
    await using served = await servedIpmi()
    const caller = await openSession(served.bmc(), { privilege: 3 })
    expect(await caller.ask(0x00, 0x02, [1])).toMatchObject({ completion: 0xd4 })
    expect(await caller.ask(0x06, 0x3b, [4])).toMatchObject({ completion: 0x81 })
    expect([...(await caller.done(0x06, 0x3b, [3]))]).toEqual([3])
    await caller.done(0x00, 0x02, [1])
    expect(served.machine().power()).toBe('on')
    expect(await caller.ask(0x06, 0x02)).toMatchObject({ completion: 0xd4 })
  })

  test('takes each packet once, and none that is forged, old or far ahead', async () => {
    await using served = await servedIpmi()
    const bmc = served.bmc()
    const caller = await openSession(bmc)
    const packets = Array.from({ length: 40 }, () => caller.seal(PAYLOAD.ipmi, requestOf(...POWER_STATUS)))
    const answered = async (index: number): Promise<boolean> => (await exchanged(bmc, packets[index]!)).length === 1
    expect([await answered(0), await answered(0)]).toEqual([true, false])
    const forged = Buffer.from(packets[1]!)
    forged[forged.length - 1]! ^= 1
    expect(await exchanged(bmc, forged)).toEqual([])
    // One that comes late counts, once; 16 behind and 15 ahead are the limits.
    expect([await answered(15), await answered(1), await answered(1)]).toEqual([true, true, false])
    expect([await answered(31), await answered(30)]).toEqual([false, true])
    expect([await answered(13), await answered(14)]).toEqual([false, true])
  })

  test('takes no packet without encryption or authentication', async () => {
    await using served = await servedIpmi()
    const caller = await openSession(served.bmc())
    const packet = plainPacket('2.0', PAYLOAD.ipmi, requestOf(...POWER_STATUS))
    packet.writeUInt32LE(caller.id, 2)
    packet.writeUInt32LE(1, 6)
    expect(await exchanged(caller.bmc, rmcpDatagram(RMCP_IPMI, packet))).toEqual([])
    expect(await caller.ask(...POWER_STATUS)).toBeDefined()
  })

  test('ends when it is closed, and after a minute without a packet', async () => {
    const clock = new VirtualClock()
    await using served = await servedIpmi(1, clock)
    const bmc = served.bmc()
    const closed = await openSession(bmc)
    expect(await closed.ask(0x06, 0x3c, [1, 2, 3, 4])).toMatchObject({ completion: 0xd4 })
    await closed.done(0x06, 0x3c, idOf(closed.id))
    expect(await closed.ask(...POWER_STATUS)).toBeUndefined()
    const idle = await openSession(bmc)
    await clock.advance(59_000)
    expect(await idle.ask(...POWER_STATUS)).toBeDefined()
    await clock.advance(61_000)
    expect(await idle.ask(...POWER_STATUS)).toBeUndefined()
  })

  test('finds no room beside sixteen others, until one of them ends', async () => {
    await using served = await servedIpmi()
    const bmc = served.bmc()
    const callers = []
    for (let n = 0; n < 16; n++) callers.push(await openSession(bmc))
    expect(await refusal(openSession(bmc))).toEqual(['open', 0x01])
    await callers[3]!.done(0x06, 0x3c, idOf(callers[3]!.id))
    expect(await refusal(openSession(bmc))).toBe('opened')
  })

  test('opens although strangers have begun a thousand handshakes', async () => {
    await using served = await servedIpmi()
    const bmc = served.bmc()
    for (let n = 0; n < 1000; n++) await exchanged(bmc, plain(PAYLOAD.openRequest, openRequestOf([1, 1, 1], 0, n + 1)))
    expect(await refusal(openSession(bmc))).toBe('opened')
  })

  test('ends by a cold reset of the BMC, and another opens', async () => {
    await using served = await servedIpmi()
    const bmc = served.bmc()
    const caller = await openSession(bmc)
    await caller.done(0x06, 0x3b, [4])
    await caller.done(0x06, 0x02)
    expect(await caller.ask(...POWER_STATUS)).toBeUndefined()
    expect(await (await openSession(bmc)).ask(...POWER_STATUS)).toBeDefined()
    expect(served.machine().firmware.log.entries.map(({ kind }) => kind)).toEqual(['bmc reset'])
  })
})

const plain = (type: number, payload: Buffer): Buffer => rmcpDatagram(RMCP_IPMI, plainPacket('2.0', type, payload))

function idOf(id: number): number[] {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32LE(id)
  return [...bytes]
}
