import { afterAll, beforeAll, expect, test } from 'vitest'
import { openFleet, type FleetOptions } from '../../../apps/fleet/index.js'
import { LabClock, silent, systemClock, systemRandom } from '../../../base/runtime/index.js'
import { LabClient, type JournalEntry } from '../../../control/index.js'
import { HttpTransport } from '../../../base/wire/index.js'
import { FLEET_ACCOUNT } from '../../kit/fleet/fleet-and-ironic.js'
import { keyOf, LabCommands } from '../../kit/members/lab-commands.js'
import { LabProcesses, machinesName, PROCESS_SPEED, type LabProcess } from '../../kit/members/lab-processes.js'
import { addressOf } from '../../kit/members/member-cluster.js'
import { startTimer } from '../../kit/passed-time.js'
import { REAL_PEER_TIMEOUT } from '../limits.js'
import { PostgresServer } from '../postgres.js'

let server: PostgresServer
beforeAll(async () => {
  server = await PostgresServer.open({ access: ['host all postgres 127.0.0.1/32 trust'] })
})
afterAll(() => server[Symbol.asyncDispose]())

const until = { timeout: REAL_PEER_TIMEOUT }

/** An API and a conductor, and two processes with two machines each, one of them with TLS, all enrolled. */
async function twoFleets(processes: LabProcesses) {
  const api = await processes.add('api-1', 'api')
  // No call of a BMC but those that a test asks for.
  const set = ['conductor.sync_power_state_interval=0']
  const worker = await processes.add('conductor-1', 'conductor', { set })
  const left = await processes.machines(api, { count: 2, namePrefix: 'left-' })
  const right = await processes.machines(api, { count: 2, namePrefix: 'right-', tls: 'own' })
  return { api, worker, left, right }
}

const statuses = async (processes: LabProcesses, url: string, machine: string): Promise<number> => {
  const transport = processes.scope.use(new HttpTransport({ clock: systemClock(), tls: { insecure: true } }))
  const { username, password } = FLEET_ACCOUNT
  const authorization = `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`
  const answer = await transport.send({
    method: 'GET',
    url: `${url}/redfish/v1/Systems/${machine}`,
    headers: { authorization },
  })
  return answer.status
}

const stateOf = async ({ served: { stage } }: LabProcess, name: string): Promise<string> =>
  (await stage.client.node(name)).provision_state

test('a fault that is added at an API strikes at machines of fleets, as often as it says in all of them', async () => {
  await using processes = new LabProcesses(server, 'strikes')
  const { api, left, right } = await twoFleets(processes)
  const systems: [string, string][] = [
    [left.fleet.redfishUrl, 'left-1'],
    [right.fleet.redfishUrl, 'right-1'],
    [left.fleet.redfishUrl, 'left-2'],
    [right.fleet.redfishUrl, 'right-2'],
  ]
  const { id } = await api.lab.addFault({
    match: { route: 'GET /redfish/v1/Systems/:id' },
    effect: { kind: 'status', status: 418 },
    times: 2,
  })
  const answers: number[] = []
  for (const [url, machine] of systems) answers.push(await statuses(processes, url, machine))
  expect(answers).toEqual([418, 418, 200, 200])
  expect(await api.lab.fault(id)).toMatchObject({ struck: 2 })
  expect(await right.lab.fault(id)).toMatchObject({ struck: 2 })
  const { entries } = await api.lab.journal({ kind: 'fault' })
  const struck = entries.flatMap((entry) => (entry.kind === 'fault' && entry.what === 'struck' ? [entry] : []))
  expect(struck.map(({ machine, process }) => [machine, process])).toEqual([
    ['left-1', left.name],
    ['right-1', right.name],
  ])

  // A fault of one machine is accepted anywhere, and strikes that machine alone.
  const { id: own } = await right.lab.addFault({
    match: { machine: 'left-2' },
    effect: { kind: 'status', status: 503 },
  })
  expect(await api.lab.fault(own)).not.toHaveProperty('waitsFor')
  for (const [[url, machine], wanted] of systems.map((system, index) => [system, index === 2 ? 503 : 200] as const))
    expect(await statuses(processes, url, machine)).toBe(wanted)
  await api.lab.liftFault(own)
  expect(await statuses(processes, left.fleet.redfishUrl, 'left-2')).toBe(200)
})

