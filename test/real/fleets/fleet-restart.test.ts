import { copyFile, mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { REHEARSAL_IMAGE } from '../../../lab/index.js'
import { LabClient } from '../../../control/index.js'
import { Scope } from '../../../base/runtime/index.js'
import type { ApiNode, JsonObject } from '../../../base/wire/index.js'
import { FleetProcess } from '../../kit/fleet/fleet-process.js'
import { slowImage } from '../../kit/fleet/slow-image.js'
import { fleetIronic, FleetNode } from '../fleet-ironic.js'
import { REAL_PEER_TIMEOUT } from '../limits.js'

test('a fleet that is killed twice and started again on its folder: each machine continues from where it was', async () => {
  await using there = await fleetIronic({ conductor: { automated_clean: 'false' } })
  await copyFile(REHEARSAL_IMAGE, join(there.folder, 'coreos.raw.xz'))
  await using scope = new Scope()
  const slow = await slowImage(await readFile(REHEARSAL_IMAGE), scope)
  const folder = await mkdtemp(join(tmpdir(), 'ironstage-fleet-'))
  const argv = [
    '--count',
    '3',
    '--redfish-port',
    '0',
    '--state-dir',
    join(folder, 'state'),
    '--boot-time',
    '4s',
    '--hosts-out',
    join(folder, 'nodes.json'),
  ]
  let fleet = await FleetProcess.start(argv)
  onTestFinished(async () => {
    await fleet[Symbol.asyncDispose]()
    await rm(folder, { recursive: true, force: true })
  })
  const listed = async () =>
    (JSON.parse(await readFile(join(folder, 'nodes.json'), 'utf8')) as { nodes: (JsonObject & { name: string })[] })
      .nodes
  const hosts = await listed()
  const [installs, inspects, rests] = await Promise.all(
    hosts.map(async ({ ports, ...fields }) => {
      const wanted = { ...fields, deploy_interface: 'custom-agent' }
      const { uuid } = (await there.ironic.done(201, 'POST', '/v1/nodes', wanted)) as ApiNode
      for (const port of ports as JsonObject[])
        await there.ironic.done(201, 'POST', '/v1/ports', { node_uuid: uuid, ...port })
      const node = new FleetNode(there.ironic, uuid, String(fields.name), () => fleet.log.join(''))
      await node.provision('manage')
      await node.settled('manageable')
      return node
    }),
  )
  const machine = ({ name }: FleetNode) => new LabClient(fleet.ready.control_url).machine(name)
  const deploy = async (node: FleetNode, url: string) => {
    const args = { image_url: url }
    await node.provision('active', {
      deploy_steps: [{ interface: 'deploy', step: 'install_coreos', priority: 80, args }],
    })
  }
  for (const node of [installs!, rests!]) {
    await node.provision('provide')
    await node.settled('available')
  }
  await Promise.all([deploy(installs!, slow.url), deploy(rests!, `${there.url}/coreos.raw.xz`)])
  await Promise.all([slow.asked, rests!.settled('active')])
  await expect.poll(async () => (await machine(rests!)).boot?.outcome, { timeout: REAL_PEER_TIMEOUT }).toBe('disk')
  await inspects!.provision('inspect')
  // Its firmware is at work.
  await expect
    .poll(async () => (await machine(inspects!)).power, { timeout: REAL_PEER_TIMEOUT, interval: 50 })
    .toBe('on')
  expect((await machine(inspects!)).boot).toBeNull()

  for (let times = 0; times < 2; times++) {
    await fleet.kill()
    fleet = await FleetProcess.start(argv)
  }
  expect(await listed()).toEqual(hosts)
  expect((await machine(rests!)).boot).toMatchObject({ outcome: 'disk' })
  await inspects!.settled('manageable')
  await installs!.settled('deploy failed')
  // Ironic's last_error may be empty by then: the power-off after the failure clears it (conductor/utils.py
  // node_power_action).
  const { history } = (await there.ironic.done(200, 'GET', `/v1/nodes/${installs!.uuid}/history?detail=true`)) as {
    history: { event: string }[]
  }
  expect(history.map(({ event }) => event).join('\n')).toContain(
    'install_coreos was under way when the agent was killed, and its program with it',
  )
  const { id } = (await machine(rests!)).boot!
  await there.ironic.done(202, 'PUT', `/v1/nodes/${rests!.uuid}/states/power`, { target: 'rebooting' })
  await Promise.all([
    deploy(installs!, `${there.url}/coreos.raw.xz`).then(() => installs!.settled('active')),
    expect.poll(async () => (await machine(rests!)).boot?.id ?? id, { timeout: REAL_PEER_TIMEOUT }).not.toBe(id),
  ])
  expect((await machine(rests!)).boot).toMatchObject({ outcome: 'disk' })
}, 600_000)
