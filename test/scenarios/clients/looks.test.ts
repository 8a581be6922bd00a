import { describe, expect, test } from 'vitest'
import { systemClock } from '../../../base/runtime/index.js'
import { createStagedLab, installCoreos, type StagedLabOptions } from '../../../lab/index.js'
import { LabClient } from '../../../control/index.js'

const IGNITION = {
  ignition: { version: '3.4.0' },
  passwd: { users: [{ name: 'core', passwordHash: '$6$salt$secret-hash' }] },
  storage: {
    files: [
      { path: '/etc/motd', mode: 0o644, contents: { source: 'data:,welcome%20%3Cb%3Ehere' } },
      { path: '/etc/pull-secret', mode: 0o600, contents: { source: 'data:,secret-token' } },
    ],
  },
}

async function labWithNode(options: StagedLabOptions = {}) {
  const lab = await createStagedLab({ clock: 'auto', ...options })
  const node = await lab.enroll({ deploySteps: [installCoreos({ ignition: IGNITION })] })
  const client = new LabClient('http://lab.test', { fetch: lab.fetchAt('http://lab.test') })
  return { lab, node, client }
}

describe('the timeline of a node', () => {
  test('has its states and steps one after another, with stages, calls and heartbeats', async () => {
    const { lab, node, client } = await labWithNode()
    await using _ = lab
    await node.deploy()
    await node.settled()
    const { states, steps, marks, causes, waiting, isCut } = await client.timeline(node.uuid)

    expect(states.map(({ state }) => state).filter((state, at, all) => all.indexOf(state) === at)).toEqual([
      'enroll',
      'verifying',
      'manageable',
      'inspecting',
      'inspect wait',
      'cleaning',
      'clean wait',
      'available',
      'deploying',
      'wait call-back',
      'active',
    ])
    for (const [at, span] of states.entries()) expect(span.to).toBe(states[at + 1]?.from ?? null)
    expect(steps.map(({ flow, step, outcome }) => [flow, step, outcome])).toEqual([
      ['clean', 'erase_devices_metadata', 'done'],
      ['clean', 'erase_devices', 'done'],
      ['deploy', 'deploy', 'done'],
      ['deploy', 'install_coreos', 'done'],
      ['deploy', 'prepare_instance_boot', 'done'],
      ['deploy', 'tear_down_agent', 'done'],
      ['deploy', 'boot_instance', 'done'],
    ])
    expect(steps[3]!.stages.map(({ stage }) => stage)).toContain('installing to /dev/sda')
    const kinds = new Set(marks.map(({ kind }) => kind))
    expect([...kinds].sort()).toEqual(['bmc', 'boot', 'call', 'command', 'heartbeat', 'power'])
    expect({ causes, waiting, isCut }).toEqual({ causes: [], waiting: null, isCut: false })
  })

  test('has the times at which lab time and the time of this computer ran apart', async () => {
    const { lab, node, client } = await labWithNode()
    await using _ = lab
    const before = systemClock().now()
    await client.advance({ by: '2h' })
    await node.deploy()
    await node.settled()
    const { walls, since, now } = await client.timeline(node.uuid)
    expect(walls[0]!.lab).toBe(since)
    for (const { wall } of walls) expect(Math.abs(Date.parse(wall) - before)).toBeLessThan(60_000)
    expect(Date.parse(walls.at(-1)!.lab)).toBeLessThanOrEqual(Date.parse(now))
    expect([...walls].sort((a, b) => a.lab.localeCompare(b.lab))).toEqual(walls)
  })

  test('says while it runs what is waited for, until when, and who asked for each step', async () => {
    const { lab, node, client } = await labWithNode({
      ironic: { set: ['conductor.deploy_callback_timeout=1800'] },
    })
    await using _ = lab
    lab.faults.add({ match: { node: node.uuid, phase: 'install' }, effect: { kind: 'agent-silent' } })
    await node.deploy()
    await node.until(({ deploy_step }) => deploy_step.step === 'install_coreos')
    await node.until(({ provision_state }) => provision_state === 'wait call-back')
    const { waiting, plan, steps } = await client.timeline(node.uuid)

    expect(waiting?.what).toBe("the agent's next heartbeat")
    expect(Date.parse(waiting!.until!) - lab.clock.now()).toBeGreaterThan(1_700_000)
    expect(plan?.flow).toBe('deploy')
    expect(plan?.steps.map(({ step, askedBy, status }) => [step, askedBy, status])).toEqual([
      ['deploy', 'driver', 'done'],
      ['install_coreos', 'user', 'current'],
      ['prepare_instance_boot', 'driver', 'waiting'],
      ['tear_down_agent', 'driver', 'waiting'],
      ['switch_to_tenant_network', 'driver', 'waiting'],
      ['boot_instance', 'driver', 'waiting'],
    ])
    expect(JSON.stringify(plan)).not.toContain('secret')
    expect(steps.at(-1)).toMatchObject({ step: 'install_coreos', outcome: 'running', to: null })
  })

  test('leads from the last error to the fault behind it, and says what to do', async () => {
    const { lab, node, client } = await labWithNode()
    await using _ = lab
    const { id } = lab.faults.add({ match: { node: node.uuid, phase: 'install' }, effect: { kind: 'agent-silent' } })
    await node.deploy()
    expect((await node.settled()).provision_state).toBe('deploy failed')
    const { causes, remedy, steps } = await client.timeline(node.uuid)

    expect(causes.map(({ text }) => text)).toEqual([
      expect.stringContaining('Timeout reached while waiting for callback'),
      expect.stringMatching(/^the deploy step deploy\.install_coreos failed/),
      "the agent's last heartbeat came before",
      ...(causes.length > 4 ? [expect.any(String)] : []),
      `${id} struck: agent-silent`,
    ])
    expect(remedy).toBe(`lift ${id}, then ask for active again, or for deleted`)
    expect(steps.at(-1)).toMatchObject({ step: 'install_coreos', outcome: 'failed' })
    lab.faults.lift(id)
    expect((await client.timeline(node.uuid)).causes.at(-1)!.text).toBe(
      `${id} struck: agent-silent, which was lifted since`,
    )
  })

  test('names the command of the machine that failed', async () => {
    const { lab, node, client } = await labWithNode()
    await using _ = lab
    lab.faults.add({
      match: { program: 'coreos-installer' },
      effect: { kind: 'exit-code', code: 1, stderr: 'Error: no space left on device' },
    })
    await node.deploy()
    await node.settled()
    const { causes } = await client.timeline(node.uuid)
    expect(causes[0]!.text).toContain('no space left on device')
    expect(causes.find(({ text }) => text.startsWith('on the machine: '))?.text).toMatch(
      /coreos-installer install .*exit code 1$/,
    )
  })
})