test('the journal is the same at an API and at a fleet, and has what the BMCs of all fleets were asked', async () => {
  await using processes = new LabProcesses(server, 'journal')
  const { api, left, right } = await twoFleets(processes)
  for (const name of ['left-1', 'right-2']) {
    await api.served.stage.client.provision(name, 'manage')
    await expect.poll(() => stateOf(api, name), until).toBe('manageable')
  }
  const { entries, missing } = await api.lab.journal({ kind: 'bmc', limit: 1000 })
  expect(missing).toBeUndefined()
  const asked = (process: string) =>
    new Set(entries.flatMap((entry) => (entry.process === process && entry.machine !== null ? [entry.machine] : [])))
  expect(asked(left.name)).toEqual(new Set(['left-1']))
  expect(asked(right.name)).toEqual(new Set(['right-2']))
  expect(entries.map(({ wallTime }) => wallTime)).toEqual(entries.map(({ wallTime }) => wallTime).toSorted())
  // Each call of the conductor is answered by a BMC within it.
  const answers = entries.filter(({ process }) => process === left.name || process === right.name)
  expect(answers.length).toBeGreaterThan(1)
  expect(new Set(entries.map(({ process }) => process))).toEqual(new Set(['conductor-1', left.name, right.name]))
  const later = await right.lab.journal({ kind: 'bmc', limit: 1000 })
  expect(later.entries.slice(0, entries.length)).toEqual(entries)
  const { processes: listed } = await left.lab.index()
  expect(listed).toEqual([
    { name: 'api-1', role: 'api', alive: true },
    { name: 'conductor-1', role: 'conductor', alive: true },
    { name: left.name, role: 'machines', alive: true },
    { name: right.name, role: 'machines', alive: true },
  ])
  expect((await api.lab.index()).processes).toEqual(listed)
})

test('a fault of no machine is refused anywhere; a machine that is added is known at once, and one that has gone no more', async () => {
  await using processes = new LabProcesses(server, 'names')
  const { api, left, right } = await twoFleets(processes)
  const silence = (machine: string) => ({ match: { machine }, effect: { kind: 'bmc-silent' } }) as const
  for (const { lab } of [api, left, right])
    await expect(lab.addFault(silence('left-3'))).rejects.toMatchObject({
      code: 'fault',
      message: 'there is no machine left-3, so the fault could never strike',
    })
  await left.lab.addMachines({ count: 1 })
  const { id } = await right.lab.addFault(silence('left-3'))
  const onDisk = { match: { machine: 'left-3', disk: 'sdz' }, effect: { kind: 'disk-full' } } as const
  await expect(api.lab.addFault(onDisk)).rejects.toMatchObject({ code: 'fault' })
  await api.lab.liftFault(id)
  await left.lab.removeMachine('left-3')
  await expect(api.lab.addFault(silence('left-3'))).rejects.toMatchObject({ code: 'fault' })

  // A fleet knows no nodes, and has nothing that goes back.
  const ofNode = { match: { node: 'left-1', state: 'active' }, effect: { kind: 'bmc-silent' } } as const
  await expect(left.lab.addFault(ofNode)).rejects.toMatchObject({ code: 'fault' })
  const shared = { code: 'shared-database', status: 409 }
  await expect(left.lab.reset()).rejects.toMatchObject(shared)
  await expect(left.lab.takeSnapshot()).rejects.toMatchObject(shared)
  await expect(left.lab.setClock({ mode: 'real' })).rejects.toMatchObject({ code: 'clock-fixed' })
  expect((await api.lab.faults()).faults).toEqual([])
})

