import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Client } from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { fetchBy, LabClient, type JournalEntry } from '../../../control/index.js'
import { LabClock, systemClock, temporaryFolder } from '../../../base/runtime/index.js'
import { HttpTransport } from '../../../base/wire/index.js'
import { memberToken } from '../../../lab/members/member-token.js'
import { keyOf, LabCommands } from '../../kit/members/lab-commands.js'
import { LabProcesses, PROCESS_SPEED, type LabProcess } from '../../kit/members/lab-processes.js'
import { addressOf } from '../../kit/members/member-cluster.js'
import { startTimer } from '../../kit/passed-time.js'
import { REAL_PEER_TIMEOUT } from '../limits.js'
import { PostgresServer } from '../postgres.js'

const DAY = 86_400_000

let server: PostgresServer
beforeAll(async () => {
  server = await PostgresServer.open({ access: ['host all postgres 127.0.0.1/32 trust'] })
})
afterAll(() => server[Symbol.asyncDispose]())

const until = { timeout: REAL_PEER_TIMEOUT }

/** An API refuses nodes until it has seen a conductor. */
async function makeNode({ served: { stage } }: LabProcess, name: string): Promise<void> {
  const node = { name, driver: 'fake-hardware', deploy_interface: 'fake', automated_clean: false }
  const make = () => stage.client.createNode(node).then(() => 'made', String)
  await expect.poll(make, until).toBe('made')
}

const stateOf = async ({ served: { stage } }: LabProcess, name: string): Promise<string> => {
  const { provision_state: state, last_error: error } = await stage.client.node(name)
  return error === null ? state : `${state}: ${error}`
}

async function goTo(process: LabProcess, name: string, verb: 'manage' | 'provide' | 'active', state: string) {
  await process.served.stage.client.provision(name, verb)
  await expect.poll(() => stateOf(process, name), until).toBe(state)
}

/** The secret of the processes of a schema, and the stream of one of them. */
async function secretOf(schema: string, host: string): Promise<{ secret: string; stream: number }> {
  const client = new Client(addressOf(server, schema).connections[0]!.config)
  await client.connect()
  try {
    const { rows } = await client.query<{ secret: string; stream: number }>(
      `select secret, stream from "${schema}".lab, "${schema}".members where host = $1`,
      [host],
    )
    return rows[0]!
  } finally {
    await client.end()
  }
}

const statesIn = (entries: readonly JournalEntry[]): string[] =>
  entries.flatMap((entry) => (entry.kind === 'state' ? [`${entry.was} > ${entry.state}`] : []))

test('the journal of a deployment is the same at every API: states in the order of commits, each with the process that made it', async () => {
  await using processes = new LabProcesses(server, 'journal')
  const { first, second } = await processes.cluster()
  await makeNode(first, 'node-1')
  await goTo(first, 'node-1', 'manage', 'manageable')
  await goTo(second, 'node-1', 'provide', 'available')
  await goTo(first, 'node-1', 'active', 'active')
  const { entries, next, missing } = await second.lab.journal({ node: 'node-1', limit: 1000 })
  expect(missing).toBeUndefined()
  expect(next).toBeNull()
  const states = entries.filter(({ kind }) => kind === 'state')
  const changes = statesIn(states).filter((change) => change.split(' > ')[0] !== change.split(' > ')[1])
  const seen = changes.map((change) => change.split(' > ')[1])
  // Each begins where the one before ended.
  expect(changes.map((change) => change.split(' > ')[0])).toEqual(['null', ...seen.slice(0, -1)])
  expect(seen[0]).toBe('enroll')
  expect(seen.at(-1)).toBe('active')
  const by = new Set(states.map(({ process }) => process))
  expect([...by].some((name) => name?.startsWith('conductor-'))).toBe(true)
  const routes = entries.flatMap((entry) =>
    entry.kind === 'exchange' && entry.method === 'PUT' ? [`${entry.process} ${entry.status}`] : [],
  )
  expect(routes).toEqual(['api-1 202', 'api-2 202', 'api-1 202'])
  expect((await first.lab.journal({ node: 'node-1', limit: 1000 })).entries).toEqual(entries)

  // Pages of three, each read at the other API, are the same entries.
  const paged: JournalEntry[] = []
  for (let after: string | undefined = '0'; after !== undefined;) {
    const reader = paged.length % 2 === 0 ? first : second
    const page = await reader.lab.journal({ node: 'node-1', limit: 3, after })
    paged.push(...page.entries)
    after = page.next === null ? undefined : page.entries.at(-1)!.cursor
  }
  const places = (all: readonly JournalEntry[]) => all.map(({ process, id }) => `${process} ${id}`)
  expect(places(paged)).toEqual(places(entries))
  const { entries: last } = await first.lab.journal({ node: 'node-1', last: 4 })
  expect(places(last)).toEqual(places(entries).slice(-4))
  const timeline = await second.lab.timeline('node-1')
  expect(timeline.states.map(({ state }) => state)).toEqual(seen)
  const known = new Set(places(entries))
  for (const { process, entry } of [...timeline.states, ...timeline.marks])
    expect(known).toContain(`${process} ${entry}`)
  const lines = (await first.lab.journalNdjson({ node: 'node-1' })).trim().split('\n')
  expect(lines).toHaveLength(entries.length)
})

