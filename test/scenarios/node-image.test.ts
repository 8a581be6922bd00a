import { expect, test } from 'vitest'
import { minutes } from '../../base/runtime/index.js'
import { createStagedLab, installCoreos, type StagedLab, type StagedNode, type RegistryFault } from '../../lab/index.js'
import { machineOf } from '../kit/deployed.js'
import { labFolder } from '../kit/restarted-lab.js'

const REPOSITORY = 'quay.io/openshift/node'
const image = { repository: REPOSITORY, version: '9.2.20220510.1', base: '9.2' }
const data = (text: string) => ({ source: `data:,${encodeURIComponent(text)}` })

/** Files that a cluster's machine config server adds for a node, and those that a bootstrap node has instead. */
const worker = (pullspec: string) => ({
  ignition: { version: '3.4.0' },
  storage: {
    files: [
      {
        path: '/etc/ignition-machine-config-encapsulated.json',
        contents: data(JSON.stringify({ kind: 'MachineConfig', spec: { osImageURL: pullspec } })),
      },
    ],
  },
})
const bootstrap = (pullspec: string) => ({
  ignition: { version: '3.4.0' },
  storage: { files: [{ path: '/etc/pivot/image-pullspec', contents: data(`${pullspec}\n`) }] },
})

async function deployed(lab: StagedLab, config: object): Promise<StagedNode> {
  const node = await lab.enroll({ deploySteps: [installCoreos({ ignition: config })] })
  await node.deploy()
  expect(await node.settled()).toMatchObject({ provision_state: 'active' })
  return node
}

/** Waits until the machine's OS is where `when` says. */
async function os(
  lab: Pick<StagedLab, 'wait' | 'clock'>,
  node: StagedNode,
  when: (os: NonNullable<ReturnType<Awaited<ReturnType<typeof machineOf>>['os']>>) => boolean,
) {
  const machine = await machineOf(node)
  await lab.wait(
    (async () => {
      for (;;) {
        const now = machine.os()
        if (machine.boot()?.outcome === 'disk' && now && when(now)) return
        await lab.clock.sleep(500)
      }
    })(),
  )
  return machine.os()!
}

test.each([
  ['a worker, by its machine config', worker],
  ['the bootstrap node too', bootstrap],
])(
  'row 30: %s: a base image without the kubelet becomes the node image before the kubelet may start',
  async (_, config) => {
    await using lab = await createStagedLab({ seed: 5, clock: 'auto' })
    const pullspec = lab.registry.publish(image)
    const boots: string[] = []
    lab.probe.attach((point, next) => {
      if (point.kind === 'boot' && point['outcome'] === 'disk') boots.push(point['boot'] as string)
      return next()
    })
    const node = await deployed(lab, config(pullspec))
    const machine = await machineOf(node)
    const now = await os(lab, node, ({ pivot }) => pivot?.state === 'done')
    expect(now).toMatchObject({ booted: { version: '9.2.20220510.1', image: pullspec }, kubelet: 'may start' })
    expect(new Set(boots).size).toBe(2)
    expect(now.status.deployments).toMatchObject([
      {
        booted: true,
        version: '9.2.20220510.1',
        'container-image-reference': `ostree-unverified-registry:${pullspec}`,
      },
      { booted: false, 'container-image-reference': null },
    ])
    expect(machine.rootFiles()!.exists('/usr/bin/kubelet')).toBe(true)
    // The files of Ignition are still there, and the flag of the first boot is gone.
    expect(machine.firstBoot()).toMatchObject({ failure: null })
  },
)

test('a machine that no cluster wants anything of stays what its disk image brought', async () => {
  await using lab = await createStagedLab({ seed: 5, clock: 'auto' })
  const node = await deployed(lab, { ignition: { version: '3.4.0' } })
  expect(await os(lab, node, () => true)).toMatchObject({ pivot: null, kubelet: 'not installed' })
})

test.each([
  ['not-found', /manifest unknown/],
  ['unauthorized', /access denied/],
  ['timeout', /i\/o timeout/],
  ['wrong-digest', /does not match expected/],
  ['broken-layer', /unexpected EOF/],
] satisfies [RegistryFault, RegExp][])(
  'row 30: a pull that fails (%s) keeps the base and is tried again',
  async (fault, why) => {
    await using lab = await createStagedLab({ seed: 5, clock: 'auto' })
    const pullspec = lab.registry.publish(image)
    lab.registry.fail(pullspec, fault, 3)
    const node = await deployed(lab, worker(pullspec))
    const failed = await os(lab, node, ({ pivot }) => pivot!.attempts === 2)
    expect(failed).toMatchObject({
      booted: { image: null },
      kubelet: 'waits for the node image',
      pivot: { state: 'pulling', lastError: expect.stringMatching(why) },
    })
    const done = await os(lab, node, ({ pivot }) => pivot!.state === 'done')
    expect(done).toMatchObject({ booted: { image: pullspec }, pivot: { attempts: 4, lastError: null } })
    const errors = (await machineOf(node)).journal().filter(({ priority }) => priority === 'err')
    const pauses = errors.slice(1).map(({ at }, index) => at - errors[index]!.at)
    expect(pauses[1]!).toBeGreaterThanOrEqual(2 * Math.min(pauses[0]!, minutes(2)) - minutes(2))
    expect(pauses[1]!).toBeGreaterThan(pauses[0]!)
  },
)