test('a fault of a node in a phase strikes what its machine does then, and its calls of the BMC at the conductor', async () => {
  await using processes = new LabProcesses(server, 'phases')
  const { api, left, right } = await twoFleets(processes)
  const program = 'lsblk'
  const effect = { kind: 'exit-code', code: 7 } as const
  const { id } = await api.lab.addFault({ match: { node: 'left-1', phase: 'clean', program }, effect, times: 1 })
  const { id: never } = await api.lab.addFault({ match: { node: 'left-2', phase: 'install', program }, effect })
  const { id: ofCalls } = await api.lab.addFault({
    match: { node: 'left-1', bmc: 'read power' },
    effect: { kind: 'delay', for: '10ms' },
    times: 1,
  })
  const { id: silent } = await api.lab.addFault({
    match: { node: 'left-2', phase: 'clean', route: 'POST /v1/heartbeat' },
    effect: { kind: 'agent-silent' },
    times: 1,
  })
  for (const name of ['left-1', 'left-2']) {
    await api.served.stage.client.provision(name, 'manage')
    await expect.poll(() => stateOf(api, name), until).toBe('manageable')
    await api.served.stage.client.provision(name, 'provide')
  }
  await expect.poll(async () => (await api.lab.fault(id)).struck, until).toBe(1)
  await expect.poll(() => stateOf(api, 'left-2'), until).toBe('available')
  const { id: ofPower } = await api.lab.addFault({
    match: { node: 'left-2' },
    effect: { kind: 'power-loss' },
    times: 1,
  })
  await api.served.stage.client.power('left-2', 'power on')
  await expect.poll(async () => (await api.lab.fault(ofPower)).struck, until).toBe(1)
  const { entries } = await api.lab.journal({ kind: 'fault', limit: 1000 })
  const struck = (fault: string) =>
    entries.flatMap((entry) =>
      entry.fault === fault && entry.kind === 'fault' && entry.what === 'struck' ? [entry] : [],
    )
  expect(struck(id)).toMatchObject([{ process: left.name, machine: 'left-1' }])
  expect(struck(ofCalls)).toMatchObject([{ process: 'conductor-1', name: 'left-1' }])
  for (const fault of [silent, ofPower])
    expect(struck(fault)).toMatchObject([{ process: left.name, machine: 'left-2' }])
  expect(struck(never)).toEqual([])
  for (const { lab } of [api, left, right])
    for (const fault of (await lab.faults()).faults) expect(fault).not.toHaveProperty('waitsFor')
  const { entries: commands } = await api.lab.journal({ kind: 'command', machine: 'left-1', limit: 1000 })
  const failed = commands.flatMap((entry) => (entry.kind === 'command' && entry.fault === id ? [entry] : []))
  expect(failed).toMatchObject([{ process: left.name, exitCode: 7 }])
})

test('faults that a fleet has for itself stay, and are counted and lifted there', async () => {
  await using processes = new LabProcesses(server, 'own')
  const api = await processes.add('api-1', 'api')
  await processes.add('conductor-1', 'conductor')
  const left = await processes.machines(api, { count: 1 })
  const match = { machine: 'machine-1', route: 'GET /redfish/v1/Systems/:id' }
  const { id: own } = left.fleet.faults.add({ match, effect: { kind: 'status', status: 507 }, times: 2 })
  expect(own).toBe('own-fault-1')
  const { id } = await api.lab.addFault({ match, effect: { kind: 'status', status: 418 }, times: 1 })
  const ids = async ({ lab }: { lab: LabClient }) => (await lab.faults()).faults.map((fault) => fault.id)
  expect(await ids(left)).toEqual([own, id])
  expect(await ids(api)).toEqual([id])
  const ask = () => statuses(processes, left.fleet.redfishUrl, 'machine-1')
  expect(await ask()).toBe(507)
  await api.lab.liftFaults()
  expect(await ids(left)).toEqual([own])
  expect(await ask()).toBe(507)
  expect(await ask()).toBe(200)
  expect(left.fleet.faults.get(own)).toMatchObject({ struck: 2 })
  await left.lab.liftFault(own)
  expect(await ids(left)).toEqual([])
})

/** A fleet of the database that has not joined it. */
function machinesAlone(processes: LabProcesses, schema: string, options: Partial<FleetOptions> & { speed?: number }) {
  const { speed = PROCESS_SPEED, ...more } = options
  return openFleet({
    count: 1,
    redfish: { port: 0 },
    account: FLEET_ACCOUNT,
    clock: new LabClock({ mode: speed }),
    random: systemRandom,
    logger: silent,
    database: addressOf(server, schema),
    ...more,
  }).then((fleet) => processes.scope.use(fleet))
}

test('a fleet has a name and a clock that fit the others, and answers those alone at the port of its BMCs', async () => {
  await using processes = new LabProcesses(server, 'fit')
  const { signal } = new AbortController()
  const first = await machinesAlone(processes, 'fit', {})
  const { self } = await first.join({ signal })
  expect(self.host).toBe(machinesName(first.redfishUrl))
  const port = Number(new URL(first.redfishUrl).port)
  const same = await machinesAlone(processes, 'fit', { redfish: { host: '127.0.0.2', port } })
  await expect(same.join({ signal })).rejects.toThrow(`another process of this database is called ${self.host}`)
  const slow = await machinesAlone(processes, 'fit', { speed: 1 })
  await expect(slow.join({ signal })).rejects.toThrow(
    `the clock of ${self.host} is x20, and that of this process would be real`,
  )
  const ask = async (path: string, headers: Record<string, string> = {}) => {
    const answer = await fetch(`${first.redfishUrl}${path}`, { headers })
    return [answer.status, /no process of the same database/.test(await answer.text())]
  }
  const token = { 'x-ironstage-process': 'x' }
  expect(await ask('/_lab')).toEqual([401, false])
  expect(await ask('/_lab', token)).toEqual([401, true])
  expect(await ask('/redfish/v1', token)).toEqual([200, false])
})

