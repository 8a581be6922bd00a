import { readFile } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { enrollHosts, openFleet, type Fleet } from '../../../apps/fleet/index.js'
import { LabClock, silent, systemRandom } from '../../../base/runtime/index.js'
import { HttpTransport, type ApiNode } from '../../../base/wire/index.js'
import type { Fault } from '../../../control/index.js'
import { REHEARSAL_IMAGE } from '../../../lab/index.js'
import { NO_PACE } from '../../../machine/index.js'
import { imageServer } from '../../kit/deployed.js'
import { redfishIronic, type RedfishIronic } from '../../kit/fleet/redfish-ironic.js'

/** Time passes so many times as fast, in the Ironic and in the fleet. */
const SPEED = 20

let images: Awaited<ReturnType<typeof imageServer>>
let ironic: RedfishIronic
let fleet: Fleet
/** Machines with their nodes, which no test has had yet. */
let unused: { machine: string; uuid: string }[]

beforeAll(async () => {
  const image = await readFile(REHEARSAL_IMAGE)
  images = await imageServer({ '/coreos.raw.xz': image })
  ironic = await redfishIronic(SPEED, { automatedClean: false })
  const clock = new LabClock({ mode: SPEED })
  fleet = await openFleet({
    count: FAULTS.length + 1,
    redfish: { port: 0 },
    account: { username: 'admin', password: 'the password' },
    clock,
    random: systemRandom,
    logger: silent,
    machinePace: { ...NO_PACE, bootRamdisk: 4000 },
  })
  await using transport = new HttpTransport({ clock })
  unused = []
  await enrollHosts(fleet.hosts(), {
    url: ironic.url,
    transport,
    headers: {},
    clock,
    bootInterface: 'redfish-virtual-media',
    driverInfo: {},
    signal: new AbortController().signal,
    onEnrolled: ({ name: machine }, uuid) => void unused.push({ machine, uuid }),
  })
}, 60_000)
afterAll(async () => {
  await fleet?.[Symbol.asyncDispose]()
  await ironic?.[Symbol.asyncDispose]()
  await images?.[Symbol.asyncDispose]()
})

async function settled(uuid: string, ...states: string[]): Promise<ApiNode> {
  for (;;) {
    const node = await ironic.client.node(uuid)
    if (states.includes(node.provision_state)) return node
    await sleep(50)
  }
}

/** Begins to deploy a machine that no test has had yet, with a fault of the servers of its images. */
async function deploys({ effect, ...more }: Omit<Fault, 'match'>): Promise<{ uuid: string; fault: string }> {
  const { machine, uuid } = unused.pop()!
  const provision = (target: string, fields: object = {}) => ironic.client.provision(uuid, target, fields)
  await provision('manage')
  await settled(uuid, 'manageable')
  await provision('provide')
  await settled(uuid, 'available')
  const { id } = fleet.faults.add({ match: { machine, to: 'images', route: 'GET /coreos.raw.xz' }, effect, ...more })
  const args = { image_url: images.url('/coreos.raw.xz') }
  await provision('active', { deploy_steps: [{ interface: 'deploy', step: 'install_coreos', priority: 80, args }] })
  return { uuid, fault: id }
}

const FAULTS: readonly (Omit<Fault, 'match'> & { end: string; error?: string })[] = [
  { effect: { kind: 'status', status: 404 }, end: 'deploy failed', error: 'HTTP status client error (404 Not Found)' },
  { effect: { kind: 'status', status: 503 }, end: 'deploy failed', error: 'HTTP 503 Service Unavailable (3 attempts)' },
  { effect: { kind: 'status', status: 503 }, times: 1, end: 'active' },
  { effect: { kind: 'connection-reset' }, end: 'deploy failed', error: 'Connection reset by peer' },
  { effect: { kind: 'truncated-body' }, end: 'deploy failed', error: 'end of file before message length reached' },
  { effect: { kind: 'malformed-body' }, end: 'deploy failed', error: 'decoding and writing image' },
  { effect: { kind: 'delay', ms: 20_000 }, times: 1, end: 'active' },
  { effect: { kind: 'slow-body', bytesPerSecond: 100_000 }, end: 'active' },
  { effect: { kind: 'repeat' }, end: 'active' },
]

describe('a fault of an image server strikes the installer of a fleet’s machine', { timeout: 30_000 }, () => {
  test.each(FAULTS)('$effect.kind $effect.status $times: $end', async ({ end, error, ...fault }) => {
    const { uuid, fault: id } = await deploys(fault)
    const node = await settled(uuid, 'deploy failed', 'active')
    expect(node.provision_state, String(node.last_error)).toBe(end)
    if (error !== undefined) expect(node.last_error).toContain(error)
    expect(fleet.faults.get(id)!.struck).toBeGreaterThan(0)
  })

  test('hang: the installer waits for the server until the fault is lifted, and then ends', async () => {
    const { uuid, fault } = await deploys({ effect: { kind: 'hang' }, times: 1 })
    while (fleet.faults.get(fault)!.struck === 0) await sleep(20)
    await sleep(1000)
    expect((await ironic.client.node(uuid)).provision_state).toBe('wait call-back')
    fleet.faults.lift(fault)
    expect((await settled(uuid, 'deploy failed', 'active')).provision_state).toBe('active')
  })
})
