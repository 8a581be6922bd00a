import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { installCoreos, type StagedLab } from '../../lab/index.js'
import { machineOf } from '../kit/deployed.js'
import { liveServers } from '../kit/live-lab.js'

let servers: Awaited<ReturnType<typeof liveServers>>
beforeAll(async () => {
  servers = await liveServers()
})
afterAll(() => servers[Symbol.asyncDispose]())

/** Row 25: a server as the ones of the HPE virtual media issue, deployed by virtual media. */
async function deployed(lab: StagedLab, machine: { holdsBootMedia: boolean }, args: { eject_media?: boolean }) {
  const node = await lab.enroll({
    machine: { ...lab.spec(1), ...machine },
    fields: { boot_interface: 'redfish-virtual-media' },
    deploySteps: [installCoreos({ ignition: { ignition: { version: '3.4.0' } }, ...args })],
  })
  await node.deploy()
  expect(await node.settled()).toMatchObject({ provision_state: 'active', last_error: null })
  const found = await machineOf(node)
  while (!found.boot()) await delay(5)
  return found
}

test('a server that holds on to its boot media goes back into the ramdisk after an installation', async () => {
  await using lab = await servers.lab()
  const machine = await deployed(lab, { holdsBootMedia: true }, {})
  expect(machine.firmware.inserted('cdrom')).toMatch(/^http/)
  expect(machine.boot()).toMatchObject({ source: { kind: 'disk' }, outcome: 'ramdisk' })
  expect(machine.firstBoot()).toBeUndefined()
})

test('it boots its disk once the step has ejected what the live system was booted from', async () => {
  await using lab = await servers.lab()
  const machine = await deployed(lab, { holdsBootMedia: true }, { eject_media: true })
  expect(machine.firmware.inserted('cdrom')).toBeUndefined()
  expect(machine.boot()).toMatchObject({ outcome: 'disk' })
  expect(machine.firstBoot()).toMatchObject({ failure: null })
})

test('other servers need no such thing, and bear it', async () => {
  await using lab = await servers.lab()
  const machine = await deployed(lab, { holdsBootMedia: false }, { eject_media: true })
  expect(machine.boot()).toMatchObject({ outcome: 'disk' })
})
