import { createSocket } from 'node:dgram'
import { describe, expect, onTestFinished, test } from 'vitest'
import { composeStage } from '../../../lab/index.js'
import { defaultMachineSpec } from '../../../machine/index.js'
import type { FaultMatch } from '../../../control/faults/fault.js'
import type { FaultEffect } from '../../../control/faults/fault-effects.js'
import { seconds, systemClock } from '../../../base/runtime/index.js'
import { administrator, openSession, type Caller } from '../../kit/ipmi/caller.js'
import { overUdp } from '../../kit/ipmi/over-udp.js'

/** BMCs of a lab's machines over IPMI, from outside, with the lab's faults and its journal. */

const ADMIN = { username: 'admin', password: 'secret-1' }
const STATUS = [0x00, 0x01] as const
const SWITCH_ON = [0x00, 0x02, [1]] as const

async function servedLab() {
  const lab = await composeStage({
    disks: 'described',
    clock: systemClock(),
    bmcAccount: ADMIN,
    machines: [1, 2].map((n) => ({ spec: n, name: `node-${n}` })),
  })
  const bmcs = await lab.ipmi({ port: 0 })
  const callers: Disposable[] = []
  onTestFinished(async () => {
    for (const caller of callers) caller[Symbol.dispose]()
    await bmcs[Symbol.asyncDispose]()
    await lab[Symbol.asyncDispose]()
  })
  /** A session with a machine's BMC; what is not answered within half a second has no answer. */
  const caller = async (n = 1): Promise<Caller> => {
    const bmc = overUdp(bmcs.addressOf(`machine-${n}`)!.port, 500)
    callers.push(bmc)
    const opened = await openSession(bmc, ADMIN)
    await opened.done(0x06, 0x3b, [4])
    return opened
  }
  const strike = (match: FaultMatch, effect: FaultEffect) => lab.faults.add({ match, effect })
  return { lab, bmcs, caller, strike, machine: () => lab.machines.get('machine-1')! }
}

test('a command is in the journal with its name and machine, and no password', async () => {
  const { lab, caller, machine } = await servedLab()
  const session = await caller()
  await session.done(...SWITCH_ON)
  await session.done(0x06, 0x47, [0x02, 2, ...Buffer.concat([Buffer.from('hidden-word')], 16)])
  expect(machine().power()).toBe('on')
  const entries = lab.journal.entries({ kind: 'bmc' })
  expect(entries.filter(({ machine: of }) => of !== 'machine-1')).toEqual([])
  expect(entries.at(-2)).toMatchObject({ call: 'set power', method: 'IPMI', target: 'Chassis Control', status: null })
  expect(entries.at(-1)).toMatchObject({ call: 'change accounts', method: 'IPMI', target: 'Set User Password' })
  expect(JSON.stringify(entries)).not.toContain('hidden-word')
})

test('the account is that of the lab, for Redfish too when IPMI changes it', async () => {
  const { lab, caller } = await servedLab()
  const redfish = await lab.redfish({ port: 0 })
  onTestFinished(() => redfish[Symbol.asyncDispose]())
  const status = async (password: string): Promise<number> => {
    const authorization = `Basic ${Buffer.from(`admin:${password}`).toString('base64')}`
    return (await fetch(`${redfish.url}/redfish/v1/Systems/machine-1`, { headers: { authorization } })).status
  }
  const session = await caller()
  expect(await status(ADMIN.password)).toBe(200)
  await session.done(0x06, 0x47, [0x02, 2, ...Buffer.concat([Buffer.from('another')], 16)])
  expect([await status(ADMIN.password), await status('another')]).toEqual([401, 200])
})

test('the serial console shows what the machine says', async () => {
  const { bmcs, machine } = await servedLab()
  const socket = createSocket('udp4')
  onTestFinished(() => void socket.close())
  const packets: Buffer[] = []
  let answered: ((datagram: Buffer) => void) | undefined
  socket.on('message', (datagram) => {
    // RMCP+, and the payload type of the serial console.
    if (datagram[4] === 6 && (datagram[5]! & 0x3f) === 1) packets.push(datagram)
    else answered?.(datagram)
  })
  const { port } = bmcs.addressOf('machine-1')!
  const session = await administrator(
    {
      receive: async (datagram, send) => {
        const answer = new Promise<Buffer>((resolve) => (answered = resolve))
        socket.send(datagram, port, '127.0.0.1')
        send(await answer)
      },
      [Symbol.dispose]: () => {},
    },
    ADMIN,
  )
  await session.done(0x06, 0x48, [1, 1, 0xc0, 0, 0, 0])
  machine().say('a line of the console')
  await expect.poll(() => packets.length).toBe(1)
  expect(session.open(packets[0]!).toString('utf8', 4)).toBe('a line of the console\r\n')
})

