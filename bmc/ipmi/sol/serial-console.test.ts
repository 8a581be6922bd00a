import { describe, expect, test } from 'vitest'
import { VirtualClock } from '../../../base/runtime/index.js'
import { openSession, type Caller } from '../../../test/kit/ipmi/caller.js'
import { servedIpmi, type ServedIpmi } from '../../../test/kit/ipmi/served.js'
import { PAYLOAD, readPacket } from '../protocol/packet.js'
import { readRmcp } from '../protocol/rmcp.js'

const ACTIVATE = [0x06, 0x48, [1, 1, 0xc0, 0, 0, 0]] as const
const DEACTIVATE = [0x06, 0x49, [1, 1, 0, 0, 0, 0]] as const

/** A session with the console, whose packets arrive in `packets`. */
async function console(
  served: ServedIpmi,
): Promise<{ caller: Caller; packets: Buffer[]; ack: (byte?: number) => void }> {
  const bmc = served.bmc()
  const packets: Buffer[] = []
  const caller = await openSession({
    receive: (datagram, send) =>
      bmc.receive(datagram, (answer) => {
        // Messages of a handshake have other payloads.
        const packet = readPacket(readRmcp(answer)!.data, () => 16)!
        if (packet.payloadType === PAYLOAD.sol) packets.push(caller.open(answer))
        else send(answer)
      }),
    [Symbol.dispose]: () => bmc[Symbol.dispose](),
  })
  await caller.done(0x06, 0x3b, [4])
  const ack = (accepted?: number): void => {
    const last = packets.at(-1)!
    const nack = accepted === undefined ? 0 : 0x40
    const packet = Buffer.from([0, last[0]!, accepted ?? last.length - 4, nack])
    void caller.bmc.receive(caller.seal(PAYLOAD.sol, packet), () => {})
  }
  return { caller, packets, ack }
}

const text = (packet: Buffer | undefined): string | undefined => packet?.toString('utf8', 4)

describe('the serial console', () => {
  test('shows the lines of the machine from its activation on, each packet after the one before is acknowledged', async () => {
    await using served = await servedIpmi(2)
    const { caller, packets, ack } = await console(served)
    served.machine().say('before')
    expect((await caller.done(...ACTIVATE)).toString('hex')).toBe('00000000' + 'c800' + 'c800' + '6f02' + 'ffff')
    served.machine().say('first')
    served.machine(2).say('of another machine')
    served.machine().say('second')
    expect(packets.map(text)).toEqual(['first\r\n'])
    ack()
    expect(packets.map(text)).toEqual(['first\r\n', 'second\r\n'])
    expect(packets.map((each) => each[0])).toEqual([1, 2])
    ack(3)
    expect(text(packets[2])).toBe('ond\r\n')
  })

  test('acknowledges what is typed', async () => {
    await using served = await servedIpmi()
    const { caller, packets } = await console(served)
    await caller.done(...ACTIVATE)
    await caller.bmc.receive(caller.seal(PAYLOAD.sol, Buffer.from([5, 0, 0, 0, 0x6c, 0x73, 0x0d])), () => {})
    expect(packets.map((each) => [...each])).toEqual([[0, 5, 3, 0]])
  })

  test('sends a packet again that is not acknowledged, and gives it up after seven times', async () => {
    const clock = new VirtualClock()
    await using served = await servedIpmi(1, clock)
    const { caller, packets } = await console(served)
    await caller.done(...ACTIVATE)
    served.machine().say('lost')
    await clock.advance(10_000)
    expect(packets.map(text)).toEqual(Array.from({ length: 8 }, () => 'lost\r\n'))
    expect(new Set(packets.map((each) => each[0]))).toEqual(new Set([1]))
    served.machine().say('next')
    expect(text(packets.at(-1))).toBe('next\r\n')
  })

  test('belongs to one session, until that deactivates it or ends', async () => {
    const clock = new VirtualClock()
    await using served = await servedIpmi(1, clock)
    const { caller, packets } = await console(served)
    const status = async (): Promise<number[]> => [...(await caller.done(0x06, 0x4a, [1]))]
    expect(await caller.ask(...DEACTIVATE)).toMatchObject({ completion: 0x80 })
    expect(await status()).toEqual([1, 0, 0])
    await caller.done(...ACTIVATE)
    expect(await status()).toEqual([1, 1, 0])
    expect(await caller.ask(...ACTIVATE)).toMatchObject({ completion: 0x80 })
    await caller.done(...DEACTIVATE)
    served.machine().say('nobody listens')
    expect(packets).toEqual([])
    await caller.done(...ACTIVATE)
    await clock.advance(61_000)
    served.machine().say('the session has ended')
    expect(packets).toEqual([])
    expect(served.parts.probe.watches('console')).toBe(false)
  })

  test('needs encryption, and is the only payload', async () => {
    await using served = await servedIpmi()
    const { caller } = await console(served)
    expect(await caller.ask(0x06, 0x48, [1, 1, 0x00, 0, 0, 0])).toMatchObject({ completion: 0x84 })
    expect(await caller.ask(0x06, 0x48, [2, 1, 0xc0, 0, 0, 0])).toMatchObject({ completion: 0xcc })
    expect(await caller.ask(0x06, 0x48, [1, 2, 0xc0, 0, 0, 0])).toMatchObject({ completion: 0xcc })
  })
})
