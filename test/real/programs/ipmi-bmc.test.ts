import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, afterEach, expect, test } from 'vitest'
import { readHosts, realAccess, type Host } from '../../../apps/hardware-lab/index.js'
import { ConsoleCapture } from '../../../apps/hardware-lab/console/capture.js'
import type { ConsoleFinding } from '../../../apps/hardware-lab/pipeline/run-state.js'
import { openFleet } from '../../../apps/fleet/index.js'
import { silent, systemClock, systemRandom } from '../../../base/runtime/index.js'
import { servedIpmi, type ServedIpmi } from '../../kit/ipmi/served.js'
import { ipmitoolFolder } from '../ipmitool.js'
import { REAL_PEER_TIMEOUT } from '../limits.js'

/** A host of `ironstage run` whose BMC is reached by Debian's ipmitool. */

const signal = new AbortController().signal
let folder: string
let program: string
let served: ServedIpmi
let host: Host
beforeAll(async () => {
  program = await ipmitoolFolder()
  folder = await mkdtemp(join(tmpdir(), 'ironstage-ipmi-bmc-'))
}, 900_000)
afterAll(() => rm(folder, { recursive: true, force: true }))
beforeEach(async () => {
  served = await servedIpmi()
  const { port } = await served.open()
  const bmc = `{ipmi: "127.0.0.1:${port}", username: admin, password: {env: BMC_PASSWORD}, console: sol}`
  const lines = ['hosts:', '  a:', '    live: {pxe: true}', '    ssh: {address: 192.0.2.1}', '    disk: {serial: S1}']
  await writeFile(join(folder, 'hosts.yaml'), `${[...lines, `    bmc: ${bmc}`].join('\n')}\n`)
  host = (await readHosts(join(folder, 'hosts.yaml'))).hosts[0]!
})
afterEach(() => served[Symbol.asyncDispose]())

const access = async (password = 'secret-1') =>
  realAccess({
    file: await readHosts(join(folder, 'hosts.yaml')),
    folder,
    environment: {},
    secrets: { ask: () => Promise.resolve(null) },
    variables: { PATH: `${program}:${process.env['PATH']}`, BMC_PASSWORD: password },
    clock: systemClock(),
    random: systemRandom,
    logger: silent,
  })

test('tells its serial numbers, boots the network once and then the disk, and has a log', async () => {
  await using fleet = await openFleet({
    count: 1,
    redfish: { port: 0 },
    ipmi: { port: 0 },
    bootScript: 'http://127.0.0.1:1/boot.ipxe',
    account: { username: 'admin', password: 'secret-1' },
    clock: systemClock(),
    random: systemRandom,
    logger: silent,
  })
  const [machine] = fleet.machines.list()
  const { host: address, port } = fleet.ipmiAddress(machine!.spec.id)!
  await using bmc = (await (
    await access()
  ).openBmc({ ...host, bmc: { ...host.bmc, ipmi: `${address}:${port}` } }, signal))!
  expect(await bmc.identify(signal)).toMatchObject({ systemSerial: machine!.spec.serial })
  const tried = () =>
    machine!.firmware.log.entries.filter(({ kind }) => kind === 'boot failed').map(({ detail }) => detail)
  const isOver = expect.poll(() => machine!.boot()?.outcome, { timeout: REAL_PEER_TIMEOUT })
  await bmc.bootLive(host.live, signal)
  await isOver.toBe('no bootable device')
  expect(tried()[0]).toMatch(/^PXE: /)
  const before = tried().length
  await bmc.bootDisk(signal)
  await expect.poll(() => tried().length, { timeout: REAL_PEER_TIMEOUT }).toBeGreaterThan(before)
  expect(tried()[before]).toMatch(/^disk: /)
  expect((await bmc.log(0, signal)).join('\n')).toMatch(/No bootable media/)
})

test('a wrong password is named, and shown nowhere', async () => {
  await using bmc = (await (await access('wrong-canary')).openBmc(host, signal))!
  const refused = (await bmc.identify(signal).catch((error: unknown) => error)) as Error & { code: string }
  expect(refused).toMatchObject({ code: 'ipmitool' })
  expect(refused.message).toMatch(/^127\.0\.0\.1:\d+: ipmitool fru print 0: .*(session|RAKP|authentication|password)/i)
  expect(String(refused)).not.toContain('wrong-canary')
})

test('its console is captured by SOL, also when another session was left open', async () => {
  const findings: ConsoleFinding[] = []
  const file = join(folder, 'a.log')
  const hosts = await access()
  const text = () => readFile(file, 'utf8').catch(() => '')
  // ipmitool says nothing before the first line of the console comes.
  const appears = (line: string) =>
    expect
      .poll(
        () => {
          served.machine().say(line)
          return text()
        },
        { timeout: REAL_PEER_TIMEOUT, interval: 500 },
      )
      .toContain(line)
  for (const line of ['the first line', 'the second line', 'Kernel panic - not syncing: Attempted to kill init!']) {
    await using _ = new ConsoleCapture({
      host: 'a',
      file,
      findings,
      clock: systemClock(),
      logger: silent,
      pause: 200,
      open: (either) => hosts.openConsole(host, either),
      mask: (each) => each,
      onFinding: () => {},
    })
    await appears(line)
  }
  expect(findings.map(({ kind }) => kind)).toEqual(['kernel panic'])
})
