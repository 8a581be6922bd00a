import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { copyFile, mkdtemp, readFile, rm } from 'node:fs/promises'
import { createInterface } from 'node:readline'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { REHEARSAL_IMAGE } from '../../../lab/index.js'
import type { ApiNode, JsonObject } from '../../../wire/index.js'
import { fleetIronic, FleetNode } from '../fleet-ironic.js'

const bundle = new URL('../../../dist/bundle/ironstage.js', import.meta.url).pathname

/** Starts the built command on a state folder, and waits until it is ready. */
async function started(argv: string[]): Promise<{ child: ChildProcess; complaints: string[] }> {
  const child = spawn(process.execPath, [bundle, 'fleet', '--json', ...argv], { stdio: ['ignore', 'pipe', 'pipe'] })
  const complaints: string[] = []
  child.stderr.on('data', (part: Buffer) => void complaints.push(part.toString()))
  const lines = createInterface(child.stdout)
  const ended = once(child, 'exit').then(() => {
    throw new Error(`the fleet ended: ${complaints.join('')}`)
  })
  const [line] = (await Promise.race([once(lines, 'line'), ended])) as [string]
  expect(JSON.parse(line)).toMatchObject({ event: 'ready' })
  ended.catch(() => {})
  return { child, complaints }
}

test('a fleet that is killed in the middle of a deployment and started again on its folder ends it', async () => {
  await using there = await fleetIronic({ conductor: { automated_clean: 'false' } })
  await copyFile(REHEARSAL_IMAGE, join(there.folder, 'coreos.raw.xz'))
  const folder = await mkdtemp(join(tmpdir(), 'ironstage-fleet-'))
  const argv = [
    ...['--count', '2', '--redfish-port', '0', '--state-dir', join(folder, 'state')],
    ...['--hosts-out', join(folder, 'nodes.json'), '--boot-time', '4s'],
  ]
  let { child, complaints } = await started(argv)
  try {
    const { nodes } = JSON.parse(await readFile(join(folder, 'nodes.json'), 'utf8')) as {
      nodes: (JsonObject & { ports: JsonObject[] })[]
    }
    const { ports, ...fields } = nodes[0]!
    const { uuid } = (await there.ironic.done(201, 'POST', '/v1/nodes', {
      ...fields,
      deploy_interface: 'custom-agent',
    })) as ApiNode
    for (const port of ports) await there.ironic.done(201, 'POST', '/v1/ports', { node_uuid: uuid, ...port })
    const node = new FleetNode(there.ironic, uuid, 'machine-1', () => complaints.join(''))
    for (const [verb, state] of [
      ['manage', 'manageable'],
      ['provide', 'available'],
    ] as const) {
      await node.provision(verb)
      await node.settled(state)
    }
    const args = { image_url: `${there.url}/coreos.raw.xz` }
    await node.provision('active', {
      deploy_steps: [{ interface: 'deploy', step: 'install_coreos', priority: 80, args }],
    })
    // The agent has called, and Ironic works with it.
    await expect
      .poll(async () => (await node.get()).driver_internal_info['agent_url'], { timeout: 300_000, interval: 200 })
      .toBeTypeOf('string')
    child.kill('SIGKILL')
    await once(child, 'exit')
    ;({ child, complaints } = await started(argv))
    await node.settled('active')
    const { nodes: after } = JSON.parse(await readFile(join(folder, 'nodes.json'), 'utf8')) as { nodes: JsonObject[] }
    expect(after).toEqual(nodes)
  } finally {
    child.kill('SIGTERM')
    if (child.exitCode === null) await once(child, 'exit')
    await rm(folder, { recursive: true, force: true })
  }
}, 600_000)