test('a fault that is added at one API strikes at the conductor that has the node, once of all processes together', async () => {
  await using processes = new LabProcesses(server, 'faults')
  const { first, second } = await processes.cluster()
  const names = await processes.fleet(first, 6)
  const { id } = await first.lab.addFault({ match: { bmc: 'read power' }, effect: { kind: 'bmc-silent' }, times: 2 })
  await Promise.all(names.map((name) => second.served.stage.client.provision(name, 'manage')))
  const states = async () =>
    (await Promise.all(names.map((name) => stateOf(first, name)))).map((text) => text.split(':')[0])
  await expect.poll(async () => (await states()).filter((state) => state === 'verifying'), until).toEqual([])
  const { entries } = await second.lab.journal({ kind: 'fault' })
  const strikes = entries.flatMap((entry) => (entry.kind === 'fault' && entry.what === 'struck' ? [entry] : []))
  expect(strikes).toHaveLength(2)
  for (const { process, fault } of strikes) {
    expect(process).toMatch(/^conductor-/)
    expect(fault).toBe(id)
  }
  expect(await second.lab.fault(id)).toMatchObject({ struck: 2, times: 2 })
  expect((await first.lab.faults()).faults.map(({ id: listed }) => listed)).toEqual([id])

  const own = first.served.stage.faults
  expect(own.list().map(({ id: listed }) => listed)).toEqual([id])
  for (const change of [
    () => own.add({ match: {}, effect: { kind: 'bmc-silent' } }),
    () => own.lift(id),
    () => own.clear(),
  ])
    expect(change).toThrow('faults of a database that several processes share are those of all processes')
  await first.served.stage.addFaults([{ match: { bmc: 'set boot' }, effect: { kind: 'bmc-silent' }, label: 'all' }])
  expect((await second.lab.faults()).faults.map(({ label }) => label ?? null)).toEqual([null, 'all'])
  await second.lab.liftFaults({ label: 'all' })

  // One that starts later has the faults too.
  const { id: later } = await second.lab.addFault({
    match: { route: 'POST /v1/nodes' },
    effect: { kind: 'status', status: 418 },
    label: 'tea',
  })
  const third = await processes.add('api-3', 'api')
  const refused = async ({ served: { stage } }: LabProcess) =>
    (
      await fetch(`${stage.url}/v1/nodes`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: '{"driver":"fake-hardware"}',
      })
    ).status
  for (const api of [first, second, third]) expect(await refused(api)).toBe(418)
  expect(await third.lab.fault(later)).toMatchObject({ struck: 3 })
  await third.lab.liftFaults({ label: 'tea' })
  for (const api of [first, second, third]) expect(await refused(api)).toBe(201)
  await expect(first.lab.fault(later)).rejects.toMatchObject({ code: 'no-such-fault', status: 404 })
  await expect(first.lab.liftFault('fault-99')).rejects.toMatchObject({ code: 'no-such-fault' })
  await expect(
    first.lab.addFault([
      { match: { node: 'machine-1' }, effect: { kind: 'bmc-silent' } },
      { match: { node: 'node-99' }, effect: { kind: 'bmc-silent' } },
    ]),
  ).rejects.toMatchObject({ code: 'fault' })
  expect((await first.lab.faults()).faults).toHaveLength(1)
})

test('the causes of a failure lead to entries of the process that noted them', async () => {
  await using processes = new LabProcesses(server, 'causes')
  const { first, second } = await processes.cluster()
  const [name] = (await processes.fleet(first, 1)) as [string]
  await goTo(first, name, 'manage', 'manageable')
  const { id } = await first.lab.addFault({ match: { node: name, bmc: 'set power' }, effect: { kind: 'bmc-silent' } })
  await second.served.stage.client.power(name, 'power on')
  const causes = async () => (await second.lab.timeline(name)).causes.filter(({ fault }) => fault === id)
  await expect.poll(causes, until).not.toEqual([])
  const { entries } = await first.lab.journal({ node: name, limit: 1000 })
  for (const { entry, process } of await causes())
    expect(entries.find((one) => one.id === entry && one.process === process)).toMatchObject({ fault: id })
})

