import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { createStagedLab, installCoreos, type StagedLab } from '../../../lab/index.js'
import { defaultMachineSpec, NO_PACE, openMachines, type Machine } from '../../../machine/index.js'
import { minutes, Probe, seededRandom, silent, systemClock } from '../../../base/runtime/index.js'

let stateDir: string
beforeEach(async () => void (stateDir = await mkdtemp(join(tmpdir(), 'ironstage-test-'))))
afterEach(() => rm(stateDir, { recursive: true, force: true }))

const machineOf = (lab: StagedLab): Machine => lab.machines.list()[0]!

async function outputOf(machine: Machine, ...argv: [string, ...string[]]): Promise<string> {
  const run = await machine.executor.start({ argv, effect: 'reads' })
  const parts: Uint8Array[] = []
  for await (const { bytes } of run.output) parts.push(bytes)
  return Buffer.concat(parts).toString()
}

test('a cable that is pulled is seen by programs of the ramdisk, and by the inventory', async () => {
  await using lab = await createStagedLab()
  const node = await lab.enroll({ fields: { name: 'node-0' } })
  const machine = machineOf(lab)
  await machine.setBoot({ kind: 'ramdisk', parameters: {} })
  await machine.setPower('on')
  await lab.wait(lab.clock.sleep(1000))
  expect(await outputOf(machine, 'ip', 'link')).toMatch(/eno1: .*state UP/)
  await machine.setCarrier('eno1', false)
  expect(await outputOf(machine, 'ip', 'link')).toMatch(/eno1: .*state DOWN/)
  expect(await outputOf(machine, 'cat', '/sys/class/net/eno1/carrier')).toBe('0\n')
  await machine.setCarrier('eno1', true)
  expect(await outputOf(machine, 'cat', '/sys/class/net/eno1/carrier')).toBe('1\n')
  await machine.setCarrier('eno2', true)
  await machine.setPower('off')
  await node.makeAvailable()
  const { inventory } = (await lab.client.inventory(node.uuid)) as unknown as {
    inventory: { interfaces: { name: string; has_carrier: boolean }[] }
  }
  expect(inventory.interfaces.map(({ name, has_carrier }) => [name, has_carrier])).toEqual([
    ['eno1', true],
    ['eno2', true],
  ])
  expect(lab.journal.entries({ kind: 'lab' }).map((entry) => 'what' in entry && entry.what)).toContain(
    'the cable of eno1 was pulled',
  )
})

test('an agent without a cable is not reached: its deployment fails after the callback timeout', async () => {
  await using lab = await createStagedLab()
  const node = await lab.enroll({ fields: { name: 'node-0' }, deploySteps: [installCoreos()] })
  await node.makeAvailable()
  await lab.client.provision(node.uuid, 'active', { deploy_steps: [installCoreos()] })
  await machineOf(lab).setCarrier('eno1', false)
  await lab.wait(lab.clock.sleep(minutes(40)))
  expect(await node.get()).toMatchObject({
    provision_state: 'deploy failed',
    last_error: expect.stringContaining('Timeout reached while waiting for callback'),
  })
  expect(JSON.stringify(lab.journal.entries({ kind: 'exchange' }))).toContain('no cable is plugged in')
  await machineOf(lab).setCarrier('eno1', true)
  await node.provision('active', { deploy_steps: [installCoreos()] })
  expect(await node.settled()).toMatchObject({ provision_state: 'active' })
})

test('a disk that is swapped is blank, and has an identity of its own; the old one comes back with its system', async () => {
  await using lab = await createStagedLab()
  const node = await lab.enroll({ fields: { name: 'node-0' }, deploySteps: [installCoreos()] })
  await node.deploy()
  await node.settled()
  const machine = machineOf(lab)
  const { serial, wwn, size } = machine.spec.disks[0]!
  await expect(machine.swapDisk('sda')).rejects.toThrow(
    `${machine.spec.id} is on, and its disks are swapped only while it is off`,
  )
  await machine.setPower('off')
  await machine.swapDisk('sda', { size: size * 2 })
  expect(machine.spec.disks[0]).toMatchObject({ name: 'sda', serial: `${serial}-2`, size: size * 2 })
  expect(machine.spec.disks[0]!.wwn).toMatch(/^0x5[0-9a-f]{15}$/)
  expect(machine.takenOut).toMatchObject([{ serial, wwn }])
  await machine.setPower('on')
  await lab.wait(lab.clock.sleep(minutes(10)))
  expect(machine.boot()).toMatchObject({ outcome: 'no bootable device' })
  await machine.setPower('off')
  await machine.swapDisk('sda', { serial })
  expect(machine.spec.disks[0]).toMatchObject({ serial, wwn, size })
  await machine.setPower('on')
  await lab.wait(lab.clock.sleep(minutes(10)))
  expect(machine.boot()).toMatchObject({ outcome: 'disk' })
})

