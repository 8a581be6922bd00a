import { afterAll, beforeAll, expect, test } from 'vitest'
import type { JournalEntry } from '../../../control/index.js'
import { systemClock } from '../../../base/runtime/index.js'
import { HttpTransport } from '../../../base/wire/index.js'
import { FLEET_ACCOUNT } from '../../kit/fleet/fleet-and-ironic.js'
import { LabProcesses, type LabProcess } from '../../kit/members/lab-processes.js'
import { REAL_PEER_TIMEOUT } from '../limits.js'
import { PostgresServer } from '../postgres.js'

let server: PostgresServer
beforeAll(async () => {
  server = await PostgresServer.open({ access: ['host all postgres 127.0.0.1/32 trust'] })
})
afterAll(() => server[Symbol.asyncDispose]())

const until = { timeout: REAL_PEER_TIMEOUT }

/** An API and a conductor, and two processes with two machines each, all enrolled. */
async function twoFleets(processes: LabProcesses) {
  const api = await processes.add('api-1', 'api')
  const worker = await processes.add('conductor-1', 'conductor')
  const left = await processes.machines(api, { count: 2, namePrefix: 'left-' })
  const right = await processes.machines(api, { count: 2, namePrefix: 'right-' })
  return { api, worker, left, right }
}

const statuses = async (processes: LabProcesses, url: string, machine: string): Promise<number> => {
  const transport = processes.scope.use(new HttpTransport({ clock: systemClock() }))
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