test('faults are the same while the database is away, and none is added or counted then', async () => {
  await using processes = new LabProcesses(server, 'away')
  const { lab, served } = await processes.add('api-1', 'api')
  const fault = { match: { route: 'GET /v1/nodes' }, effect: { kind: 'status', status: 418 } } as const
  const { id } = await lab.addFault(fault)
  const status = async () => (await fetch(`${served.url}/v1/nodes`)).status
  expect(await status()).toBe(418)
  await server.stop('immediate')
  const away = { code: 'database-unreachable', status: 503 }
  await expect(lab.faults()).rejects.toMatchObject(away)
  await expect(lab.addFault(fault)).rejects.toMatchObject(away)
  expect((await lab.journal({ kind: 'fault' })).entries).toHaveLength(2)
  await server.start()
  await expect
    .poll(
      () =>
        lab.faults().then(
          ({ faults }) => faults.length,
          () => 0,
        ),
      until,
    )
    .toBe(1)
  expect(await status()).toBe(418)
  expect(await lab.fault(id)).toMatchObject({ struck: 2 })
})

test('what would be of one process alone is refused, and a clock that passes otherwise does not join', async () => {
  await using processes = new LabProcesses(server, 'refused')
  const { lab, served } = await processes.add('api-1', 'api')
  await processes.add('conductor-1', 'conductor')
  const shared = { code: 'shared-database', status: 409 }
  await expect(lab.reset()).rejects.toMatchObject(shared)
  await expect(lab.takeSnapshot()).rejects.toMatchObject(shared)
  await expect(lab.restoreSnapshot('start')).rejects.toMatchObject(shared)
  await expect(lab.fork('start')).rejects.toMatchObject(shared)
  expect(await lab.snapshots()).toEqual({ snapshots: [] })
  await expect(lab.setClock({ mode: 'real' })).rejects.toMatchObject({ code: 'clock-fixed' })
  await expect(lab.advance({ by: '1s' })).rejects.toMatchObject({ code: 'clock-fixed' })
  await expect(lab.journal({ after: 12 })).rejects.toMatchObject({ code: 'bad-request' })
  const strange = await fetch(`${served.url}/_lab/events`, { headers: { 'last-event-id': '12' } })
  expect(strange.status).toBe(400)
  await expect(processes.add('conductor-2', 'conductor', { speed: 1 })).rejects.toThrow(
    'the clock of api-1 is x20, and that of this process would be real: processes of one database have the same',
  )
  const { processes: listed } = await lab.index()
  expect(listed).toEqual([
    { name: 'api-1', role: 'api', alive: true },
    { name: 'conductor-1', role: 'conductor', alive: true },
  ])
})

test('lab time goes on from the latest of all processes: at one that starts later, and after all have ended', async () => {
  const schema = 'time'
  const report = async ({ lab }: LabProcess): Promise<number> => Date.parse((await lab.clock()).labTime)
  let latest = 0
  {
    await using processes = new LabProcesses(server, schema)
    const first = await processes.add('api-1', 'api', {
      clock: new LabClock({ mode: PROCESS_SPEED, start: Date.now() + DAY }),
    })
    const second = await processes.add('api-2', 'api', { clock: new LabClock({ mode: PROCESS_SPEED }) })
    await expect
      .poll(async () => (await report(second)) - (await report(first)), until)
      .toBeGreaterThan(-PROCESS_SPEED * 2000)
    expect((await second.lab.clock()).elapsed).toBeLessThan(DAY / 2)
    latest = await report(first)
  }
  await using processes = new LabProcesses(server, schema)
  const again = await processes.add('api-3', 'api', { clock: new LabClock({ mode: PROCESS_SPEED }) })
  expect(await report(again)).toBeGreaterThanOrEqual(latest)
})

