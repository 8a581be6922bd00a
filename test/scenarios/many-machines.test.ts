import { defaultMaxListeners } from 'node:events'
import { expect, test } from 'vitest'
import { createStagedLab, installCoreos, type StagedLab, type StagedNode } from '../../lab/index.js'
import { isExchange } from '../../base/wire/index.js'
import { configdrive, ignition, machineOf } from '../kit/deployed.js'

const deploy_steps = [installCoreos({ ignition })]

async function enrolled(lab: StagedLab, count: number): Promise<StagedNode[]> {
  const nodes: StagedNode[] = []
  for (let n = 1; n <= count; n++) nodes.push(await lab.enroll({ deploySteps: deploy_steps }))
  return nodes
}

test('twenty machines are deployed at once, each with its own disk and name', async () => {
  await using lab = await createStagedLab()
  const nodes = await enrolled(lab, 20)
  await Promise.all(nodes.map((node) => node.deploy()))
  const settled = await Promise.all(nodes.map((node) => node.settled()))
  expect(settled.map(({ provision_state }) => provision_state)).toEqual(nodes.map(() => 'active'))
  const machines = await Promise.all(nodes.map(machineOf))
  expect(machines.map((machine) => machine.firstBoot()!.hostname)).toEqual(machines.map(({ spec }) => spec.id))
})

test('machines that wait at the same time, twice as many as an emitter may have listeners, draw no warning', async () => {
  const warnings: string[] = []
  const warned = (warning: Error) => void warnings.push(warning.message)
  process.on('warning', warned)
  try {
    await using lab = await createStagedLab({
      machinePace: { power: 3000, bootRamdisk: 60_000, bootDisk: 60_000, writeRate: 0 },
    })
    const nodes: StagedNode[] = []
    for (let n = 1; n <= 2 * defaultMaxListeners + 2; n++)
      nodes.push(await lab.enroll({ deploySteps: deploy_steps, fields: { automated_clean: false } }))
    const all = (act: (node: StagedNode) => Promise<unknown>) => Promise.all(nodes.map(act))
    await all((node) => node.provision('manage'))
    await all((node) => node.settled())
    await all((node) => node.provision('provide'))
    await all((node) => node.settled())
    await all((node) => node.deploy())
    const settled = await Promise.all(nodes.map((node) => node.settled()))
    expect(settled.map(({ provision_state }) => provision_state)).toEqual(nodes.map(() => 'active'))
    // Node emits them in the next tick.
    await new Promise((resolve) => setImmediate(resolve))
    expect(warnings).toEqual([])
  } finally {
    process.off('warning', warned)
  }
}, 120_000)

test('one that fails among many takes no other with it', async () => {
  await using lab = await createStagedLab()
  const nodes = await enrolled(lab, 8)
  lab.faults.add({ match: { node: nodes[3]!.uuid, phase: 'install' }, effect: { kind: 'agent-silent' } })
  lab.faults.add({
    match: { node: nodes[5]!.uuid, disk: 'sda', phase: 'install' },
    effect: { kind: 'disk-error', at: 2 ** 20 },
  })
  await Promise.all(nodes.map((node) => node.deploy()))
  const states = (await Promise.all(nodes.map((node) => node.settled()))).map(({ provision_state }) => provision_state)
  expect(states).toEqual(nodes.map((_, index) => (index === 3 || index === 5 ? 'deploy failed' : 'active')))
})

/** A deployment, with every exchange in it as `METHOD TARGET STATUS`, in the order in which they ended. */
async function transcript(seed: number): Promise<string[]> {
  await using lab = await createStagedLab({ seed })
  const lines: string[] = []
  lab.probe.attach(async (point, next) => {
    const answer = await next()
    if (isExchange(point))
      lines.push(`${lab.clock.elapsed()} ${point.method} ${point.target} ${(answer as { status: number }).status}`)
    return answer
  })
  const nodes = await enrolled(lab, 3)
  await Promise.all(nodes.map((node) => node.deploy()))
  await Promise.all(nodes.map((node) => node.settled()))
  await nodes[0]!.provision('deleted')
  await nodes[0]!.settled()
  await nodes[0]!.provision('active', { deploy_steps, configdrive })
  await nodes[0]!.settled()
  return lines
}

test('the same seed gives the same exchanges at the same times; another seed gives others', async () => {
  const first = await transcript(3)
  expect(first.length).toBeGreaterThan(100)
  expect(await transcript(3)).toEqual(first)
  expect(await transcript(4)).not.toEqual(first)
})
