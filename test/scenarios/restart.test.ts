import { describe, expect, test } from 'vitest'
import { installCoreos, type LabEvent } from '../../lab/index.js'
import type { ProvisionState } from '../../base/wire/index.js'
import { configdrive, ignition, readDisk } from '../kit/deployed.js'
import { labFolder, type Life } from '../kit/restarted-lab.js'

const deploySteps = [installCoreos({ ignition })]
const cannotResume = (state: string) =>
  `The ${state} state can't be resumed by conductor ironstage. Moving to fail state.`

const inState =
  (state: ProvisionState, more: (event: LabEvent & { kind: 'node' }) => boolean = () => true) =>
  (event: LabEvent) =>
    event.kind === 'node' && event.node.provision_state === state && more(event)
const resting = (event: LabEvent & { kind: 'node' }) => event.node.reservation === null

/** Drives a new node towards `active` until the moment comes, in a life that ends then. */
async function killed(life: Life, moment: (event: LabEvent) => boolean, fields = {}): Promise<string> {
  const uuid = await life.enroll(life.spec(1), fields)
  const dead = life.killedAt(moment)
  const node = life.node(uuid, { deploySteps, configdrive })
  // Its waits never end once the life is over.
  void node
    .deploy()
    .then(() => node.settled())
    .catch(() => {})
  await dead
  return uuid
}

/** From wherever a restarted Ironic left the node to `active`, by the documented ways back. */
async function deploys(life: Life, uuid: string): Promise<void> {
  const node = life.node(uuid, { deploySteps, configdrive })
  const { provision_state: state, maintenance } = await node.settled()
  // A cleaning step was cut off.
  if (maintenance) await life.client.setMaintenance(uuid, false)
  if (state === 'inspect failed' || state === 'clean failed') await node.provision('manage')
  if (state === 'deploy failed') await node.provision('active', { deploy_steps: deploySteps, configdrive })
  // The operation may have completed by itself.
  else if (state !== 'active') await node.deploy()
  expect(await node.settled()).toMatchObject({ provision_state: 'active', power_state: 'power on', last_error: null })
  const machine = (await node.machine())!
  expect(machine.firstBoot()).toMatchObject({ hostname: 'worker-0', failure: null })
}

describe('killed in a state that cannot be resumed', () => {
  test.each<[ProvisionState, ProvisionState]>([
    ['verifying', 'enroll'],
    ['inspecting', 'inspect failed'],
    ['cleaning', 'clean failed'],
    ['deploying', 'deploy failed'],
  ])('%s: the next Ironic fails it to "%s", and the node can be deployed', async (state, failed) => {
    await using folder = await labFolder()
    const uuid = await killed(await folder.live(), inState(state))

    const life = await folder.live()
    const node = life.node(uuid)
    expect(await node.settled()).toMatchObject({
      provision_state: failed,
      last_error: cannotResume(state),
      reservation: null,
      maintenance: false,
      fault: null,
      target_power_state: null,
    })
    const ports = (await life.client.ports(uuid)).map(({ address }) => address)
    expect(ports).toEqual([...new Set(['52:54:00:00:00:02', ...ports])])
    await deploys(life, uuid)
  })
})

test('killed while giving the machine back: the node is in error, and is given back when asked again', async () => {
  await using folder = await labFolder()
  const before = await folder.live()
  const uuid = await before.enroll(before.spec(1))
  await deploys(before, uuid)
  const dead = before.killedAt(inState('deleting'))
  void before.client.provision(uuid, 'deleted').catch(() => {})
  await dead

  const life = await folder.live()
  const node = life.node(uuid)
  expect(await node.settled()).toMatchObject({ provision_state: 'error', last_error: cannotResume('deleting') })
  await node.provision('deleted')
  expect(await node.settled()).toMatchObject({ provision_state: 'available', power_state: 'power off' })
  await deploys(life, uuid)
})

test('killed when the installation had succeeded: the deployment has failed all the same', async () => {
  await using folder = await labFolder()
  let installed = false
  const uuid = await killed(await folder.live(), (event) => {
    installed ||= event.kind === 'progress' && event.step === 'install_coreos'
    return installed && inState('deploying')(event)
  })
  const life = await folder.live()
  expect(await life.node(uuid).settled()).toMatchObject({
    provision_state: 'deploy failed',
    last_error: cannotResume('deploying'),
  })
  await deploys(life, uuid)
})