test('with passwords and TLS, processes read each other without them, and none of it is for others', async () => {
  await using processes = new LabProcesses(server, 'passwords')
  const file = join(processes.scope.use(await temporaryFolder()).path, 'htpasswd')
  // The hash of "open".
  await writeFile(file, 'lab:$2b$05$CCCCCCCCCCCCCCCCCCCCC.E5YPO9kmyuRGyh0XouQYb4YMJKvyOeW\n')
  const set = [
    'DEFAULT.auth_strategy=http_basic',
    `DEFAULT.http_basic_auth_user_file=${file}`,
    'api.enable_ssl_api=true',
  ]
  const first = await processes.add('api-1', 'api', { set })
  const second = await processes.add('api-2', 'api', { set })
  await processes.add('conductor-1', 'conductor', { set })
  await makeNode(second, 'node-1')
  const transport = processes.scope.use(new HttpTransport({ clock: systemClock(), tls: { insecure: true } }))
  const { headers, url } = first.served.stage
  const lab = new LabClient(url, { fetch: fetchBy(transport), headers })
  const { entries, missing } = await lab.journal({ node: 'node-1' })
  expect(missing).toBeUndefined()
  expect(new Set(entries.map(({ process }) => process))).toEqual(new Set(['api-2']))
  const ask = async (more: Record<string, string>, path = '/_lab/journal', method = 'GET') =>
    (await transport.send({ method, url: `${url}${path}`, headers: more })).status
  expect(await ask({})).toBe(401)
  expect(await ask({ 'x-ironstage-process': 'x' })).toBe(401)
  expect(
    await ask({
      'x-ironstage-process': memberToken('guess', { stream: 1, target: '/_lab/journal' }, systemClock().now()),
    }),
  ).toBe(401)
  // The right secret, for another call or another process.
  const { secret, stream } = await secretOf('passwords', 'api-1')
  const token = memberToken(secret, { stream, target: '/_lab/journal' }, systemClock().now())
  expect(await ask({ 'x-ironstage-process': token })).toBe(200)
  expect(await ask({ 'x-ironstage-process': token }, '/_lab/faults')).toBe(401)
  expect(await ask({ 'x-ironstage-process': token }, '/_lab/journal', 'DELETE')).toBe(401)
  const other = memberToken(secret, { stream: stream + 1, target: '/_lab/journal' }, systemClock().now())
  expect(await ask({ 'x-ironstage-process': other })).toBe(401)
  const old = memberToken(secret, { stream, target: '/_lab/journal' }, systemClock().now() - 3_600_000)
  expect(await ask({ 'x-ironstage-process': old })).toBe(401)
})

const json = { 'content-type': 'application/json', 'x-openstack-ironic-api-version': '1.49' }

async function call(url: string, method: string, path: string, body?: object): Promise<Response> {
  return fetch(`${url}/v1${path}`, { method, headers: json, ...(body ? { body: JSON.stringify(body) } : {}) })
}

/** Makes a call that an API refuses while it has seen no conductor, or the node is locked. */
async function accepted(url: string, method: string, path: string, body: object): Promise<void> {
  await expect.poll(async () => (await call(url, method, path, body)).ok, until).toBe(true)
}

async function nodesAt(url: string, names: readonly string[]): Promise<void> {
  for (const name of names)
    await accepted(url, 'POST', '/nodes', { name, driver: 'fake-hardware', automated_clean: false })
}

/** Brings nodes from one state of rest to another, by calls that the node's conductor carries out. */
async function move(url: string, names: readonly string[], target: string, state: string): Promise<void> {
  for (const name of names) await accepted(url, 'PUT', `/nodes/${name}/states/provision`, { target })
  for (const name of names)
    await expect
      .poll(
        async () =>
          ((await (await call(url, 'GET', `/nodes/${name}`)).json()) as { provision_state: string }).provision_state,
        until,
      )
      .toBe(state)
}

/**
 * Brings nodes to `manageable` until all of these conductors have worked on some: each does when another has given it its part
 * of the nodes.
 *
 * @returns the names of the nodes
 */
async function workedBy(
  conductors: readonly string[],
  { url, lab }: { url: string; lab: LabClient },
  prefix = '',
): Promise<string[]> {
  const names: string[] = []
  const idle = async (): Promise<string[]> => {
    const { entries } = await lab.journal({ after: '0', kind: 'state', limit: 1000 })
    const by = new Set(entries.map(({ process }) => process))
    return conductors.filter((name) => !by.has(name))
  }
  for (let round = 1; names.length === 0 || (await idle()).length > 0; round++) {
    const more = Array.from({ length: 12 }, (_, index) => `${prefix}${round}-${index}`)
    await nodesAt(url, more)
    await move(url, more, 'manage', 'manageable')
    names.push(...more)
  }
  return names
}

