import { describe, expect, test } from 'vitest'
import { systemClock, VirtualClock } from '../../../base/runtime/index.js'
import { administrator, openSession, Refused } from '../../../test/kit/ipmi/caller.js'
import { servedIpmi } from '../../../test/kit/ipmi/served.js'

const POWER = { off: 0, on: 1, cycle: 2, reset: 3, diagnostic: 4, soft: 5 }

const text = (bytes: Buffer): string => bytes.toString('hex')

describe('a command', () => {
  test('that the BMC does not know, has the wrong length or another LUN is refused by its code', async () => {
    await using served = await servedIpmi()
    const caller = await administrator(served.bmc())
    expect(await caller.ask(0x30, 0x01)).toEqual({ completion: 0xc1, data: Buffer.alloc(0) })
    expect(await caller.ask(0x00, 0x02)).toMatchObject({ completion: 0xc7 })
    expect(await caller.ask(0x00, 0x02, [1, 1])).toMatchObject({ completion: 0xc7 })
    expect(await caller.ask(0x00, 0x01, [], 3)).toMatchObject({ completion: 0xc2 })
    expect(served.machine().power()).toBe('off')
  })

  test('of a machine that fails is answered by an unspecified error', async () => {
    await using served = await servedIpmi()
    served.parts.accounts.set = () => Promise.reject(new Error('the disk is full'))
    const caller = await administrator(served.bmc())
    expect(await caller.ask(0x06, 0x47, [0x02, 0x02, ...Buffer.alloc(16, 0x61)])).toMatchObject({ completion: 0xff })
  })
})

describe('the chassis', () => {
  test('changes its power, and refuses what needs it to be on', async () => {
    await using served = await servedIpmi()
    const caller = await administrator(served.bmc())
    for (const control of [POWER.cycle, POWER.reset, POWER.diagnostic, POWER.soft])
      expect(await caller.ask(0x00, 0x02, [control])).toMatchObject({ completion: 0xd5 })
    const status = async (): Promise<string> => text(await caller.done(0x00, 0x01))
    expect(await status()).toBe('000040')
    await caller.done(0x00, 0x02, [POWER.on])
    // On, by a command.
    expect(await status()).toBe('011040')
    expect([...(await caller.done(0x00, 0x07))]).toEqual([1, 1])
    const before = served.machine().lastBoot()?.id
    for (const control of [POWER.cycle, POWER.reset, POWER.diagnostic]) await caller.done(0x00, 0x02, [control])
    expect(served.machine().power()).toBe('on')
    expect(served.machine().lastBoot()?.id).not.toBe(before)
    expect(served.machine().firmware.log.entries.at(-1)).toMatchObject({ kind: 'nmi' })
    await caller.done(0x00, 0x02, [POWER.soft])
    expect(served.machine().power()).toBe('off')
    expect(await caller.ask(0x00, 0x02, [7])).toMatchObject({ completion: 0xcc })
  })

  test('is identified for some seconds, or until a command ends it', async () => {
    const clock = new VirtualClock()
    await using served = await servedIpmi(1, clock)
    const caller = await administrator(served.bmc())
    const state = async (): Promise<number> => ((await caller.done(0x00, 0x01))[2]! >> 4) & 3
    const led = (): string => served.machine().firmware.indicator('chassis', 'LED')
    await caller.done(0x00, 0x04)
    expect([await state(), led()]).toEqual([1, 'blinking'])
    await clock.advance(14_000)
    expect(led()).toBe('blinking')
    await clock.advance(2_000)
    expect([await state(), led()]).toEqual([0, 'off'])
    await caller.done(0x00, 0x04, [0, 1])
    await clock.advance(50_000)
    expect([await state(), led()]).toEqual([2, 'blinking'])
    await caller.done(0x00, 0x04, [0])
    expect([await state(), led()]).toEqual([0, 'off'])
  })

  test('keeps its power restore policy', async () => {
    await using served = await servedIpmi()
    const caller = await administrator(served.bmc())
    for (const policy of [2, 1, 0]) {
      expect([...(await caller.done(0x00, 0x06, [policy]))]).toEqual([7])
      expect((await caller.done(0x00, 0x01))[0]! >> 5).toBe(policy)
    }
    await caller.done(0x00, 0x06, [3])
    expect(await caller.ask(0x00, 0x06, [4])).toMatchObject({ completion: 0xcc })
  })
})

