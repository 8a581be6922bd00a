import { describe, expect, test } from 'vitest'
import type { BootTarget } from '../../../machine/index.js'
import { systemClock, VirtualClock } from '../../../base/runtime/index.js'
import { administrator, type Caller } from '../../../test/kit/ipmi/caller.js'
import { servedIpmi } from '../../../test/kit/ipmi/served.js'

const SWITCH_ON = 1
const text = (bytes: Buffer): string => bytes.toString('hex')

describe('the boot flags', () => {
  const set = (flags: readonly number[]): [number, number, number[]] => [0x00, 0x08, [5, ...flags, 0, 0, 0].slice(0, 6)]
  const get = [0x00, 0x09, [5, 0, 0]] as const

  test.each<[number, BootTarget, number]>([
    [1, 'Pxe', 1],
    [2, 'Hdd', 2],
    // The override cannot tell the safe mode apart: the flags are read back as they were set.
    [3, 'Hdd', 3],
    [4, 'Diags', 4],
    [5, 'Cd', 5],
    [6, 'BiosSetup', 6],
    [7, 'Floppy', 7],
    [8, 'Cd', 8],
    [9, 'Usb', 9],
    [11, 'Usb', 11],
    [15, 'Floppy', 15],
  ])('with device %i set the boot override to %s', async (selector, target, read) => {
    await using served = await servedIpmi()
    const caller = await administrator(served.bmc())
    const { boot } = served.machine().firmware
    await caller.done(...set([0xa0, selector << 2, 0x40]))
    expect(boot.override).toMatchObject({ target, enabled: 'Once' })
    expect(text(await caller.done(...get))).toBe(Buffer.from([1, 5, 0xa0, read << 2, 0x40, 0, 0]).toString('hex'))
    await caller.done(...set([0xe0, selector << 2, 0]))
    expect(boot.override).toMatchObject({ target, enabled: 'Continuous' })
    await caller.done(...set([0, 0, 0]))
    expect(boot.override).toMatchObject({ target: 'None', enabled: 'Disabled' })
  })

  test.each<[BootTarget, number]>([
    ['Pxe', 1],
    ['Hdd', 2],
    ['Cd', 5],
    ['BiosSetup', 6],
    ['UefiHttp', 0],
  ])('show an override to %s that Redfish has set', async (target, selector) => {
    await using served = await servedIpmi()
    const caller = await administrator(served.bmc())
    await caller.done(...set([0xa0, 4 << 2, 0]))
    await served.machine().firmware.boot.setOverride({ target, enabled: 'Continuous' })
    expect([...(await caller.done(...get))]).toEqual([1, 5, 0xe0, selector << 2, 0, 0, 0])
  })

  test('for one boot are gone after it', async () => {
    await using served = await servedIpmi()
    const caller = await administrator(served.bmc())
    await served.machine().setBoot({ kind: 'disk' })
    await caller.done(...set([0xa0, 5 << 2, 0]))
    await caller.done(0x00, 0x02, [SWITCH_ON])
    await expect.poll(() => served.machine().boot()?.source).toEqual({ kind: 'cdrom' })
    expect([...(await caller.done(...get))]).toEqual([1, 5, 0x20, 0, 0, 0, 0])
  })

  test('are no longer valid a minute after, unless a chassis control command has come', async () => {
    const clock = new VirtualClock()
    await using served = await servedIpmi(1, clock)
    const { boot } = served.machine().firmware
    const minuteLater = async (setFirst: (caller: Caller) => Promise<unknown>): Promise<string> => {
      const caller = await administrator(served.bmc())
      await setFirst(caller)
      await caller.done(...set([0xe0, 1 << 2, 0]))
      await clock.advance(50_000)
      expect(boot.override.enabled).toBe('Continuous')
      await clock.advance(11_000)
      return boot.override.enabled
    }
    expect(await minuteLater((caller) => caller.done(0x00, 0x08, [4, 1, 1]))).toBe('Disabled')
    // Ironic asks for this before it sets a boot device.
    expect(await minuteLater((caller) => caller.done(0x00, 0x08, [3, 8]))).toBe('Continuous')
    const caller = await administrator(served.bmc())
    await caller.done(0x00, 0x08, [3, 0])
    await caller.done(...set([0xe0, 1 << 2, 0]))
    await clock.advance(50_000)
    await caller.done(0x00, 0x02, [SWITCH_ON])
    await clock.advance(50_000)
    expect(boot.override.enabled).toBe('Continuous')
  })

  test('of Supermicro name the disk by the selector of remote media', async () => {
    await using served = await servedIpmi(1, systemClock(), { manufacturer: 'Supermicro' })
    const machine = served.machine()
    const caller = await administrator(served.bmc())
    await caller.done(...set([0xe0, 0x24, 0]))
    expect(machine.firmware.boot.override).toMatchObject({ target: 'Hdd' })
    expect((await caller.done(...get))[3]).toBe(0x24)
  })

  test('turn UEFI on, and refuse what has no meaning', async () => {
    await using served = await servedIpmi()
    const caller = await administrator(served.bmc())
    const { firmware } = served.machine()
    await firmware.setBootMode('bios')
    await caller.done(...set([0xa0, 1 << 2, 0]))
    expect(firmware.bootMode).toBe('uefi')
    await caller.done(...set([0x80, 2 << 2, 0]))
    expect(firmware.bootMode).toBe('uefi')
    expect(await caller.ask(...set([0x80, 0x0a << 2, 0]))).toMatchObject({ completion: 0xcc })
    expect(await caller.ask(0x00, 0x08, [5, 0x80])).toMatchObject({ completion: 0xc7 })
    expect(await caller.ask(0x00, 0x08, [9, 1])).toMatchObject({ completion: 0x80 })
    expect(await caller.ask(0x00, 0x09, [9, 0, 0])).toMatchObject({ completion: 0x80 })
  })

  test('stand beside the other boot options', async () => {
    await using served = await servedIpmi()
    const caller = await administrator(served.bmc())
    await caller.done(0x00, 0x08, [0, 1])
    await caller.done(0x00, 0x08, [3, 0x1f])
    await caller.done(0x00, 0x08, [4, 0x05, 0x07])
    const read = async (parameter: number): Promise<number[]> => [
      ...(await caller.done(0x00, 0x09, [parameter, 0, 0])).subarray(2),
    ]
    expect([await read(0), await read(3), await read(4)]).toEqual([[1], [0x1f], [0, 5]])
  })
})
