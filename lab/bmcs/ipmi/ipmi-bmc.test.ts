import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { describe, expect, test } from 'vitest'
import { LabClock, Probe, Scope, seededRandom } from '../../../base/runtime/index.js'
import type { JsonObject } from '../../../base/wire/index.js'
import type { Bmc, BmcError } from '../../../ironic-mock/index.js'
import { aNode } from '../../../test/kit/ironic-records.js'
import { ADMIN, servedIpmi, type ServedIpmi } from '../../../test/kit/ipmi/served.js'
import type { BootFiles } from '../../images/boot-files.js'
import { openRemoteBmcs } from '../remote-bmcs.js'

/** Boot files that are only noted. */
const notedFiles = (noted: string[]): BootFiles => ({
  url: 'http://127.0.0.1:1',
  standIn: { kernel: 'http://127.0.0.1:1/kernel', ramdisk: 'http://127.0.0.1:1/ramdisk' },
  publishIso: () => 'http://127.0.0.1:1/boot.iso',
  publishScript: (_node, macs, boot) => void noted.push(`${macs.join()} ${boot === 'disk' ? boot : boot.kernel}`),
  forget: () => {},
  [Symbol.asyncDispose]: () => Promise.resolve(),
})

interface ReachedIpmi extends AsyncDisposable {
  readonly served: ServedIpmi
  readonly scripts: readonly string[]
  readonly port: number
  bmc(info?: JsonObject, port?: number, signal?: AbortSignal): Promise<Bmc>
}

async function reachedIpmi(hardware: object = {}): Promise<ReachedIpmi> {
  const scope = new Scope()
  const clock = new LabClock({ mode: 20 })
  const served = scope.use(await servedIpmi(1, clock, hardware))
  const { port } = await served.open()
  const scripts: string[] = []
  const remote = scope.use(
    openRemoteBmcs({
      files: notedFiles(scripts),
      probe: new Probe(),
      clock,
      random: seededRandom(1),
      powerTimeout: 30_000,
      answerTimeout: 400,
    }),
  )
  return {
    served,
    scripts,
    port,
    bmc: (info = {}, at = port, signal = undefined) => {
      const account = { ipmi_username: ADMIN.username, ipmi_password: ADMIN.password }
      const driver_info = { ipmi_address: '127.0.0.1', ipmi_port: at, ...account, ...info }
      return remote.of(aNode({ uuid: 'the-node', driver: 'ipmi', boot_interface: 'ipxe', driver_info }), [], signal)
    },
    [Symbol.asyncDispose]: () => scope[Symbol.asyncDispose](),
  }
}

const failure = (work: Promise<unknown>): Promise<BmcError> =>
  work.then(
    () => {
      throw new Error('it did not fail')
    },
    (error: unknown) => error as BmcError,
  )

test('a machine elsewhere is switched, and its boot device set, by IPMI', async () => {
  await using there = await reachedIpmi()
  const bmc = await there.bmc()
  const machine = there.served.machine()
  expect(await bmc.power()).toBe('power off')
  await bmc.setBoot({
    kind: 'pxe',
    kernel: 'http://images.test/kernel',
    ramdisk: 'http://images.test/ramdisk',
    append: '',
  })
  expect(machine.firmware.boot.override).toMatchObject({ target: 'Pxe', enabled: 'Once' })
  await bmc.setPower('power on')
  expect(await bmc.power()).toBe('power on')
  await bmc.setBoot({ kind: 'disk' })
  expect(machine.firmware.boot.override).toMatchObject({ target: 'Hdd', enabled: 'Continuous' })
  await bmc.setPower('rebooting')
  await bmc.hardware!.change({ change: 'nmi' })
  await bmc.hardware!.change({ change: 'raw', bytes: '0x00 0x04 0x00 0x01' })
  expect(machine.firmware.indicator('chassis', 'LED')).toBe('blinking')
  await bmc.hardware!.change({ change: 'reset bmc', warm: false })
  await bmc.setPower('power off')
  expect(await bmc.power()).toBe('power off')
  expect(there.scripts).toEqual([' http://images.test/kernel', ' disk'])
})

test('flags of boot stay valid for longer than a minute, unless driver_info leaves that out', async () => {
  await using there = await reachedIpmi()
  const { ipmi } = there.served.machine().firmware
  await (await there.bmc({ ipmi_disable_boot_timeout: 'False' })).setBoot({ kind: 'cdrom' })
  expect(ipmi.get().bootFlagClearing).toBeUndefined()
  await (await there.bmc()).setBoot({ kind: 'cdrom' })
  expect(ipmi.get().bootFlagClearing).toBe(8)
})

test('a BMC with the old cipher suite alone is reached by it', async () => {
  await using there = await reachedIpmi()
  for (const suite of [3, '17']) expect(await (await there.bmc({ ipmi_cipher_suite: suite })).power()).toBe('power off')
})

test('a network that loses the first copy of each datagram is borne', async () => {
  await using there = await reachedIpmi()
  await using scope = new Scope()
  const lossy = createSocket('udp4')
  const toBmc = createSocket('udp4')
  for (const socket of [lossy, toBmc])
    scope.onClose(() => new Promise<void>((resolve) => socket.close(() => resolve())))
  const seen = new Set<string>()
  let caller: { port: number; address: string } | undefined
  lossy.on('message', (datagram, from) => {
    caller = from
    const text = datagram.toString('hex')
    if (seen.has(text)) toBmc.send(datagram, there.port, '127.0.0.1')
    seen.add(text)
  })
  toBmc.on('message', (datagram) => lossy.send(datagram, caller!.port, caller!.address))
  lossy.bind(0, '127.0.0.1')
  await once(lossy, 'listening')
  const bmc = await there.bmc({}, lossy.address().port)
  await bmc.setPower('power on')
  expect(await bmc.power()).toBe('power on')
})