describe('the identity', () => {
  test.each([
    ['Dell Inc.', 674],
    ['HPE', 47196],
    ['Supermicro', 10876],
    ['Lenovo', 19046],
    ['ironstage', 0],
  ])('of %s has the enterprise number %i', async (manufacturer, number) => {
    await using served = await servedIpmi(1, systemClock(), { manufacturer })
    const data = await (await administrator(served.bmc())).done(0x06, 0x01)
    expect(data.readUIntLE(6, 3)).toBe(number)
    // Major version, minor version in BCD, and the version of IPMI.
    expect([data[2], data[3], data[4]]).toEqual(number === 674 ? [7, 0x10, 2] : [2, 0, 2])
  })

  test('of the FRU is the machine’s, with sound checksums', async () => {
    await using served = await servedIpmi()
    const caller = await administrator(served.bmc())
    const size = (await caller.done(0x0a, 0x10, [0])).readUInt16LE(0)
    const parts = []
    for (let at = 0; at < size; at += 16) parts.push((await caller.done(0x0a, 0x11, [0, at, 0, 16])).subarray(1))
    const fru = Buffer.concat(parts)
    expect(fru).toHaveLength(size)
    const sum = (from: number, length: number): number =>
      fru.subarray(from, from + length).reduce((all, byte) => all + byte, 0) & 0xff
    expect(sum(0, 8)).toBe(0)
    for (const start of [fru[2]!, fru[3]!, fru[4]!]) expect(sum(start * 8, fru[start * 8 + 1]! * 8)).toBe(0)
    for (const each of ['ironstage', 'Simulated Server', 'IST-000001']) expect(fru.includes(each)).toBe(true)
    expect(await caller.ask(0x0a, 0x10, [1])).toMatchObject({ completion: 0xcb })
    expect(await caller.ask(0x0a, 0x11, [0, 0xff, 0xff, 1])).toMatchObject({ completion: 0xc9 })
  })
})

describe('the sensors', () => {
  test('are in the repository, which is read by parts with a reservation only', async () => {
    await using served = await servedIpmi()
    const caller = await administrator(served.bmc())
    const count = (await caller.done(0x0a, 0x20)).readUInt16LE(1)
    const names = []
    let next = 0
    do {
      const data = await caller.done(0x0a, 0x23, [0, 0, next & 0xff, next >> 8, 0, 0xff])
      const record = data.subarray(2)
      expect(record).toHaveLength(5 + record[4]!)
      const at = { 0x01: 47, 0x03: 16, 0x12: 15 }[record[3]!]!
      names.push(record.toString('latin1', at + 1, at + 1 + (record[at]! & 0x1f)))
      next = data.readUInt16LE(0)
    } while (next !== 0xffff)
    expect(names).toHaveLength(count)
    expect(names).toEqual(expect.arrayContaining(['Inlet Temp', 'Fan1 RPM', 'Power State', 'BMC']))
    expect(await caller.ask(0x0a, 0x23, [0, 0, 0, 0, 5, 8])).toMatchObject({ completion: 0xc5 })
    const [low, high] = await caller.done(0x0a, 0x22)
    expect(await caller.done(0x0a, 0x23, [low!, high!, 0, 0, 5, 8])).toHaveLength(10)
    await caller.done(0x0a, 0x22)
    expect(await caller.ask(0x0a, 0x23, [low!, high!, 0, 0, 5, 8])).toMatchObject({ completion: 0xc5 })
    expect(await caller.ask(0x0a, 0x23, [0, 0, 0xee, 0, 0, 0xff])).toMatchObject({ completion: 0xcb })
  })

  test('follow the power of the machine', async () => {
    await using served = await servedIpmi()
    const caller = await administrator(served.bmc())
    const reading = async (number: number): Promise<number[]> => [...(await caller.done(0x04, 0x2d, [number]))]
    // A CPU that is off has no temperature; a fan that may stand still is not low.
    expect([await reading(1), await reading(2), await reading(3)]).toEqual([
      [21, 0x40, 0xc0],
      [0, 0x60, 0xc0],
      [0, 0x40, 0xc0],
    ])
    await caller.done(0x00, 0x02, [POWER.on])
    expect([await reading(2), await reading(3)]).toEqual([
      [46, 0x40, 0xc0],
      [6480 / 60, 0x40, 0xc0],
    ])
    expect([...(await caller.done(0x04, 0x27, [1]))]).toEqual([0x12, 0, -7 & 0xff, 0, 0, 47, 0])
    expect(await caller.ask(0x04, 0x2d, [99])).toMatchObject({ completion: 0xcb })
  })
})

