import { describe, expect, test } from 'vitest'
import type { DialectChoice } from '../dialects/index.js'
import { VirtualClock } from '../../base/runtime/index.js'
import { defaultMachineSpec, withHardware } from '../../machine/index.js'
import { administrator, openSession, Refused, sessionless, type Caller } from '../../test/kit/ipmi/caller.js'
import { servedIpmi } from '../../test/kit/ipmi/served.js'

function ipmiOf(dialect: DialectChoice, clock = new VirtualClock()) {
  const { manufacturer, product } = withHardware(defaultMachineSpec(1), { bmc: dialect })
  return servedIpmi(1, clock, { dialect, manufacturer, product })
}

const POWER = { on: 1, off: 0 }
const BOOT_DEVICE = [0x00, 0x08] as const

/** The bytes of the whole FRU. */
async function fruOf(caller: Caller): Promise<string> {
  const size = (await caller.done(0x0a, 0x10, [0])).readUInt16LE(0)
  let text = ''
  for (let at = 0; at < size; at += 16) {
    const part = await caller.done(0x0a, 0x11, [0, at & 0xff, at >> 8, Math.min(16, size - at)])
    text += part.subarray(1).toString('latin1')
  }
  return text
}

/** Names of the full sensor records. */
async function sensorNames(caller: Caller): Promise<string[]> {
  const names: string[] = []
  for (let next = 0; next !== 0xffff;) {
    const data = await caller.done(0x0a, 0x23, [0, 0, next & 0xff, next >> 8, 0, 0xff])
    next = data.readUInt16LE(0)
    const record = data.subarray(2)
    if (record[3] === 0x01) names.push(record.subarray(48, 48 + (record[47]! & 0x1f)).toString('latin1'))
  }
  return names
}

describe('a BMC over IPMI says who it is', () => {
  test.each([
    ['idrac9', 0x20, 674, 0x0100],
    ['ilo5', 0x13, 11, 0x2000],
    ['supermicro-x11', 0x20, 10876, 0x0962],
    ['xcc', 0x20, 19046, 1],
    ['cimc', 0x20, 5771, 1],
    ['standard', 0x20, 0, 1],
  ] as const)('%s: device %i, maker %i, product %i', async (dialect, device, maker, product) => {
    await using served = await ipmiOf(dialect)
    const caller = await administrator(served.bmc())
    const data = await caller.done(0x06, 0x01)
    expect([data[0], data.readUIntLE(6, 3), data.readUInt16LE(9)]).toEqual([device, maker, product])
  })

  test('the FRU of a Dell has a board with a part and a serial number of its own', async () => {
    await using served = await ipmiOf('idrac9')
    const { serial } = served.machine().spec
    const text = await fruOf(await administrator(served.bmc()))
    for (const part of ['Dell Inc.', 'PowerEdge R750', '0WMWCRA01', `MB-${serial}`]) expect(text).toContain(part)
  })

  test.each([
    ['idrac9', ['Inlet Temp', 'Temp', 'Fan1A', 'Fan2A', 'Voltage 1', 'Pwr Consumption']],
    ['ilo6', ['01-Inlet Ambient', '02-CPU 1', 'Fan 1', 'Fan 2', 'PSU1 Voltage', 'Power Supply 1']],
    ['supermicro-x12', ['System Temp', 'CPU Temp', 'FAN1', 'FAN2', 'PSU1 Voltage', 'Power Consumptio']],
  ] as const)('the sensors of %s have its names', async (dialect, names) => {
    await using served = await ipmiOf(dialect)
    expect(await sensorNames(await administrator(served.bmc()))).toEqual(names)
  })

  test('there are as many users as it can have', async () => {
    await using served = await ipmiOf('idrac9')
    const caller = await administrator(served.bmc())
    expect((await caller.done(0x06, 0x44, [1, 16]))[0]).toBe(16)
    expect(await caller.ask(0x06, 0x44, [1, 17])).toMatchObject({ completion: 0xcc })
  })
})

describe('the cipher suites of a BMC', () => {
  const offered = async (dialect: DialectChoice) => {
    await using served = await ipmiOf(dialect)
    const { data } = await sessionless(served.bmc(), 0x06, 0x54, [0x0e, 0x00, 0x80])
    return [...data.subarray(1)]
  }

  test('are those that it offers, and another opens no session', async () => {
    expect(await offered('idrac8')).toEqual([0xc0, 3, 1, 0x41, 0x81])
    await using served = await ipmiOf('idrac8')
    await openSession(served.bmc(), { suite: 3 })
    await expect(openSession(served.bmc(), { suite: 17 })).rejects.toThrow(new Refused('open', 0x11))
  })

  test('may be 17 alone', async () => {
    const own = { ipmi: { cipherSuites: [17] } }
    expect(await offered(own)).toEqual([0xc0, 17, 3, 0x44, 0x81])
    await using served = await ipmiOf(own)
    await expect(openSession(served.bmc(), { suite: 3 })).rejects.toThrow(new Refused('open', 0x11))
    const caller = await administrator(served.bmc(), { suite: 17 })
    const configured = await caller.done(0x0c, 0x02, [1, 23, 0, 0])
    expect([...configured.subarray(1, 4)]).toEqual([0, 17, 0])
  })
})

describe('boot flags for all boots', () => {
  const persistentDisk = [5, 0xe0, 2 << 2, 0, 0, 0]

  test.each([
    ['kept', { target: 'Hdd', enabled: 'Continuous' }],
    ['once', { target: 'Hdd', enabled: 'Once' }],
    ['ignored', { target: 'None', enabled: 'Disabled' }],
  ] as const)('are %s', async (persistentBoot, override) => {
    await using served = await ipmiOf({ ipmi: { persistentBoot } })
    const caller = await administrator(served.bmc())
    await caller.done(...BOOT_DEVICE, persistentDisk)
    expect(served.machine().firmware.boot.override).toMatchObject(override)
  })

  test.each([
    ['settable', 0, 'Continuous'],
    ['refused', 0x80, 'Disabled'],
    ['ignored', 0, 'Disabled'],
  ] as const)('beyond a minute: the parameter for it is %s', async (flagClearing, completion, enabled) => {
    const clock = new VirtualClock()
    await using served = await ipmiOf({ ipmi: { flagClearing } }, clock)
    const caller = await administrator(served.bmc())
    expect((await caller.ask(...BOOT_DEVICE, [3, 8]))!.completion).toBe(completion)
    await caller.done(...BOOT_DEVICE, persistentDisk)
    await clock.advance(50_000)
    expect(served.machine().firmware.boot.override.enabled).toBe('Continuous')
    await clock.advance(11_000)
    expect(served.machine().firmware.boot.override.enabled).toBe(enabled)
  })
})

test('the chassis status has a change of the power late', async () => {
  const clock = new VirtualClock()
  await using served = await ipmiOf({ ipmi: { shownAfter: 20 } }, clock)
  const caller = await administrator(served.bmc())
  const isOn = async () => ((await caller.done(0x00, 0x01))[0]! & 1) === 1
  await caller.done(0x00, 0x02, [POWER.on])
  expect(served.machine().power()).toBe('on')
  expect(await isOn()).toBe(false)
  await clock.advance(20_000)
  expect(await isOn()).toBe(true)
})
