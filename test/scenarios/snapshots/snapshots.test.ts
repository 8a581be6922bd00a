import { expect, test } from 'vitest'
import { createLab, createStagedLab, installCoreos } from '../../../lab/index.js'
import { howMany } from '../../kit/how-many.js'
import { deployed, deployingLab, journalOf, momentsBelow } from '../../kit/snapshots/lab-journal.js'
import { labFolder } from '../../kit/restarted-lab.js'

const SEED = Number(process.env['SNAPSHOT_SEED'] ?? 1)

test('a snapshot at any moment of a deployment, restored, ends in the same journal', async () => {
  const first = await deployingLab()
  const begin = first.journal.length
  await deployed(first.lab)
  const length = first.journal.length - begin
  await first.lab[Symbol.asyncDispose]()

  const moments = momentsBelow(length, howMany(6, 50), SEED).map((moment) => begin + moment)
  const taken: { id: string; at: number }[] = []
  const { lab, journal } = await deployingLab((lines, ofLab) => {
    if (lines !== moments[0]) return
    moments.shift()
    void ofLab.snapshots.take().then(({ id }) => taken.push({ id, at: journal.length }))
  })
  await using _lab = lab
  const ends = await deployed(lab)
  const whole = [...journal]
  expect(whole).toHaveLength(begin + length)
  expect(new Set(taken.map(({ at }) => at)).size).toBeGreaterThan(howMany(3, 15))

  for (const { id, at } of taken)
    for (let time = 0; time < howMany(1, 10); time++) {
      await lab.snapshots.restore(id)
      journal.length = 0
      expect(await deployed(lab)).toEqual(ends)
      expect(journal).toEqual(whole.slice(at))
    }
})

const deploySteps = [installCoreos({ append_karg: ['quiet'] })]

test('a snapshot at rest is restored without repeating anything, and continues as the original did', async () => {
  await using lab = await createStagedLab({ seed: 3 })
  const journal = journalOf(lab)
  const node = await lab.enroll({ deploySteps })
  const life = async () => {
    await node.deploy()
    await node.settled()
    await node.provision('deleted')
    return node.settled()
  }
  const enrolled = await lab.snapshots.take()
  expect(enrolled.repeats).toBe(0)
  journal.length = 0
  const end = await life()
  const first = [...journal]
  const cleaned = await lab.snapshots.take()
  expect(cleaned.repeats).toBe(0)

  for (const id of [enrolled.id, enrolled.id]) {
    await lab.snapshots.restore(id)
    journal.length = 0
    expect(await life()).toEqual(end)
    expect(journal).toEqual(first)
  }

  // A disk that was installed is what it was, too.
  journal.length = 0
  await node.deploy()
  await node.settled()
  const active = await lab.snapshots.take()
  const second = [...journal]
  expect(active.repeats).toBe(0)
  await lab.snapshots.restore(cleaned.id)
  journal.length = 0
  await node.deploy()
  await node.settled()
  expect(journal).toEqual(second)
  const machine = (await node.machine())!
  const boots = async () => {
    await machine.setPower('reboot')
    await lab.wait(lab.clock.sleep(1000))
    return machine.boot()
  }
  expect(await boots()).toMatchObject({ outcome: 'disk' })
  await lab.snapshots.restore(enrolled.id)
  expect(machine.power()).toBe('off')
  expect(machine.firstBoot()).toBeUndefined()
  await lab.snapshots.restore(active.id)
  expect(await boots()).toMatchObject({ outcome: 'disk' })
  expect(machine.firstBoot()).toMatchObject({ failure: null })
})

test('reset brings back the start: no nodes, no machines, no faults, the first time, the first random numbers', async () => {
  await using lab = await createLab({ seed: 5 })
  const first = await lab.enroll({ deploySteps })
  await first.deploy()
  lab.faults.add({ match: { node: first.uuid }, effect: { kind: 'agent-silent' } })
  await lab.wait(lab.clock.sleep(60_000))

  await lab.snapshots.reset()

  expect(lab.clock.elapsed()).toBe(0)
  expect(await lab.client.nodes()).toEqual([])
  await lab.snapshots.reset()
  const again = await lab.enroll({ deploySteps })
  expect(again.uuid).toBe(first.uuid)
  await again.deploy()
  expect(await again.settled()).toMatchObject({ provision_state: 'active', name: 'machine-1' })
})