describe('the system event log', () => {
  test('has each device that did not boot as one without a bootable medium', async () => {
    await using served = await servedIpmi()
    const caller = await administrator(served.bmc())
    await served.machine().setBoot({ kind: 'boot order' })
    await served.machine().firmware.boot.setOverride({ target: 'Cd', enabled: 'Once' })
    await caller.done(0x00, 0x02, [POWER.on])
    await expect.poll(() => served.machine().boot()?.outcome).toBe('no bootable device')
    const events = []
    for (let next = 0; next !== 0xffff;) {
      const data = await caller.done(0x0a, 0x43, [0, 0, next & 0xff, next >> 8, 0, 0xff])
      next = data.readUInt16LE(0)
      events.push([data[12], data[15]])
    }
    // Working; the CD, the disks, and that nothing was left to boot.
    expect(events).toEqual([
      [0x22, 0],
      [0x1e, 0],
      [0x1e, 0],
      [0x1e, 0],
    ])
  })

  test('has what happened to the machine, and is cleared with a reservation only', async () => {
    const clock = new VirtualClock()
    await using served = await servedIpmi(1, clock)
    const caller = await administrator(served.bmc())
    await caller.done(0x00, 0x02, [POWER.on])
    await expect.poll(() => served.machine().firmware.log.entries.at(-1)?.kind).toBe('boot failed')
    await served.machine().firmware.insert('cdrom', 'http://images.example.com/a.iso')
    await caller.done(0x00, 0x02, [POWER.diagnostic])
    const seconds = Math.floor(clock.now() / 1000)
    const entries = []
    for (let next = 0; next !== 0xffff;) {
      const data = await caller.done(0x0a, 0x43, [0, 0, next & 0xff, next >> 8, 0, 0xff])
      next = data.readUInt16LE(0)
      const record = data.subarray(2)
      expect([record.length, record[2], record.readUInt32LE(3)]).toEqual([16, 2, seconds])
      entries.push([record[10], record[13]])
    }
    // Working, no bootable medium, diagnostic interrupt; an inserted medium has no event in IPMI.
    expect(entries).toEqual([
      [0x22, 0],
      [0x1e, 0],
      [0x13, 0],
    ])
    expect((await caller.done(0x0a, 0x40)).readUInt16LE(1)).toBe(3)
    const clear = [...Buffer.from('CLR'), 0xaa]
    expect(await caller.ask(0x0a, 0x47, [0, 0, ...clear])).toMatchObject({ completion: 0xc5 })
    const reservation = await caller.done(0x0a, 0x42)
    expect(await caller.ask(0x0a, 0x47, [...reservation, 1, 2, 3, 0xaa])).toMatchObject({ completion: 0xcc })
    await caller.done(0x0a, 0x47, [...reservation, ...clear])
    expect(await caller.ask(0x0a, 0x47, [...reservation, ...clear])).toMatchObject({ completion: 0xc5 })
    const left = await caller.done(0x0a, 0x43, [0, 0, 0, 0, 0, 0xff])
    expect([left.readUInt16LE(0), left[12], left[15]]).toEqual([0xffff, 0x10, 2])
  })
})

describe('the users', () => {
  test('are one, whose name and password can be changed', async () => {
    await using served = await servedIpmi()
    const bmc = served.bmc()
    const caller = await openSession(bmc)
    await caller.done(0x06, 0x3b, [4])
    const name = async (user: number): Promise<string> =>
      (await caller.done(0x06, 0x46, [user])).toString('latin1').replaceAll('\0', '')
    expect([await name(1), await name(2), await name(3)]).toEqual(['', 'admin', ''])
    expect([...(await caller.done(0x06, 0x44, [1, 2]))]).toEqual([10, 0x41, 1, 0x34])
    const password = (of: string, length: number): number[] => [...Buffer.concat([Buffer.from(of)], length)]
    await caller.done(0x06, 0x47, [0x82, 2, ...password('a-password-of-20-byt', 20)])
    expect(served.accounts.get('machine-1')).toEqual({ username: 'admin', password: 'a-password-of-20-byt' })
    await expect(openSession(bmc)).rejects.toThrow(Refused)
    await openSession(bmc, { password: 'a-password-of-20-byt' })
    expect(await caller.ask(0x06, 0x47, [0x02, 3, ...password('a-password-of-20', 16)])).toMatchObject({
      completion: 0x81,
    })
    expect(await caller.ask(0x06, 0x47, [0x82, 3, ...password('wrong', 20)])).toMatchObject({ completion: 0x80 })
    await caller.done(0x06, 0x47, [0x82, 3, ...password('a-password-of-20-byt', 20)])
    await caller.done(0x06, 0x45, [2, ...password('operator', 16)])
    await openSession(bmc, { username: 'operator', password: 'a-password-of-20-byt' })
  })

  test('cannot be more, and the one cannot be disabled', async () => {
    await using served = await servedIpmi()
    const caller = await administrator(served.bmc())
    const password = Buffer.alloc(16, 0x61)
    expect(await caller.ask(0x06, 0x47, [3, 2, ...password])).toMatchObject({ completion: 0xd5 })
    expect(await caller.ask(0x06, 0x47, [2, 0, ...password])).toMatchObject({ completion: 0xd5 })
    expect(await caller.ask(0x06, 0x45, [3, ...password])).toMatchObject({ completion: 0xd5 })
    expect(await caller.ask(0x06, 0x46, [11])).toMatchObject({ completion: 0xcc })
    expect(await caller.ask(0x06, 0x47, [2, 2, 1, 2, 3])).toMatchObject({ completion: 0xc7 })
  })
})