test('an image that is not named by its digest is not pulled', async () => {
  await using lab = await createStagedLab({ seed: 5, clock: 'auto' })
  const node = await deployed(lab, worker(`${REPOSITORY}:latest`))
  const now = await os(lab, node, ({ pivot }) => pivot!.attempts === 1)
  expect(now.pivot).toMatchObject({ lastError: 'the image is not named by its digest' })
  expect(lab.registry.fetched).toEqual([])
})

test('row 31: releases that share a base image fetch it once; the same build twice is one image', async () => {
  await using lab = await createStagedLab({ seed: 5, clock: 'auto' })
  const first = lab.registry.publish(image)
  expect(lab.registry.publish({ ...image })).toBe(first)
  const second = lab.registry.publish({ ...image, version: '9.2.20220601.0' })
  expect(second).not.toBe(first)
  lab.registry.fail(first, 'broken-layer', 2)
  const node = await deployed(lab, worker(first))
  await os(lab, node, ({ pivot }) => pivot!.state === 'done')
  const layers = lab.registry.fetched.map(({ layer }) => layer)
  expect(new Set(layers).size).toBe(layers.length)
  expect(layers).toHaveLength(2)
})

test('power that goes while it pulls costs the pull, not the machine', async () => {
  await using lab = await createStagedLab({ seed: 5, clock: 'auto' })
  const pullspec = lab.registry.publish(image)
  lab.registry.fail(pullspec, 'timeout', 1)
  const node = await deployed(lab, worker(pullspec))
  const machine = await machineOf(node)
  await os(lab, node, ({ pivot }) => pivot!.state === 'pulling')
  await lab.wait(machine.setPower('reboot'))
  expect(await os(lab, node, ({ pivot }) => pivot!.state === 'done')).toMatchObject({ booted: { image: pullspec } })
})

test('power that goes before the reboot is requested costs the staged deployment', async () => {
  await using lab = await createStagedLab({ seed: 5, clock: 'auto' })
  const node = await deployed(lab, { ignition: { version: '3.4.0' } })
  const before = await os(lab, node, () => true)
  const machine = await machineOf(node)
  await lab.wait(machine.running.rebase(lab.registry.publish(image)))
  expect(machine.os()!.status.deployments).toHaveLength(before.status.deployments.length + 1)
  const { id } = machine.boot()!
  await lab.wait(machine.setPower('reboot'))
  await lab.wait(booted(lab, machine, id))
  expect(machine.os()).toEqual(before)
})

test('the end of ironstage costs the pull, not the machine: files, journal and versions are there in the next process', async () => {
  await using folder = await labFolder()
  const first = await folder.live()
  const pullspec = first.registry.publish(image)
  first.registry.fail(pullspec, 'not-found')
  const uuid = await first.wait(first.enroll(first.spec(1)))
  const before = first.node(uuid, { deploySteps: [installCoreos({ ignition: worker(pullspec) })] })
  await before.deploy()
  await before.settled()
  await os(first, before, ({ pivot }) => pivot!.attempts === 1)
  const files = [...(await machineOf(before)).rootFiles()!.walk()].map(([path]) => path)
  const lines = (await machineOf(before)).journal().length
  await first[Symbol.asyncDispose]()

  const second = await folder.live()
  expect(second.registry.publish(image)).toBe(pullspec)
  const after = second.node(uuid)
  const machine = await machineOf(after)
  expect([...machine.rootFiles()!.walk()].map(([path]) => path)).toEqual(files)
  expect(machine.journal().length).toBeGreaterThanOrEqual(lines)
  expect(await os(second, after, ({ pivot }) => pivot!.state === 'done')).toMatchObject({ booted: { image: pullspec } })
})

test('a system whose boot entry cannot be written goes down anyway, and comes up as it was', async () => {
  await using lab = await createStagedLab({ seed: 5, clock: 'auto' })
  const node = await deployed(lab, { ignition: { version: '3.4.0' } })
  await os(lab, node, () => true)
  const machine = await machineOf(node)
  const pullspec = lab.registry.publish(image)
  await lab.wait(machine.running.rebase(pullspec))
  const { id } = machine.boot()!
  const full = lab.probe.attach(
    () => Promise.reject(new Error('/boot/loader/entries: No space left on device')),
    ['boot-entry'],
  )
  await lab.wait(machine.running.reboot())
  await lab.wait(booted(lab, machine, id))
  expect(machine.os()).toMatchObject({ booted: { image: null } })
  expect(machine.journal().map(({ message }) => message)).toContain(
    'error: Finalizing deployment: /boot/loader/entries: No space left on device',
  )
  full[Symbol.dispose]()
  await lab.wait(machine.running.rebase(pullspec))
  const { id: second } = machine.boot()!
  await lab.wait(machine.running.reboot())
  await lab.wait(booted(lab, machine, second))
  expect(machine.os()).toMatchObject({ booted: { image: pullspec } })
})

async function booted(
  { clock }: Pick<StagedLab, 'clock'>,
  machine: Awaited<ReturnType<typeof machineOf>>,
  before: string,
): Promise<void> {
  while (machine.boot()?.outcome !== 'disk' || machine.boot()!.id === before) await clock.sleep(500)
}