test('a fork continues by itself, and ends as the lab that it comes from', async () => {
  await using lab = await createLab({ seed: 5, realistic: true })
  const node = await lab.enroll({ deploySteps })
  await node.deploy()
  const { id, repeats } = await lab.snapshots.take()
  expect(repeats).toBeGreaterThan(0)

  await using fork = await lab.snapshots.fork(id)
  const twin = await fork.node(node.uuid)
  const end = await twin.settled()
  expect(end).toMatchObject({ provision_state: 'active' })
  expect(await node.get()).toMatchObject({ provision_state: 'deploying' })
  await twin.provision('deleted')
  await twin.settled()

  await lab.snapshots.restore(id)
  expect(await node.settled()).toEqual(end)
})

test('a snapshot in a file is one of any lab with the same options, and of no other', async () => {
  await using lab = await createLab({ seed: 5, realistic: true })
  const node = await lab.enroll({ deploySteps })
  const fault = lab.faults.add({ match: { program: 'lsblk' }, effect: { kind: 'delay', ms: 300 } })
  await node.deploy()
  fault[Symbol.dispose]()
  const machine = (await node.machine())!
  await machine.target.executor.files.write('/run/note', Buffer.from('here')).catch(() => {})
  const { id } = await lab.snapshots.take()
  const text = lab.snapshots.export(id)
  const end = await node.settled()

  await using other = await createLab({ seed: 5, realistic: true })
  const imported = other.snapshots.import(text)
  expect(other.snapshots.list()).toContainEqual(imported)
  await other.snapshots.restore(imported.id)
  expect(await (await other.node(node.uuid)).settled()).toEqual(end)

  await using another = await createLab({ seed: 6, realistic: true, hardware: [{ hardware: { cpus: 3 } }] })
  await another.enroll()
  const before = await another.client.nodes()
  const refused = (changed: string) => {
    try {
      another.snapshots.import(changed)
      return 'taken'
    } catch (error) {
      return (error as Error).message
    }
  }
  expect(refused(text)).toBe('the snapshot is of a lab with other options: hardware, seed')
  expect(refused(text.replace('"version":1', '"version":2'))).toBe(
    'the snapshot cannot be used: it has version 2 of the format, and this ironstage reads version 1',
  )
  expect(refused(text.replace('quiet', 'quite'))).toBe(
    'the snapshot cannot be used: it is damaged: its contents do not match their digest',
  )
  for (const damaged of [text.slice(0, -10), '', 'null', '[]', '{"format":3}'])
    expect(refused(damaged)).toBe('the snapshot cannot be used: it is not a snapshot of ironstage, or is cut short')
  expect(another.snapshots.list()).toHaveLength(1)
  expect(await another.client.nodes()).toEqual(before)
})

test('an unknown snapshot changes nothing, and those that there are are named', async () => {
  await using lab = await createLab()
  const node = await lab.enroll()
  await lab.snapshots.take()
  const unknown = { code: 'snapshot-unknown', message: 'there is no snapshot "monday"' }
  await expect(lab.snapshots.restore('monday')).rejects.toMatchObject(unknown)
  await expect(lab.snapshots.fork('monday')).rejects.toMatchObject(unknown)
  expect(() => lab.snapshots.export('monday')).toThrow('there is no snapshot "monday"')
  expect(await node.get()).toMatchObject({ provision_state: 'enroll' })
  lab.snapshots.remove('snapshot-1')
  await expect(lab.snapshots.restore('snapshot-1')).rejects.toMatchObject({ remedy: 'there are: start' })
})

