import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { systemClock } from '../../../base/runtime/index.js'
import { defaultMachineSpec, withHardware } from '../../../machine/index.js'
import { servedIpmi } from '../../kit/ipmi/served.js'
import { ipmitool, ipmitoolFolder } from '../ipmitool.js'
import { REAL_PEER_TIMEOUT } from '../limits.js'

/** Debian's ipmitool against the BMCs of simulated machines. */

beforeAll(async () => void (await ipmitoolFolder()), 900_000)

/** Output of a command that must succeed. */
async function done(access: Parameters<typeof ipmitool>[0], ...command: readonly string[]): Promise<string> {
  const { code, stdout, stderr } = await ipmitool(access, ...command)
  expect(code, `${command.join(' ')}: ${stderr}`).toBe(0)
  return stdout
}

describe('ipmitool', () => {
  test('gets what docs/ipmi.md shows', async () => {
    await using served = await servedIpmi()
    const { port } = await served.open()
    const guide = await readFile('docs/ipmi.md', 'utf8')
    const [, shown] = /```console\n(.*?)```/s.exec(guide)!
    const steps = shown!.split(/^\$ /m).filter((step) => step !== '')
    expect(steps.length).toBeGreaterThan(4)
    for (const step of steps) {
      const [line, ...expected] = step.trimEnd().split('\n')
      const [, rest] = /^ipmitool -I lanplus -H 127\.0\.0\.1 -p 6230 -U admin -E (.*)$/.exec(line!)!
      const words = [...rest!.matchAll(/"([^"]*)"|(\S+)/g)].map(([, quoted, word]) => quoted ?? word!)
      const { stdout, stderr } = await ipmitool({ port }, ...words)
      for (const each of expected) expect(stdout + stderr, line).toContain(each)
    }
    expect(served.machine().power()).toBe('on')
    expect(served.machine().firmware.boot.override).toMatchObject({ target: 'Cd', enabled: 'Continuous' })
  })

  test.each([
    ['idrac9', '674', '256 (0x0100)', 'PowerEdge R750', 'Pwr Consumption'],
    ['ilo5', '11', '8192 (0x2000)', 'ProLiant DL385 Gen10 Plus v2', '01-Inlet Ambient'],
    ['supermicro-x11', '10876', '2402 (0x0962)', 'X11DPi-N', 'FAN1'],
  ] as const)('sees the BMC of %s', async (dialect, maker, number, model, sensor) => {
    const { manufacturer, product } = withHardware(defaultMachineSpec(1), { bmc: dialect })
    await using served = await servedIpmi(1, systemClock(), { dialect, manufacturer, product })
    const access = { port: (await served.open()).port }
    const info = await done(access, 'mc', 'info')
    expect(info).toContain(`Manufacturer ID           : ${maker}\n`)
    expect(info).toContain(`Product ID                : ${number}\n`)
    expect(await done(access, 'fru', 'print')).toContain(model)
    expect(await done(access, 'sdr', 'list')).toContain(sensor)
  })

  test('finds the cipher suite of a BMC that offers one, and no other', async () => {
    const dialect = { ipmi: { cipherSuites: [17] } }
    await using served = await servedIpmi(1, systemClock(), { dialect })
    const access = { port: (await served.open()).port }
    expect(await done(access, 'power', 'status')).toBe('Chassis Power is off\n')
    const refused = await ipmitool({ ...access, options: ['-C', '3'] }, 'power', 'status')
    expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining('no matching cipher suite')])
  })

  test.each(['3', '17'])('opens sessions with cipher suite %s and works the power', async (suite) => {
    await using served = await servedIpmi()
    const access = { port: (await served.open()).port, options: ['-C', suite] }
    const { machine } = served
    for (const [verb, power] of [
      ...([
        ['on', 'on'],
        ['cycle', 'on'],
        ['reset', 'on'],
        ['soft', 'off'],
        ['on', 'on'],
        ['off', 'off'],
      ] as const),
    ]) {
      await done(access, 'power', verb)
      expect(machine().power(), verb).toBe(power)
      expect(await done(access, 'power', 'status')).toBe(`Chassis Power is ${power}\n`)
    }
    const { code, stderr } = await ipmitool(access, 'power', 'reset')
    expect([code, stderr]).toEqual([1, expect.stringContaining('Command not supported in present state')])
  })

  test('is refused with a wrong password, an unknown user, another suite, too high a privilege', async () => {
    await using served = await servedIpmi()
    const { port } = await served.open()
    const refused = async (access: Partial<Parameters<typeof ipmitool>[0]>): Promise<string> => {
      const { code, stderr } = await ipmitool({ port, ...access }, 'power', 'status')
      expect(code).toBe(1)
      return stderr
    }
    const verbose = (...options: string[]): string[] => ['-v', ...options]
    expect(await refused({ password: 'wrong', options: verbose() })).toContain('RAKP 2 HMAC is invalid')
    expect(await refused({ username: 'root', options: verbose() })).toContain('unauthorized name')
    expect(await refused({ options: ['-C', '8'] })).toContain('no matching cipher suite')
    const asUser = { port, options: ['-L', 'USER'] }
    expect(await done(asUser, 'power', 'status')).toBe('Chassis Power is off\n')
    expect((await ipmitool(asUser, 'power', 'on')).stderr).toContain('Insufficient privilege level')
    expect(served.machine().power()).toBe('off')
  })

  test('reads identity, sensors, records, users and configuration', async () => {
    await using served = await servedIpmi()
    const access = { port: (await served.open()).port }
    const spec = served.machine().spec
    expect(await done(access, 'mc', 'info')).toMatch(/Firmware Revision +: 2\.00\n.*IPMI Version +: 2\.0/s)
    expect(await done(access, 'mc', 'selftest')).toBe('Selftest: passed\n')
    expect(await done(access, 'mc', 'guid')).toMatch(/GUID Encoding : (IPMI|RFC4122)/)
    const fru = await done(access, 'fru', 'print')
    for (const [field, value] of [
      ['Product Manufacturer', spec.manufacturer],
      ['Product Name', spec.product],
      ['Board Serial', spec.serial],
    ])
      expect(fru).toMatch(new RegExp(`${field} +: ${value}`))
    await done(access, 'power', 'on')
    const sensors = await done(access, 'sensor', 'list')
    expect(sensors).toMatch(/^Inlet Temp +\| 24\.000 +\| degrees C +\| ok +\| na +\| -7\.000 /m)
    expect(sensors).toMatch(/^Fan1 RPM +\| 6480\.000 +\| RPM +\| ok +\| na +\| 600\.000 /m)
    expect(sensors).toMatch(/^PSU1 Voltage +\| 230\.000 +\| Volts /m)
    expect(await done(access, 'sdr', 'elist', 'all')).toMatch(/^BMC +\| 00h \| ok +\|/m)
    expect(await done(access, 'user', 'list', '1')).toMatch(/^2 +admin .*ADMINISTRATOR$/m)
    expect(await done(access, 'lan', 'print', '1')).toMatch(/RMCP\+ Cipher Suites +: 3,17/)
    expect(await done(access, 'channel', 'info', '1')).toMatch(/Channel Medium Type +: 802\.3 LAN/)
    expect(await done(access, 'chassis', 'policy', 'always-on')).toContain('always-on')
    expect(await done(access, 'chassis', 'status')).toMatch(/Power Restore Policy : always-on/)
  })

  test('reads and clears the event log', async () => {
    await using served = await servedIpmi()
    const access = { port: (await served.open()).port }
    await done(access, 'power', 'on')
    await done(access, 'power', 'diag')
    const events = (await done(access, 'sel', 'elist')).trim().split('\n')
    expect(events.at(0)).toMatch(/Power State \| S0\/G0: working \| Asserted/)
    expect(events.at(-1)).toMatch(/NMI \| NMI\/Diag Interrupt \| Asserted/)
    expect(await done(access, 'sel', 'info')).toMatch(new RegExp(`Entries +: ${events.length}\n`))
    await done(access, 'sel', 'clear')
    expect((await done(access, 'sel', 'elist')).trim()).toMatch(/Log area reset\/cleared \| Asserted$/)
  })

  test('sets boot device, password and identification', async () => {
    await using served = await servedIpmi()
    const { port } = await served.open()
    const { firmware } = served.machine()
    await done({ port }, 'chassis', 'bootdev', 'pxe', 'options=efiboot')
    expect(firmware.boot.override).toMatchObject({ target: 'Pxe', enabled: 'Once' })
    expect(await done({ port }, 'chassis', 'bootparam', 'get', '5')).toMatch(/Boot Device Selector : Force PXE/)
    await done({ port }, 'chassis', 'bootdev', 'none')
    expect(firmware.boot.override.target).toBe('None')
    await done({ port }, 'chassis', 'identify', 'force')
    expect(firmware.indicator('chassis', 'LED')).toBe('blinking')
    await done({ port }, 'user', 'set', 'password', '2', 'another-password', '16')
    expect((await ipmitool({ port }, 'power', 'status')).code).toBe(1)
    expect(await done({ port, password: 'another-password' }, 'power', 'status')).toContain('Chassis Power')
    await done({ port, password: 'another-password' }, 'mc', 'reset', 'cold')
  })

  test('shows the console of the machine', async () => {
    await using served = await servedIpmi()
    const { port } = await served.open()
    const program = `${await ipmitoolFolder()}/ipmitool`
    const argv = [
      program,
      '-I',
      'lanplus',
      '-H',
      '127.0.0.1',
      '-p',
      String(port),
      '-U',
      'admin',
      '-P',
      'secret-1',
      'sol',
      'activate',
    ]
    const terminal = ['import pty, sys', `sys.exit(pty.spawn(${JSON.stringify(argv)}))`].join('\n')
    const child = spawn('python3', ['-c', terminal], { stdio: ['pipe', 'pipe', 'inherit'] })
    onTestFinished(() => void child.kill())
    let shown = ''
    child.stdout.on('data', (part: Buffer) => void (shown += part.toString()))
    await expect.poll(() => shown, { timeout: REAL_PEER_TIMEOUT }).toContain('SOL Session operational')
    for (let line = 0; line < 30; line++) served.machine().say(`line ${line} of the console`)
    await expect.poll(() => shown, { timeout: REAL_PEER_TIMEOUT }).toContain('line 29 of the console')
    expect(shown.match(/line \d+ of the console/g)).toEqual(
      Array.from({ length: 30 }, (_, line) => `line ${line} of the console`),
    )
    const ended = once(child, 'close')
    child.stdin.write('~.')
    await ended
    expect((await ipmitool({ port }, 'sol', 'deactivate')).stderr).toContain('SOL payload already de-activated')
  })
})