test.each([
  ['sdx', {}, 'has no disk sdx'],
  ['sda', { size: 1001 }, 'sda has a size of 1001 bytes'],
  ['sda', { serial: 'OTHER', wwn: 'TWIN' }, 'has the WWN'],
  ['sda', { serial: 'SELF' }, 'is in machine-1 already, as sda'],
])('another disk %s %j is refused, and nothing changes', async (disk, wanted, message) => {
  await using lab = await createStagedLab()
  await lab.enroll()
  const machine = machineOf(lab)
  const before = structuredClone(machine.spec)
  const [own, twin] = before.disks
  const asked: Record<string, unknown> = { ...wanted }
  if (asked['serial'] === 'SELF') asked['serial'] = own!.serial
  if (asked['wwn'] === 'TWIN') asked['wwn'] = twin!.wwn
  await expect(machine.swapDisk(disk, asked)).rejects.toThrow(message)
  await expect(machine.setCarrier('eth9', false)).rejects.toThrow('has no NIC eth9')
  expect(structuredClone(machine.spec)).toEqual(before)
})

test('a disk comes back as it went, and where it was', async () => {
  await using lab = await createStagedLab()
  await lab.enroll()
  const machine = machineOf(lab)
  const { serial } = machine.spec.disks[0]!
  await machine.swapDisk('sda')
  await expect(machine.swapDisk('sdb', { serial })).rejects.toThrow(
    `the disk ${serial} was taken out of the place of sda`,
  )
  await expect(machine.swapDisk('sda', { serial, size: 4096 })).rejects.toThrow(/its size is \d+, not 4096/)
})

test('cables and disks are as they were in a snapshot', async () => {
  await using lab = await createStagedLab()
  await lab.enroll()
  const before = structuredClone(machineOf(lab).spec)
  const { id } = await lab.snapshots.take()
  const machine = lab.entering(machineOf(lab))
  await machine.setCarrier('eno1', false)
  await machine.swapDisk('sda', { serial: 'NEW1' })
  const after = await lab.snapshots.take()
  await lab.snapshots.restore(id)
  expect(structuredClone(machineOf(lab).spec)).toEqual(before)
  expect(machineOf(lab).takenOut).toEqual([])
  await lab.snapshots.restore(after.id)
  expect(machineOf(lab).spec.disks[0]).toMatchObject({ serial: 'NEW1' })
  expect(machineOf(lab).spec.nics[0]).toMatchObject({ carrier: false })
})

test('a state folder has cables and disks, with the contents of those that were taken out', async () => {
  const open = () =>
    openMachines({
      stateDir,
      clock: systemClock(),
      random: seededRandom(1),
      probe: new Probe(),
      logger: silent,
      pace: NO_PACE,
      events: { ramdiskUp: () => {}, down: () => {} },
    })
  const first = (machine: Machine) => outputOf(machine, 'dd', 'if=/dev/sda', 'bs=512', 'count=1', 'status=none')
  const up = async (machine: Machine) => {
    await machine.setBoot({ kind: 'ramdisk', parameters: {} })
    await machine.setPower('on')
    while (!machine.boot()) await new Promise((resolve) => setImmediate(resolve))
  }
  let serial: string
  {
    await using machines = await open()
    const machine = await machines.create(defaultMachineSpec(1))
    serial = machine.spec.disks[0]!.serial
    await up(machine)
    const run = await machine.executor.start({
      argv: ['dd', 'of=/dev/sda', 'bs=512', 'status=none'],
      effect: 'writes',
      stdin: Buffer.alloc(512, 'old'),
    })
    for await (const _ of run.output);
    await run.exit
    await machine.setPower('off')
    await machine.swapDisk('sda', { serial: 'a/b "c"' })
    await machine.setCarrier('eno1', false)
  }
  await using machines = await open()
  const [machine] = machines.list()
  expect(machine!.spec.disks[0]!.serial).toBe('a/b "c"')
  expect(machine!.spec.nics[0]!.carrier).toBe(false)
  await up(machine!)
  expect(await first(machine!)).toBe('\0'.repeat(512))
  await machine!.setPower('off')
  await machine!.swapDisk('sda', { serial })
  await up(machine!)
  expect(await first(machine!)).toMatch(/^oldold/)
})
