import { createHash } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { defaultMachineSpec, NO_PACE, openMachines, type Machine, type MachineSpec } from '../../machine/index.js'
import { Probe, seededRandom, silent, systemClock } from '../../base/runtime/index.js'
import type { StepError } from '../../steps/index.js'
import {
  eraseDevices,
  eraseDevicesMetadata,
  installCoreos,
  readHardware,
  readPartitions,
  type InstallCoreosArgs,
} from '../../steps/index.js'
import { stepContext } from '../kit/step-context.js'

const IMAGE = fileURLToPath(new URL('../../images/coreos-metal.raw.xz', import.meta.url))
const GIB = 2 ** 30
const ignition = {
  ignition: { version: '3.4.0' },
  storage: { files: [{ path: '/etc/motd', mode: 420, contents: { source: 'data:,hello' } }] },
}

let stateDir: string
beforeEach(async () => void (stateDir = await mkdtemp(join(tmpdir(), 'ironstage-test-'))))
afterEach(() => rm(stateDir, { recursive: true, force: true }))

async function booted(change: Partial<MachineSpec> = {}) {
  const machines = await openMachines({
    stateDir,
    clock: systemClock(),
    random: seededRandom(1),
    probe: new Probe(),
    logger: silent,
    pace: NO_PACE,
    events: { ramdiskUp: () => {}, down: () => {} },
  })
  const profile = defaultMachineSpec({ id: 'm1', metalImage: IMAGE, ...change })
  const disks = profile.disks.map((disk) => ({ ...disk, size: 5 * GIB }))
  const machine = await machines.create({ ...profile, disks, ...change })
  await machine.setBoot({ kind: 'ramdisk', parameters: {} })
  await machine.setPower('on')
  await up(machine)
  return { machine, [Symbol.asyncDispose]: () => machines[Symbol.asyncDispose]() }
}

/** Power is on at once; what it boots is not. */
async function up(machine: Machine): Promise<void> {
  while (!machine.boot()) await new Promise((resolve) => setImmediate(resolve))
}

const install = (machine: Machine, args: InstallCoreosArgs, node: Record<string, unknown> = {}) => {
  const context = stepContext(machine.target, { node: { uuid: 'n1', ...node } })
  return installCoreos.run(context, { ...args }).catch((error: StepError) => error)
}

async function firstBoot(machine: Machine) {
  await machine.setBoot({ kind: 'disk' })
  await machine.setPower('reboot')
  await up(machine)
  return machine.firstBoot()!
}

describe.each([{ firmware: 'uefi' }, { firmware: 'bios' }] as const)('on a machine with $firmware', (change) => {
  test('install_coreos leaves a disk that boots as asked', async () => {
    await using lab = await booted(change)
    expect(
      await install(lab.machine, { ignition, append_karg: ['foo=bar', 'x'], delete_karg: 'quiet', hostname: 'n0' }),
    ).toBeNull()
    expect(await lab.machine.executor.files.list('/tmp')).toEqual([])
    const report = await firstBoot(lab.machine)
    expect(report).toMatchObject({ hostname: 'n0', files: ['/etc/motd', '/etc/hostname'], disk: '/dev/sda' })
    expect(report.kernelArguments).toEqual(expect.arrayContaining(['foo=bar', 'x']))
    expect(report.configDigest).toBe(
      createHash('sha256')
        .update(
          JSON.stringify({
            ...ignition,
            storage: {
              files: [
                ...ignition.storage.files,
                { path: '/etc/hostname', mode: 420, overwrite: true, contents: { source: 'data:,n0' } },
              ],
            },
          }),
        )
        .digest('hex'),
    )
  })
})

test('install_coreos without arguments installs what the live system carries, to the disk that hints name', async () => {
  await using lab = await booted()
  const serial = lab.machine.spec.disks[1]!.serial
  const node = { instance_info: { root_device: { serial: `s== ${serial}` } } }
  expect(await install(lab.machine, {}, node)).toBeNull()
  expect((await readPartitions(lab.machine.target, '/dev/sdb')).type).toBe('gpt')
  expect((await readPartitions(lab.machine.target, '/dev/sda')).type).toBeNull()
})

test('install_coreos again makes no second boot entry', async () => {
  await using lab = await booted()
  expect(await install(lab.machine, {})).toBeNull()
  expect(await install(lab.machine, {})).toBeNull()
  const menu = await lab.machine.executor.start({ argv: ['efibootmgr'], effect: 'reads' })
  let text = ''
  for await (const { bytes } of menu.output) text += Buffer.from(bytes).toString()
  expect(text.match(/^Boot\d{4}\*.*shimx64\.efi/gm)).toHaveLength(1)
})

test('a disk too small for the image is left without a table, and the sentence says so', async () => {
  const small = defaultMachineSpec(1)
    .disks.slice(0, 1)
    .map((disk) => ({ ...disk, size: 32 * 2 ** 20 }))
  await using lab = await booted({ disks: small })
  const error = await install(lab.machine, { ignition }, { properties: { root_device: { name: '/dev/sda' } } })
  expect(error).toMatchObject({
    details: expect.stringMatching(
      /^coreos-installer failed with code 1: Error: .*No space left on device.*larger one/,
    ),
  })
  expect((await readPartitions(lab.machine.target, '/dev/sda')).partitions).toEqual([])
})

test('erasing leaves nothing of an installation', async () => {
  await using lab = await booted()
  await install(lab.machine, { ignition })
  const context = stepContext(lab.machine.target)
  expect(await eraseDevicesMetadata.run(context, {})).toBeNull()
  expect(await readPartitions(lab.machine.target, '/dev/sda')).toEqual({ type: null, partitions: [] })
  expect(Object.keys((await eraseDevices.run(context, {})) as object)).toEqual(['/dev/sda', '/dev/sdb'])
  expect(lab.machine.boot()).toMatchObject({ outcome: 'ramdisk' })
})

test('the inventory of a machine is complete', async () => {
  await using lab = await booted()
  const { inventory, rootDisk, bootInterface } = await readHardware(lab.machine.target)
  const { spec } = lab.machine
  expect(bootInterface).toBe(spec.nics[0]!.mac)
  expect(rootDisk?.serial).toBe(spec.disks[0]!.serial)
  expect(inventory.interfaces.map((nic) => nic.mac_address)).toEqual(spec.nics.map((nic) => nic.mac))
  expect(inventory).toMatchObject({
    cpu: { count: 8, architecture: 'x86_64', frequency: expect.stringMatching(/^2500/), socket_count: 1 },
    disks: [
      {
        name: '/dev/sda',
        serial: spec.disks[0]!.serial,
        wwn: spec.disks[0]!.wwn,
        wwn_with_extension: spec.disks[0]!.wwn,
        hctl: '0:0:0:0',
        vendor: 'ATA',
        by_path: expect.stringContaining('/dev/disk/by-path/'),
        logical_sectors: 512,
        tran: 'sata',
        rotational: false,
      },
      { name: '/dev/sdb', rotational: true },
    ],
    memory: { total: expect.any(Number), physical_mb: spec.memoryMib },
    system_vendor: { manufacturer: 'ironstage', serial_number: spec.serial, firmware: { vendor: 'EDK II' } },
    boot: { current_boot_mode: 'uefi', pxe_interface: expect.stringMatching(/^01-/) },
    bmc_address: spec.bmc!.address,
    hostname: 'm1',
  })
  expect(JSON.stringify(inventory)).not.toContain('undefined')
})