test('the boot device is the one that Redfish shows', async () => {
  const { lab, caller } = await servedLab()
  const redfish = await lab.redfish({ port: 0 })
  onTestFinished(() => redfish[Symbol.asyncDispose]())
  const session = await caller()
  await session.done(0x00, 0x08, [5, 0xe0, 5 << 2, 0, 0, 0])
  const authorization = `Basic ${Buffer.from(`${ADMIN.username}:${ADMIN.password}`).toString('base64')}`
  const system = await fetch(`${redfish.url}/redfish/v1/Systems/machine-1`, { headers: { authorization } })
  expect(await system.json()).toMatchObject({
    Boot: { BootSourceOverrideTarget: 'Cd', BootSourceOverrideEnabled: 'Continuous' },
  })
})

describe('a fault strikes commands over IPMI:', () => {
  test.each<[FaultEffect['kind'], FaultEffect]>([
    ['bmc-silent', { kind: 'bmc-silent' }],
    ['hang', { kind: 'hang' }],
  ])('%s: nothing is answered or done, and other machines answer', async (_, effect) => {
    const { strike, caller, machine } = await servedLab()
    const session = await caller()
    const other = await caller(2)
    const fault = strike({ machine: 'machine-1' }, effect)
    expect(await session.ask(...SWITCH_ON)).toBeUndefined()
    expect(machine().power()).toBe('off')
    expect(await other.ask(...STATUS)).toMatchObject({ completion: 0 })
    fault[Symbol.dispose]()
    expect(await session.ask(...STATUS)).toMatchObject({ completion: 0 })
  })

  test('bmc-busy: the node is busy, and does nothing', async () => {
    const { strike, caller, machine } = await servedLab()
    const session = await caller()
    strike({ machine: 'machine-1', bmc: 'set power' }, { kind: 'bmc-busy' })
    expect(await session.ask(...SWITCH_ON)).toMatchObject({ completion: 0xc0 })
    expect(machine().power()).toBe('off')
  })

  test('bmc-silent: no session opens', async () => {
    const { strike, caller } = await servedLab()
    strike({ machine: 'machine-1' }, { kind: 'bmc-silent' })
    await expect(caller()).rejects.toMatchObject({ step: 'open', status: null })
  })

  test('bmc-dark: the command is carried out, and none after it is answered', async () => {
    const { strike, caller, machine } = await servedLab()
    const session = await caller()
    strike({ machine: 'machine-1', bmc: 'set power' }, { kind: 'bmc-dark', ms: seconds(60) })
    expect(await session.ask(...SWITCH_ON)).toMatchObject({ completion: 0 })
    expect(machine().power()).toBe('on')
    expect(await session.ask(0x00, 0x02, [0])).toBeUndefined()
  })

  test('bmc-lies: a change is reported done and left out, what is read is true', async () => {
    const { strike, caller, machine } = await servedLab()
    const session = await caller()
    strike({ machine: 'machine-1' }, { kind: 'bmc-lies' })
    expect(await session.ask(...SWITCH_ON)).toEqual({ completion: 0, data: Buffer.alloc(0) })
    expect(machine().power()).toBe('off')
    expect([...(await session.done(...STATUS))]).toEqual([0, 0, 0x40])
  })

  test('delay: the answer comes later', async () => {
    const { strike, caller } = await servedLab()
    const session = await caller()
    strike({ machine: 'machine-1', bmc: 'read power' }, { kind: 'delay', ms: 200 })
    const before = performance.now()
    expect(await session.ask(...STATUS)).toMatchObject({ completion: 0 })
    expect(performance.now() - before).toBeGreaterThan(190)
  })
})

test('a machine has the place of its number, and one of another name the first free one', async () => {
  const { lab, bmcs } = await servedLab()
  await bmcs[Symbol.asyncDispose]()
  await lab.machines.remove('machine-1')
  const first = 20_000 + (process.pid % 20_000)
  await using listener = await lab.ipmi({ port: first })
  expect(listener.addressOf('machine-2')!.port).toBe(first + 1)
  const other = await lab.machines.create({ ...defaultMachineSpec(7), id: 'rack-3' })
  expect((await listener.open(other)).port).toBe(first)
  await listener.close('rack-3')
  expect((await listener.open(await lab.machines.create(defaultMachineSpec(1)))).port).toBe(first)
  expect((await listener.open(await lab.machines.create(defaultMachineSpec(5)))).port).toBe(first + 4)
})

test('machines listen on ports or addresses that count up, and none when one cannot', async () => {
  const { lab, bmcs } = await servedLab()
  const addresses = await lab.ipmi({ host: '127.77.0.255', port: 0, each: 'address' })
  expect(addresses.addressOf('machine-1')!.host).toBe('127.77.0.255')
  expect(addresses.addressOf('machine-2')!.host).toBe('127.77.1.0')
  await addresses[Symbol.asyncDispose]()
  const { port } = bmcs.addressOf('machine-2')!
  await expect(lab.ipmi({ port: port - 1 })).rejects.toMatchObject({ code: 'port-in-use' })
  await expect(lab.ipmi({ port: 65535 })).rejects.toMatchObject({
    message: 'there is no UDP port for machine 2: port 65535 is the first',
  })
})