test.each(['active', 'first-boot'])('killed at %s: the deployed machine goes on booting', async (moment) => {
  await using folder = await labFolder()
  const uuid = await killed(
    await folder.live(),
    (event) => event.kind === moment || (event.kind === 'node' && event.node.provision_state === moment),
  )
  const life = await folder.live()
  const machine = (await life.node(uuid).machine())!
  await life.wait(
    (async () => {
      while (!machine.boot()) await life.clock.sleep(1)
    })(),
  )
  expect(await life.client.node(uuid)).toMatchObject({ provision_state: 'active', reservation: null, last_error: null })
  expect(machine.boot()).toMatchObject({ outcome: 'disk' })
  expect(machine.firstBoot()).toMatchObject({ hostname: 'worker-0', failure: null })
  expect((await readDisk(life, life.node(uuid))).boot).toMatchObject({ firstBoot: false })
})

describe('killed while waiting for the agent', () => {
  test.each<[ProvisionState, ProvisionState]>([
    ['inspect wait', 'manageable'],
    ['clean wait', 'available'],
  ])('%s: the work goes on to "%s"', async (state, done) => {
    await using folder = await labFolder()
    const uuid = await killed(await folder.live(), inState(state, resting))

    const life = await folder.live()
    expect(await life.node(uuid).settled()).toMatchObject({ provision_state: done, last_error: null })
    await deploys(life, uuid)
  })

  test('wait call-back, before the agent is there: the deployment goes on', async () => {
    await using folder = await labFolder()
    const uuid = await killed(await folder.live(), inState('wait call-back', resting))

    const life = await folder.live()
    expect(await life.node(uuid).settled()).toMatchObject({ provision_state: 'active', last_error: null })
    expect((await life.node(uuid).machine())!.firstBoot()).toMatchObject({ hostname: 'worker-0' })
  })

  test('in the middle of an installation: it is reported killed, its disk does not boot, the next one succeeds', async () => {
    await using folder = await labFolder()
    const pace = { machinePace: { power: 0, bootRamdisk: 0, bootDisk: 0, writeRate: 2 ** 20 } }
    const uuid = await killed(
      await folder.live(pace),
      (event) => event.kind === 'progress' && event.step === 'install_coreos' && 'line' in event.progress,
      { automated_clean: false },
    )

    const life = await folder.live()
    const failed = await life.node(uuid).settled()
    expect(failed).toMatchObject({ provision_state: 'deploy failed', power_state: 'power on', maintenance: false })
    expect(failed.last_error).toMatch(/Deploy step deploy.install_coreos failed on node .*(SIGKILL|killed)/)
    expect((await readDisk(life, life.node(uuid))).boot).toBeNull()
    await deploys(life, uuid)
  })

  test('on a cleaning step: it has failed, and the node can be deployed', async () => {
    await using folder = await labFolder()
    const uuid = await killed(
      await folder.live(),
      (event) => event.kind === 'progress' && event.step === 'erase_devices',
    )
    const life = await folder.live()
    const { provision_state, last_error } = await life.node(uuid).settled()
    expect(provision_state).toBe('clean failed')
    expect(last_error).toMatch(/^Clean step deploy.erase_devices failed on node .*(SIGKILL|killed)/)
    await deploys(life, uuid)
  })
})

test('nothing that was answered is lost, and a machine that runs its system never notices', async () => {
  await using folder = await labFolder()
  const before = await folder.live()
  const uuid = await before.enroll(before.spec(1), { extra: { rack: 7 }, description: 'a node' })
  await deploys(before, uuid)
  const then = await before.client.node(uuid)
  const ports = await before.client.ports(uuid)
  const machine = (await before.node(uuid).machine())!
  const boot = machine.boot()
  const report = machine.firstBoot()

  const life = await folder.live()
  expect(await life.client.node(uuid)).toEqual(then)
  expect(await life.client.ports(uuid)).toEqual(ports)
  expect(await life.client.inventory(uuid)).toEqual(await before.client.inventory(uuid))
  const same = (await life.node(uuid).machine())!
  expect([same.power(), same.boot(), same.firstBoot()]).toEqual(['on', boot, report])
  await life.node(uuid).provision('deleted')
  expect(await life.node(uuid).settled()).toMatchObject({ provision_state: 'available', power_state: 'power off' })
})

test('closed in the middle of everything and opened again, many times, a deployment comes to its end', async () => {
  await using folder = await labFolder()
  let life = await folder.live()
  const uuid = await life.enroll(life.spec(1))
  for (let restarts = 1; ; restarts++) {
    if ((await life.client.node(uuid)).provision_state === 'active') break
    expect(restarts).toBeLessThan(60)
    // A later event each time.
    const enough = happened(life, restarts)
    await Promise.race([enough, deploys(life, uuid).catch(() => enough)])
    await life[Symbol.asyncDispose]()
    life = await folder.live()
  }
  expect((await life.node(uuid).machine())!.firstBoot()).toMatchObject({ hostname: 'worker-0' })
})

const happened = (life: Life, count: number): Promise<void> =>
  new Promise((resolve) => {
    let left = count
    const listening = life.events.listen(() => {
      if (--left > 0) return
      listening[Symbol.dispose]()
      resolve()
    })
  })