test('a fleet that is there before its database has no faults of all processes, and joins when that answers', async () => {
  await using processes = new LabProcesses(server, 'later')
  await server.stop('immediate')
  const fleet = await machinesAlone(processes, 'later', {})
  const lab = new LabClient(fleet.controlUrl)
  const reasons: string[] = []
  const joining = fleet.join({ signal: new AbortController().signal, onAway: (reason) => reasons.push(reason) })
  await expect.poll(() => reasons, until).not.toEqual([])
  expect(reasons[0]).toContain('does not answer')
  const fault = { match: { machine: 'machine-1' }, effect: { kind: 'bmc-silent' } } as const
  await expect(lab.addFault(fault)).rejects.toMatchObject({ code: 'database-unreachable', status: 503 })
  expect((await lab.index()).processes).toBeUndefined()
  await server.start()
  await joining
  const { id } = await lab.addFault(fault)
  expect((await lab.index()).processes).toMatchObject([{ role: 'machines', alive: true }])

  // Over a break of the connection it has the faults, and after it what changes.
  await server.stop('immediate')
  await expect(lab.faults()).rejects.toMatchObject({ code: 'database-unreachable' })
  expect(fleet.faults.get(id)).toMatchObject({ struck: 0 })
  await server.start()
  const api = await processes.add('api-1', 'api')
  await api.lab.liftFault(id)
  await expect.poll(() => fleet.faults.list(), until).toEqual([])
})

test('events of a fleet come until it is killed, and a fleet that is stopped is named after two seconds', async () => {
  await using commands = new LabCommands(server, 'commands')
  const api = await commands.start('api-1', 'api')
  await commands.start('conductor-1', 'conductor')
  const [killed, stopped] = await Promise.all([commands.machines('left-', 1), commands.machines('right-', 1)])
  const names = [killed, stopped].map(({ redfishUrl }) => machinesName(redfishUrl!))
  const [killedName, stoppedName] = names
  const listed = async () => (await api.lab.index()).processes?.map(({ name }) => name) ?? []
  await expect.poll(listed, until).toEqual(expect.arrayContaining(names))
  const seen: JournalEntry[] = []
  const reading = new AbortController()
  const read = (async () => {
    for await (const entry of new LabClient(api.url, { signal: reading.signal }).events({ after: '0' }))
      seen.push(entry)
  })().catch(() => {})
  const power = (machine: string) => api.lab.journal({ machine, limit: 1000 })
  const manage = async (name: string) => {
    const ask = async () =>
      (
        await fetch(`${api.url}/v1/nodes/${name}/states/provision`, {
          method: 'PUT',
          headers: { 'content-type': 'application/json', 'x-openstack-ironic-api-version': '1.49' },
          body: '{"target":"manage"}',
        })
      ).status
    await expect.poll(ask, until).toBe(202)
  }
  await manage('left-1')
  await manage('right-1')
  const by = (name: string | undefined) => seen.filter(({ process, id }) => process === name && id > 0)
  for (const name of names) await expect.poll(() => by(name).length, until).toBeGreaterThan(0)
  const { entries } = await power('left-1')
  await expect
    .poll(() => {
      const keys = new Set(seen.map(keyOf))
      return entries.filter((entry) => !keys.has(keyOf(entry)))
    }, until)
    .toEqual([])
  await killed.kill()
  const notes = () => seen.flatMap((entry) => (entry.kind === 'lab' && entry.id === 0 ? [entry.what] : []))
  await expect.poll(notes, until).toEqual([expect.stringContaining(killedName!)])

  process.kill(stopped.pid, 'SIGSTOP')
  const passed = startTimer()
  const { missing } = await api.lab.journal({ after: '0', limit: 1000 })
  expect(missing?.map(({ process }) => process)).toEqual(expect.arrayContaining([stoppedName]))
  await api.lab.addFault({ match: { machine: 'right-1' }, effect: { kind: 'bmc-silent' } })
  expect(passed().unhindered).toBeLessThan(30_000)
  process.kill(stopped.pid, 'SIGCONT')
  await expect.poll(async () => (await api.lab.journal({ last: 1 })).missing ?? [], until).toHaveLength(1)
  reading.abort()
  await read
})
