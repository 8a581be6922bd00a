import { hashSync } from 'bcryptjs'
import { mkdtemp, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { createLab, installCoreos, type Lab } from '../../../lab/index.js'
import { CallCounts, templateOf } from '../../../lab/metrics/call-counts.js'

const BASE = 'https://ironic.test'

async function metrics(lab: Lab): Promise<Map<string, number>> {
  const answer = await lab.fetchAt(BASE)(`${BASE}/metrics`)
  expect(answer.headers.get('content-type')).toMatch(/^text\/plain; version=0\.0\.4/)
  const lines = (await answer.text()).split('\n').filter((line) => line !== '' && !line.startsWith('#'))
  return new Map(lines.map((line) => [line.slice(0, line.lastIndexOf(' ')), Number(line.slice(line.lastIndexOf(' ')))]))
}

test('/metrics counts nodes, machines, calls, faults and the journal', async () => {
  await using lab = await createLab()
  const node = await lab.enroll({ deploySteps: [installCoreos()] })
  await lab.enroll()
  lab.faults.add({ match: { program: 'coreos-installer' }, effect: { kind: 'exit-code', code: 1 }, times: 1 })
  const lifted = lab.faults.add({ match: { route: 'GET /v1/drivers' }, effect: { kind: 'status', status: 503 } })
  await node.deploy()
  await node.settled()
  const get = lab.fetchAt(BASE)
  for (const path of ['/v1/drivers', '/v1/nodes/nobody', '/v1/made/up?by=a-client', '/_lab/clock'])
    await get(BASE + path)
  lifted[Symbol.dispose]()

  const { last } = lab.journal
  const values = await metrics(lab)
  const calls = (method: string, route: string, status: number) =>
    values.get(`ironstage_http_request_duration_seconds_count{method="${method}",route="${route}",status="${status}"}`)
  expect(values.get('ironstage_nodes{provision_state="deploy failed"}')).toBe(1)
  expect(values.get('ironstage_nodes{provision_state="enroll"}')).toBe(1)
  const powers = ['on', 'off'].map((power) => values.get(`ironstage_machines{power="${power}"}`) ?? 0)
  expect(powers[0]! + powers[1]!).toBe(2)
  expect(values.get('ironstage_faults{effect="exit-code"}')).toBe(1)
  expect(values.has('ironstage_faults{effect="status"}')).toBe(false)
  expect(values.get('ironstage_fault_strikes_total{effect="exit-code"}')).toBe(1)
  expect(values.get('ironstage_fault_strikes_total{effect="status"}')).toBe(1)
  expect(calls('GET', '/v1/drivers', 503)).toBe(1)
  expect(calls('GET', '/v1/nodes/{node_ident}', 404)).toBe(1)
  expect(calls('GET', 'none', 404)).toBe(1)
  expect(calls('GET', '/_lab/clock', 200)).toBe(1)
  expect(calls('PUT', '/v1/nodes/{node_ident}/states/provision', 202)).toBe(4)
  expect(calls('POST', '/v1/heartbeat/{node_ident}', 202)).toBeGreaterThan(1)
  // Machines go on meanwhile: the journal may grow before the answer is made, and after it.
  const total = values.get('ironstage_journal_entries_total')!
  expect(total).toBeGreaterThanOrEqual(last)
  expect(total).toBeLessThanOrEqual(lab.journal.last)
  expect(values.get('ironstage_journal_entries')).toBe(total - lab.journal.first + 1)
  expect(values.get('ironstage_conductor_queue_length{queue="effects"}')).toBe(0)
  expect(values.get('ironstage_lab_time_seconds')).toBe(lab.clock.elapsed() / 1000)

  await get(`${BASE}/v1/drivers`)
  expect((await metrics(lab)).get('ironstage_fault_strikes_total{effect="status"}')).toBe(1)
})

test('calls are counted many at once, and all of them once', () => {
  const counted: number[] = []
  const counts = new CallCounts((calls) => counted.push(calls.length))
  for (let call = 0; call < 5001; call++) counts.note({ method: 'GET', target: '/v1', status: 200, seconds: 0 })
  expect(counted).toEqual([5000])
  counts.flush()
  counts.flush()
  expect(counted).toEqual([5000, 1])
})

test('/metrics asks for a password where the API does, and for GET', async () => {
  const users = join(await mkdtemp(join(tmpdir(), 'ironstage-metrics-')), 'htpasswd')
  await writeFile(users, `anna:${hashSync('open sesame', 4).replace(/^\$2[ab]/, '$2y')}\n`, { mode: 0o600 })
  const set = ['DEFAULT.auth_strategy=http_basic', `DEFAULT.http_basic_auth_user_file=${users}`]
  await using lab = await createLab({ ironic: { set } })
  const get = lab.fetchAt(BASE)
  expect((await get(`${BASE}/metrics`)).status).toBe(401)
  const authorization = `Basic ${Buffer.from('anna:open sesame').toString('base64')}`
  expect((await get(`${BASE}/metrics`, { headers: { authorization } })).status).toBe(200)
  expect((await get(`${BASE}/metrics`, { method: 'POST', headers: { authorization } })).status).toBe(405)
})

test.each([
  ['GET', '/v1/nodes/detail?limit=1', '/v1/nodes/detail'],
  ['GET', '/v1/nodes/node-3', '/v1/nodes/{node_ident}'],
  ['GET', '/nodes/1234/vendor_passthru/methods', '/v1/nodes/{node_ident}/vendor_passthru/methods'],
  ['DELETE', '/_lab/faults/fault-1', '/_lab/faults/{fault}'],
  ['POST', '/v1/drivers', '/v1/drivers'],
  ['GET', '/v1/nodes/a/b/c/d/e/f', 'none'],
])('%s %s is counted as %s', (method, target, template) => {
  expect(templateOf(method, target)).toBe(template)
})
