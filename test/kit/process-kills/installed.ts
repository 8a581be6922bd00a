import { expect } from 'vitest'
import { REHEARSAL_IMAGE } from '../../../lab/index.js'
import { sha256Hex } from '../../../base/bytes/index.js'
import { machineBehind } from '../../../control/index.js'
import { compareWithImage, inspectDisk, openFileDisk } from '../../../machine/index.js'
import { systemClock } from '../../../base/runtime/index.js'
import { IronicClient, type Transport } from '../../../base/wire/index.js'
import { pause } from './link.js'
import type { Installing } from './client-goals.js'
import type { Operator } from './operator.js'

/** The node's disk, read back: the image and the kernel argument; and it has booted with the last config that was asked for. */
export async function expectInstalled(
  transport: Transport,
  url: string,
  { node, itinerary: { wanted } }: Operator<Installing>,
): Promise<void> {
  const clock = systemClock()
  const { uuid } = await new IronicClient({ transport, endpoint: url, clock }).node(node)
  let machine = await machineBehind(transport, url, uuid)
  for (let looks = 0; machine.boot === null && looks < 500; looks++) {
    await pause(20)
    machine = await machineBehind(transport, url, uuid)
  }
  expect(machine).toMatchObject({ power: 'on', boot: { outcome: 'disk' } })
  const path = machine.disks[0]!.file!
  const { boot } = await inspectDisk({ path }, clock)
  expect(boot!.entry!.kernelArguments).toContain(wanted.karg)
  expect(boot!.firstBoot).toBe(false)
  expect(boot!.ignition).toBeNull()
  expect(machine.firstBoot).toMatchObject({
    configDigest: sha256Hex(Buffer.from(JSON.stringify(wanted.ignition))),
    configMode: 0o600,
  })
  await using disk = await openFileDisk({ path, name: 'sda', sectorSize: 512, clock, readOnly: true })
  expect((await compareWithImage(disk, REHEARSAL_IMAGE, clock)).identical).toBe(true)
}
