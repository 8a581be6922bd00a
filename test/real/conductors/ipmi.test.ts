import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { servedIpmi, type ServedIpmi } from '../../kit/ipmi/served.js'
import type { ApiNode } from '../../../base/wire/index.js'
import { ipmitool, ipmitoolFolder } from '../ipmitool.js'
import { ironicPeer, realIronic, type RealIronic } from '../ironic.js'
import { REAL_PEER_TIMEOUT } from '../limits.js'

/** The hardware type `ipmi` of a real Ironic, with Debian's ipmitool, against the BMCs of simulated machines. */

let ironic: RealIronic
let served: ServedIpmi
beforeAll(async () => {
  const settings = {
    DEFAULT: {
      enabled_hardware_types: 'ipmi',
      enabled_boot_interfaces: 'ipxe',
      enabled_console_interfaces: 'no-console',
      enabled_management_interfaces: 'ipmitool',
      enabled_power_interfaces: 'ipmitool',
      enabled_vendor_interfaces: 'ipmitool,no-vendor',
      default_vendor_interface: 'ipmitool',
      enabled_inspect_interfaces: 'agent,no-inspect',
      enabled_bios_interfaces: 'no-bios',
      enabled_firmware_interfaces: 'no-firmware',
      enabled_raid_interfaces: 'agent,no-raid',
      enabled_rescue_interfaces: 'agent,no-rescue',
      enabled_deploy_interfaces: 'custom-agent,direct',
    },
    ipmi: { min_command_interval: 1, command_retry_timeout: 10 },
  }
  const path = `${await ipmitoolFolder()}:${process.env['PATH']}`
  ironic = await realIronic(settings, { PATH: path })
  served = await servedIpmi(2)
}, 900_000)
afterAll(async () => {
  await served?.[Symbol.asyncDispose]()
  await ironic?.[Symbol.asyncDispose]()
})

const LATER = { timeout: REAL_PEER_TIMEOUT, interval: 200 }

async function nodeOf(n: number, more: Record<string, unknown> = {}) {
  const { port } = await served.open(n)
  const driver_info = {
    ipmi_address: '127.0.0.1',
    ipmi_port: port,
    ipmi_username: 'admin',
    ipmi_password: 'secret-1',
    ...more,
  }
  const { uuid } = (await ironic.done(201, 'POST', '/v1/nodes', { driver: 'ipmi', driver_info })) as ApiNode
  const path = `/v1/nodes/${uuid}`
  const read = async (): Promise<ApiNode> => (await ironic.done(200, 'GET', path)) as ApiNode
  return { uuid, path, read }
}

describe.concurrent('a real Ironic by IPMI', () => {
  test('registers a machine, works its power and its boot device, injects an NMI, sends raw bytes, resets its BMC', async () => {
    const { path, read } = await nodeOf(1)
    const machine = served.machine(1)
    await ironic.done(202, 'PUT', `${path}/states/provision`, { target: 'manage' })
    await vi.waitFor(async () => expect((await read()).provision_state).toBe('manageable'), LATER)
    expect(await read()).toMatchObject({ power_state: 'power off', last_error: null })

    const power = async (target: string, state: string): Promise<void> => {
      await ironic.done(202, 'PUT', `${path}/states/power`, { target })
      await vi.waitFor(async () => {
        const { power_state, target_power_state, last_error } = await read()
        expect([power_state, target_power_state, last_error]).toEqual([state, null, null])
      }, LATER)
    }
    const device = async (boot_device: string, persistent: boolean): Promise<unknown> => {
      await ironic.done(204, 'PUT', `${path}/management/boot_device`, { boot_device, persistent })
      return ironic.done(200, 'GET', `${path}/management/boot_device`)
    }
    expect(await device('pxe', true)).toEqual({ boot_device: 'pxe', persistent: true })
    expect(machine.firmware.boot.override).toMatchObject({ target: 'Pxe', enabled: 'Continuous' })
    // Ironic has turned the end of the boot flags after a minute off.
    expect(machine.firmware.ipmi.get().bootFlagClearing).toBe(8)
    expect(await device('disk', true)).toEqual({ boot_device: 'disk', persistent: true })
    expect(await device('cdrom', false)).toEqual({ boot_device: 'cdrom', persistent: false })

    await power('power on', 'power on')
    expect(machine.power()).toBe('on')
    // The boot device was for one boot.
    expect(machine.firmware.boot.override.enabled).toBe('Disabled')
    await ironic.done(204, 'PUT', `${path}/management/inject_nmi`, {})
    expect(machine.firmware.log.entries.at(-1)).toMatchObject({ kind: 'nmi' })
    await ironic.done(202, 'POST', `${path}/vendor_passthru?method=send_raw`, { raw_bytes: '0x00 0x04 0x00 0x01' })
    await vi.waitFor(() => expect(machine.firmware.indicator('chassis', 'LED')).toBe('blinking'), LATER)
    await ironic.done(202, 'POST', `${path}/vendor_passthru?method=bmc_reset`, { warm: 'false' })
    await vi.waitFor(() => expect(machine.firmware.log.entries.at(-1)?.kind).toBe('bmc reset'), LATER)
    await vi.waitFor(async () => expect((await read()).reservation).toBeNull(), LATER)
    await power('soft power off', 'power off')
    expect(machine.power()).toBe('off')
  })

  test('does not register a machine with a wrong password, and does with the right one and cipher suite 3', async () => {
    const { path, read } = await nodeOf(2, { ipmi_password: 'wrong', ipmi_cipher_suite: 3 })
    await ironic.done(202, 'PUT', `${path}/states/provision`, { target: 'manage' })
    await vi.waitFor(async () => expect((await read()).last_error).toContain('IPMI call failed: power status'), LATER)
    expect((await read()).provision_state).toBe('enroll')
    const info = { op: 'replace', path: '/driver_info/ipmi_password', value: 'secret-1' }
    await ironic.done(200, 'PATCH', path, [info])
    await ironic.done(202, 'PUT', `${path}/states/provision`, { target: 'manage' })
    await vi.waitFor(async () => expect((await read()).provision_state).toBe('manageable'), LATER)
  })

  test('reads the sensors by its own parser of ipmitool', async () => {
    const own = await servedIpmi()
    await own.machine().setPower('on')
    const { stdout } = await ipmitool({ port: (await own.open()).port }, 'sdr', '-v')
    await own[Symbol.asyncDispose]()
    const script = [
      'import json, sys, types',
      'from ironic.drivers.modules import ipmitool',
      "node = types.SimpleNamespace(uuid='node')",
      'print(json.dumps(ipmitool._parse_ipmi_sensors_data(node, sys.argv[1])))',
    ].join('\n')
    const python = join(await ironicPeer(), 'bin/python')
    const parsed = await promisify(execFile)(python, ['-c', script, stdout])
    const sensors = JSON.parse(parsed.stdout) as Record<string, Record<string, Record<string, string>>>
    expect(Object.keys(sensors).sort()).toEqual(['Fan', 'Other', 'Temperature', 'Voltage'])
    expect(sensors['Temperature']!['CPU1 Temp (0x2)']!['Sensor Reading']).toBe('46 (+/- 0) degrees C')
  })
})
