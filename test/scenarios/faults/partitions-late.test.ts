import { expect, test } from 'vitest'
import { createStagedLab } from '../../../lab/create-lab.js'
import type { Machine } from '../../../machine/index.js'
import { seconds } from '../../../base/runtime/index.js'
import { run } from '../../kit/program-machines.js'

/** A ramdisk whose udev is slow, with a disk on which a partition was written just now. */
async function justWritten() {
  const lab = await createStagedLab({ clock: 'manual' })
  await lab.enroll()
  const machine = lab.entering(lab.machines.get('machine-1')!)
  await boot(machine, 'on')
  const fault = lab.faults.add({
    match: { machine: 'machine-1', disk: 'sda' },
    effect: { kind: 'partitions-late', ms: seconds(5) },
  })
  const created = await run(machine, 'sgdisk --new=1:2048:+100M --change-name=1:data /dev/sda')
  expect(created.code).toBe(0)
  const shown = async (disk = 'sda') =>
    (await run(machine, `lsblk --noheadings --raw --output NAME /dev/${disk}`)).stdout
  return { lab, machine, fault, shown }
}

async function boot(machine: Machine, how: 'on' | 'reboot'): Promise<void> {
  await machine.setBoot({ kind: 'ramdisk', parameters: {} })
  await machine.setPower(how)
  await expect.poll(() => machine.boot()).toBeDefined()
}

test('partitions are shown a while after their table was written; the table itself can be read at once', async () => {
  const { lab, machine, fault, shown } = await justWritten()
  await using _ = lab
  expect(await shown()).toBe('sda\n')
  expect((await run(machine, 'sgdisk --print /dev/sda')).stdout).toContain('data')
  expect((await run(machine, 'lsblk /dev/disk/by-partlabel/data')).code).not.toBe(0)
  await lab.clock.advance(seconds(4.9))
  expect(await shown()).toBe('sda\n')
  const { struck } = lab.faults.get(fault.id)!
  expect(struck).toBeGreaterThan(2)
  await lab.clock.advance(seconds(0.1))
  expect(await shown()).toBe('sda\nsda1\n')
  expect(lab.faults.get(fault.id)).toMatchObject({ struck })
})

test('another disk shows its partitions, and a boot finds those that are there', async () => {
  const { lab, machine, shown } = await justWritten()
  await using _ = lab
  await run(machine, 'sgdisk --new=1:2048:+100M /dev/sdb')
  expect(await shown('sdb')).toBe('sdb\nsdb1\n')
  await boot(machine, 'reboot')
  expect(await shown()).toBe('sda\nsda1\n')
})

test('a snapshot knows since when a table was there', async () => {
  const { lab, shown } = await justWritten()
  await using _ = lab
  await lab.clock.advance(seconds(3))
  const { id } = await lab.snapshots.take()
  await lab.clock.advance(seconds(10))
  expect(await shown()).toBe('sda\nsda1\n')
  await lab.snapshots.restore(id)
  expect(await shown()).toBe('sda\n')
  await lab.clock.advance(seconds(2))
  expect(await shown()).toBe('sda\nsda1\n')
})

test('one without a length of time, and one where a program matches, are refused', async () => {
  await using lab = await createStagedLab()
  expect(() =>
    lab.faults.add({ match: { program: 'lsblk' }, effect: { kind: 'partitions-late', ms: seconds(5) } }),
  ).toThrow('a fault of kind partitions-late can never strike where program matches')
})