describe('a look into a machine', () => {
  test('draws its disks: partitions, filesystems, who wrote what in which boot', async () => {
    const { lab, node, client } = await labWithNode()
    await using _ = lab
    const { id } = (await node.machine())!.spec
    const blank = (await client.disks(id)).disks[0]!
    expect(blank).toMatchObject({ table: null, partitions: [], written: [], lastRun: null, boot: null, problem: null })

    await node.deploy()
    await node.settled()
    const [sda, sdb] = (await client.disks(id)).disks
    expect(sda!.partitions.map(({ name, filesystem }) => [name, filesystem?.type])).toEqual([
      ['BIOS-BOOT', undefined],
      ['EFI-SYSTEM', 'vfat'],
      ['boot', 'ext4'],
      ['root', 'ext4'],
    ])
    expect(sda!.boot).toMatchObject({ partition: 3, firstBoot: false, ignition: null })
    expect(new Set(sda!.written.map(({ by }) => by))).toEqual(new Set(['shred', 'coreos-installer', 'system']))
    const boot = (await node.machine())!.boot()!.id
    expect(sda!.lastRun!.boot).toBe(boot)
    expect(sda!.lastRun!.bytes).toBe(
      sda!.written.filter((range) => range.boot === boot).reduce((sum, { length }) => sum + length, 0),
    )
    expect(sda!.partitions[2]!.changed).toBeGreaterThan(0)
    expect(sda!.partitions[3]!.changed).toBe(0)
    expect(sdb!.written.map(({ by, length }) => [by, length])).toEqual([['shred', sdb!.size]])
  })

  test('strikes no fault and changes nothing of what follows', async () => {
    const { lab, node, client } = await labWithNode()
    await using _ = lab
    await node.deploy()
    await node.settled()
    const { id } = (await node.machine())!.spec
    const fault = lab.faults.add({ match: { machine: id, disk: 'sda' }, effect: { kind: 'disk-error', at: 0 } })
    const before = lab.journal.last
    const { disks } = await client.disks(id)
    await client.filesOfMachine(id, { filesystem: 'boot' })
    expect(disks[0]!.problem).toBeNull()
    expect(lab.faults.list().find((each) => each.id === fault.id)!.struck).toBe(0)
    expect(lab.journal.entries({ after: before }).filter(({ kind }) => kind !== 'exchange')).toEqual([])
  })

  test('lists boot and root filesystem; what only its owner may read is not shown', async () => {
    const { lab, node, client } = await labWithNode()
    await using _ = lab
    const { id } = (await node.machine())!.spec
    await expect(client.filesOfMachine(id, { filesystem: 'boot' })).rejects.toMatchObject({ code: 'no-system' })
    await node.deploy()
    await node.settled()

    const { files } = await client.filesOfMachine(id, { filesystem: 'boot' })
    expect(files.find(({ path }) => path === '/grub2/grub.cfg')).toMatchObject({ kind: 'file' })
    expect(files.filter(({ path }) => path.startsWith('/ignition'))).toEqual([])
    const one = async (filesystem: 'boot' | 'root', path: string) =>
      (await client.filesOfMachine(id, { filesystem, path })).files[0]!
    expect((await one('boot', '/grub2/grub.cfg')).text).toContain('ignition')
    expect((await one('root', '/etc/motd')).text).toBe('welcome <b>here')
    expect(await one('root', '/etc/pull-secret')).toMatchObject({ text: null, isSecret: true })
    await expect(one('boot', '/none')).rejects.toMatchObject({ code: 'no-such-file' })
    await expect(client.filesOfMachine(id, { disk: 'sdz', filesystem: 'boot' })).rejects.toMatchObject({
      code: 'no-such-disk',
    })
  })

  test('follows its console: all lines that are there, then each as it comes, and none of before a power cycle', async () => {
    const { lab, node, client } = await labWithNode()
    await using _ = lab
    await node.makeAvailable()
    const machine = (await node.machine())!
    const inside = lab.machines.get(machine.spec.id)!
    await machine.setPower('on')
    inside.say('one http://user:hidden@host/')
    const events = client.followConsole(machine.spec.id)
    expect((await events.next()).value).toEqual({ event: 'console', lines: ['one http://user:******@host/'] })
    const next = events.next()
    inside.say('two <script>')
    expect((await next).value).toEqual({ event: 'line', line: 'two <script>' })
    const after = events.next()
    await machine.setPower('reboot')
    expect((await after).value).toMatchObject({ event: 'console' })
    await events.return()
  })
})