test('a reader of events sees each entry of all processes once, over the kill of one, and goes on at another API', async () => {
  await using commands = new LabCommands(server, 'events')
  const first = await commands.start('api-1', 'api')
  const [second, killed, other] = await Promise.all([
    commands.start('api-2', 'api'),
    commands.start('conductor-1', 'conductor'),
    commands.start('conductor-2', 'conductor'),
  ])
  const seen: JournalEntry[] = []
  const reading = new AbortController()
  const reader = new LabClient(first.url, { signal: reading.signal })
  const read = (async () => {
    for await (const entry of reader.events({ after: '0' })) seen.push(entry)
  })().catch(() => {})
  const names = await workedBy(['conductor-1', 'conductor-2'], first)
  await killed.kill()
  await move(second.url, names, 'provide', 'available')
  const late = await commands.start('conductor-3', 'conductor')
  const all = async () => (await second.lab.journal({ after: '0', limit: 1000 })).entries.map(keyOf)
  await workedBy(['conductor-3'], second, 'late-')
  const notes = () => seen.flatMap((entry) => (entry.kind === 'lab' && entry.id === 0 ? [entry.what] : []))
  await expect.poll(() => notes(), until).toEqual([expect.stringContaining('conductor-1')])
  const stored = () => seen.filter(({ id }) => id > 0)
  await expect
    .poll(async () => {
      const keys = new Set(stored().map(keyOf))
      return (await all()).filter((key) => !keys.has(key))
    }, until)
    .toEqual([])
  const by = new Set(stored().map(({ process }) => process))
  expect(by).toEqual(new Set(['api-1', 'api-2', 'conductor-1', 'conductor-2', 'conductor-3']))
  expect(new Set(stored().map(keyOf)).size).toBe(stored().length)
  reading.abort()
  await read

  // From the middle on at the other API: what is left of the living, each once.
  const middle = seen[Math.floor(seen.length / 2)]!
  const before = new Set(seen.slice(0, Math.floor(seen.length / 2) + 1).map(keyOf))
  const left = (await all()).filter((key) => !before.has(key))
  const again: string[] = []
  const resumed = new AbortController()
  const resuming = new LabClient(second.url, {
    signal: resumed.signal,
    headers: { 'last-event-id': middle.cursor! },
  })
  const resume = (async () => {
    for await (const entry of resuming.events()) if (entry.id > 0) again.push(keyOf(entry))
  })().catch(() => {})
  await expect.poll(() => again.length, until).toBeGreaterThanOrEqual(left.length)
  resumed.abort()
  await resume
  expect(again.filter((key) => left.includes(key)).toSorted()).toEqual(left.toSorted())
  expect(new Set(again).size).toBe(again.length)
  expect(other.alive && late.alive).toBe(true)
})

test('a process that is stopped is named in bounded time, and what it noted comes when it goes on', async () => {
  await using commands = new LabCommands(server, 'hung')
  const api = await commands.start('api-1', 'api')
  const [hung] = await Promise.all([
    commands.start('conductor-1', 'conductor'),
    commands.start('conductor-2', 'conductor'),
  ])
  await workedBy(['conductor-1'], api)
  const whole = await api.lab.journal({ after: '0', limit: 1000 })
  expect(whole.entries.some(({ process }) => process === 'conductor-1')).toBe(true)
  process.kill(hung.pid, 'SIGSTOP')
  const passed = startTimer()
  const partial = await api.lab.journal({ after: '0', limit: 1000 })
  expect(partial.missing).toEqual([{ process: 'conductor-1', why: expect.any(String) as string }])
  expect(partial.entries.some(({ process }) => process === 'conductor-1')).toBe(false)
  await api.lab.index()
  const { id } = await api.lab.addFault({ match: { bmc: 'read power' }, effect: { kind: 'delay', for: '1s' } })
  expect(passed().unhindered).toBeLessThan(30_000)
  await expect
    .poll(async () => (await api.lab.index()).processes?.find(({ name }) => name === 'conductor-1')?.alive, until)
    .toBe(false)
  const { missing } = await api.lab.journal({ after: '0', limit: 1000 })
  expect(missing).toEqual([{ process: 'conductor-1', why: 'it has ended, and its journal with it' }])
  process.kill(hung.pid, 'SIGCONT')
  const places = async () => (await api.lab.journal({ after: '0', limit: 1000 })).entries.map(keyOf)
  await expect
    .poll(async () => {
      const there = new Set(await places())
      return whole.entries.map(keyOf).filter((key) => !there.has(key))
    }, until)
    .toEqual([])
  await api.lab.liftFault(id)
})