test('a wait for a node continues after a restore, for the restored node', async () => {
  await using lab = await createLab({ seed: 5, realistic: true })
  const node = await lab.enroll({ deploySteps })
  const enrolled = await lab.snapshots.take()
  await node.deploy()
  const { id } = await lab.snapshots.take()
  const settled = node.settled()
  await lab.snapshots.restore(id)
  expect(await settled).toMatchObject({ provision_state: 'active' })

  const reset = node.until(({ provision_state: state }) => state === 'enroll')
  await lab.snapshots.restore(enrolled.id)
  expect(await reset).toMatchObject({ provision_state: 'enroll' })

  const gone = expect(node.until(() => false)).rejects.toMatchObject({ status: 404 })
  await lab.snapshots.reset()
  await gone
})

test('a lab on wall time goes back to a moment at which nothing was in progress; others are refused', async () => {
  await using lab = await createLab({ clock: 1000, listen: { host: '127.0.0.1', port: 0 } })
  const nodes = async () => {
    const answer = await fetch(`${lab.url}/v1/nodes`, { headers: { 'x-openstack-ironic-api-version': 'latest' } })
    return ((await answer.json()) as { nodes: { name: string; provision_state: string }[] }).nodes.map(
      ({ name, provision_state: state }) => `${name} ${state}`,
    )
  }
  const node = await lab.enroll({ deploySteps })
  await node.deploy()
  await expect(lab.snapshots.take()).rejects.toMatchObject({
    code: 'snapshot-busy',
    message: expect.stringMatching(
      /^no snapshot can be taken now: .*machine-1.*, and a lab whose time passes by itself/,
    ) as string,
  })
  await node.settled()
  const { id } = await lab.snapshots.take()
  await node.provision('deleted')
  await node.settled()
  await lab.enroll()
  expect(await nodes()).toEqual(['machine-1 available', 'machine-2 enroll'])

  await lab.snapshots.restore(id)

  expect(await nodes()).toEqual(['machine-1 active'])
  const machine = (await node.machine())!
  expect([machine.power(), machine.boot()?.outcome]).toEqual(['on', 'disk'])
  await node.provision('deleted')
  expect(await node.settled()).toMatchObject({ provision_state: 'available' })
  expect(() => lab.snapshots.export(id)).toThrow(
    `${id} cannot be written to a file: a lab whose time passes by itself cannot be repeated`,
  )
  await lab.snapshots.reset()
  expect(await nodes()).toEqual([])
})

test('a lab with a state folder keeps a restored snapshot when it is opened again', async () => {
  await using folder = await labFolder()
  const first = await folder.live({ disks: 'described' })
  const uuid = await first.enroll()
  const node = first.node(uuid, { deploySteps })
  await node.makeAvailable()
  const { id } = await first.snapshots.take()
  const available = await node.get()
  await node.deploy()
  await node.settled()
  await first.enroll()

  await first.snapshots.restore(id)
  expect(await node.get()).toEqual(available)
  await expect(first.snapshots.reset()).rejects.toMatchObject({ code: 'snapshot-unsupported' })
  await first[Symbol.asyncDispose]()

  await using second = await folder.live({ disks: 'described' })
  expect(await second.client.nodes()).toMatchObject([{ uuid, provision_state: 'available' }])
  expect(second.machines.list().map((machine) => machine.power())).toEqual(['off'])
})

test('contents of disks in files are in no snapshot, and are made again where the lab can be repeated', async () => {
  await using repeatable = await createLab({ disks: 'file', seed: 3 })
  const node = await repeatable.enroll({ deploySteps })
  await node.deploy()
  const end = await node.settled()
  const { id, repeats } = await repeatable.snapshots.take()
  expect(repeats).toBeGreaterThan(0)
  await node.provision('deleted')
  await node.settled()
  await repeatable.snapshots.restore(id)
  expect(await node.settled()).toEqual(end)
  expect((await node.machine())!.boot()).toMatchObject({ outcome: 'disk' })

  await using other = await createLab({ disks: 'file', seed: 3, clock: 1000 })
  const written = await other.enroll({ deploySteps })
  await written.deploy()
  await written.settled()
  await expect(other.snapshots.take()).rejects.toMatchObject({
    message: expect.stringContaining('disk sda of machine machine-1 is a file') as string,
  })
  await other.snapshots.reset()
  expect(await other.client.nodes()).toEqual([])
})