describe('a BMC by IPMI', () => {
  test.each<[string, JsonObject, object]>([
    ['with another password', { ipmi_password: 'wrong' }, { why: 'unauthorized' }],
    ['with another user', { ipmi_username: 'nobody' }, { why: 'unauthorized' }],
    ['that allows no such privilege', { ipmi_priv_level: 'CALLBACK' }, { why: 'refused' }],
  ])('%s refuses', async (_, info, error) => {
    await using there = await reachedIpmi()
    expect(await failure((await there.bmc(info)).power())).toMatchObject(error)
  })

  test.each<[string, JsonObject, string]>([
    ['a port that is none', { ipmi_port: 'many' }, '"ipmi_port" "many" is not a valid port.'],
    [
      'an unknown level',
      { ipmi_priv_level: 'ROOT' },
      'Invalid privilege level value:ROOT, the valid value can be one of ADMINISTRATOR',
    ],
    ['an unknown version', { ipmi_protocol_version: '3' }, 'Invalid IPMI protocol version value 3'],
    ['IPMI 1.5', { ipmi_protocol_version: 1.5 }, 'IPMI 1.5 is not supported for machines elsewhere'],
    ['bridging', { ipmi_bridging: 'dual' }, 'ipmi_bridging is not supported for machines elsewhere'],
    ['a key of the BMC', { ipmi_hex_kg_key: 'ab' }, 'ipmi_hex_kg_key is not supported for machines elsewhere'],
    [
      'no address',
      { ipmi_address: '' },
      "Missing the following IPMI credentials in node's driver_info: ['ipmi_address'].",
    ],
    ['a password that is too long', { ipmi_password: 'x'.repeat(21) }, 'IPMI passwords have at most 20 bytes'],
    ['a name that is too long', { ipmi_username: 'é'.repeat(9) }, 'IPMI names have at most 16 bytes; this one has 18'],
    ['a cipher suite that is no number', { ipmi_cipher_suite: 'best' }, 'Invalid cipher suite best, expected a number'],
    ['a cipher suite without encryption', { ipmi_cipher_suite: 0 }, 'cipher suite 0 is not supported'],
  ])('is not asked with %s', async (_, info, sentence) => {
    await using there = await reachedIpmi()
    expect((await failure((await there.bmc(info)).power())).message).toContain(sentence)
  })

  test('has no virtual media', async () => {
    await using there = await reachedIpmi()
    const bmc = await there.bmc()
    expect(await failure(bmc.setBoot({ kind: 'iso', url: 'http://images.test/a.iso' }))).toMatchObject({
      code: 'bmc-refuses',
      message: expect.stringContaining('has no virtual media') as string,
    })
    await expect(bmc.hardware!.change({ change: 'eject media', devices: null })).rejects.toMatchObject({
      code: 'bmc-refuses',
    })
    expect(await failure(bmc.hardware!.change({ change: 'raw', bytes: '0x00 potato' }))).toMatchObject({
      why: 'refused',
    })
  })

  test.each<[string, (datagram: Buffer, reply: (answer: Buffer) => void) => void]>([
    ['silent', () => {}],
    ['answering nonsense', (_, reply) => reply(Buffer.from('nonsense'))],
    ['echoing', (datagram, reply) => reply(datagram)],
  ])('that is %s is unreachable', async (_, answer) => {
    await using there = await reachedIpmi()
    const socket = createSocket('udp4')
    socket.on('message', (datagram, { port }) => answer(datagram, (sent) => socket.send(sent, port, '127.0.0.1')))
    socket.bind(0, '127.0.0.1')
    await once(socket, 'listening')
    try {
      expect(await failure((await there.bmc({}, socket.address().port)).power())).toMatchObject({ why: 'unreachable' })
    } finally {
      socket.close()
    }
  })

  test('whose port is closed is unreachable', async () => {
    await using there = await reachedIpmi()
    await there.served.server.close(there.served.machine().spec.id)
    expect(await failure((await there.bmc()).power())).toMatchObject({ why: 'unreachable' })
  })

  test('is not waited for once the caller gives up', async () => {
    await using there = await reachedIpmi()
    const socket = createSocket('udp4')
    socket.bind(0, '127.0.0.1')
    await once(socket, 'listening')
    const controller = new AbortController()
    socket.on('message', () => controller.abort(new Error('given up')))
    try {
      const bmc = await there.bmc({}, socket.address().port, controller.signal)
      expect(await failure(bmc.power())).toMatchObject({ message: 'given up' })
    } finally {
      socket.close()
    }
  })

  test('answers or refuses each of many callers at once', async () => {
    await using there = await reachedIpmi()
    const calls = Array.from({ length: 20 }, async () => (await there.bmc()).power())
    // It has room for 16 sessions.
    const settled = await Promise.allSettled(calls)
    expect(settled.filter(({ status }) => status === 'fulfilled').length).toBeGreaterThan(10)
    expect(await (await there.bmc()).power()).toBe('power off')
  })
})
