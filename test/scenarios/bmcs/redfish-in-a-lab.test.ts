import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, expect, onTestFinished, test } from 'vitest'
import type { HardwareFleet } from '../../../machine/index.js'
import { composeStage } from '../../../lab/index.js'
import type { FaultMatch } from '../../../control/faults/fault.js'
import type { FaultEffect } from '../../../control/faults/fault-effects.js'
import { defined, seconds, systemClock } from '../../../base/runtime/index.js'

/** BMCs of a lab's machines over Redfish, from outside, with the lab's faults and its journal. */

const SYSTEM = '/redfish/v1/Systems/machine-1'
const UPDATE = '/redfish/v1/UpdateService/Actions/UpdateService.SimpleUpdate'
const ADMIN = { username: 'admin', password: 'secret-1' }

async function servedLab(hardware?: HardwareFleet) {
  const lab = await composeStage({
    disks: 'described',
    clock: systemClock(),
    bmcAccount: ADMIN,
    machines: [1, 2].map((n) => ({ spec: n, name: `node-${n}` })),
    ...defined({ hardware }),
  })
  const bmcs = await lab.redfish({ port: 0 })
  onTestFinished(async () => {
    await bmcs[Symbol.asyncDispose]()
    await lab[Symbol.asyncDispose]()
  })
  const authorization = `Basic ${Buffer.from(`${ADMIN.username}:${ADMIN.password}`).toString('base64')}`
  const call = async (method: string, path: string, body?: unknown, more: Record<string, string> = {}) => {
    const answer = await fetch(bmcs.url + path, {
      method,
      headers: { authorization, 'content-type': 'application/json', ...more },
      ...defined({ body: body === undefined ? undefined : JSON.stringify(body) }),
    })
    return { status: answer.status, headers: answer.headers, text: await answer.text() }
  }
  const strike = (match: FaultMatch, effect: FaultEffect) => lab.faults.add({ match, effect })
  const switchOn = () => call('POST', `${SYSTEM}/Actions/ComputerSystem.Reset`, { ResetType: 'On' })
  return { lab, bmcs, authorization, call, strike, switchOn, machine: () => lab.machines.get('machine-1')! }
}

test('a call is in the journal with its method, path, status and machine', async () => {
  const { lab, call, switchOn, machine } = await servedLab()
  await switchOn()
  expect(machine().power()).toBe('on')
  await call('GET', '/redfish/v1/Systems/machine-9')
  const entries = lab.journal.entries({ kind: 'bmc' })
  expect(entries).toMatchObject([
    {
      call: 'set power',
      method: 'POST',
      target: `${SYSTEM}/Actions/ComputerSystem.Reset`,
      status: 204,
      machine: 'machine-1',
      fault: null,
    },
    { call: 'read power', method: 'GET', target: '/redfish/v1/Systems/machine-9', status: 404, machine: null },
  ])
})

test('an update of firmware fetches its image, and fails if there is none', async () => {
  const { call, machine } = await servedLab()
  const asked: string[] = []
  const images = createServer((request, response) => {
    asked.push(request.url!)
    response.writeHead(request.url === '/bios-2.0.bin' ? 200 : 404).end('an image')
  })
  await new Promise<void>((resolve) => images.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void images.close())
  const updated = async (name: string) => {
    const { headers } = await call('POST', UPDATE, {
      ImageURI: `http://127.0.0.1:${(images.address() as AddressInfo).port}/${name}`,
      Targets: [SYSTEM],
    })
    const monitor = new URL(headers.get('location')!, 'http://bmc').pathname
    let answer = await call('GET', monitor)
    for (; answer.status === 202; answer = await call('GET', monitor))
      await new Promise((resolve) => setTimeout(resolve, 50))
    return answer.text
  }
  const version = () =>
    machine()
      .firmware.versions()
      .find(({ component }) => component === 'bios')!.version
  const before = version()
  expect(await updated('bios-3.0.bin')).toContain('404')
  expect(version()).toBe(before)
  await updated('bios-2.0.bin')
  expect(version()).toBe('2.0')
  expect(asked).toEqual(['/bios-3.0.bin', '/bios-2.0.bin'])
})

describe('a fault strikes calls over Redfish:', () => {
  test('a busy BMC answers 503 with Retry-After, and a full one at sign-in', async () => {
    const { lab, call, strike } = await servedLab()
    using _ = strike({ machine: 'machine-1' }, { kind: 'bmc-busy', retryAfter: 7 })
    const busy = await call('GET', SYSTEM)
    expect([busy.status, busy.headers.get('retry-after')]).toEqual([503, '7'])
    expect(busy.text).toContain('ServiceTemporarilyUnavailable')
    expect((await call('GET', '/redfish/v1/Systems/machine-2')).status).toBe(200)
    strike({ bmc: 'sign in' }, { kind: 'bmc-busy' })
    const { username: UserName, password: Password } = ADMIN
    const full = await call('POST', '/redfish/v1/SessionService/Sessions', { UserName, Password })
    expect([full.status, full.headers.get('retry-after')]).toEqual([503, '30'])
    expect(full.text).toContain('SessionLimitExceeded')
    expect(lab.journal.entries({ kind: 'bmc' }).map(({ fault }) => fault)).toEqual(['fault-1', null, 'fault-2'])
  })

  test('at one resource, with the status, headers and body that the fault names', async () => {
    const { lab, call, strike } = await servedLab()
    const route = 'GET /redfish/v1/Systems/:id/SecureBoot'
    const headers = { ETag: 'W/"7"', 'Content-Type': 'text/html' }
    strike({ machine: 'machine-1', route }, { kind: 'status', status: 403, body: 'no licence', headers })
    for (const target of [`${SYSTEM}/SecureBoot`, `${SYSTEM}/SecureBoot/`, `${SYSTEM}/SecureBoot?$select=Id`]) {
      const answer = await call('GET', target)
      expect({ ...answer, headers: [answer.headers.get('etag'), answer.headers.get('content-type')] }).toEqual({
        status: 403,
        text: 'no licence',
        headers: ['W/"7"', 'text/html'],
      })
    }
    for (const target of [
      SYSTEM,
      `${SYSTEM}/SecureBoot/SecureBootDatabases`,
      '/redfish/v1/Systems/machine-2/SecureBoot',
    ])
      expect((await call('GET', target)).status).toBe(200)
    expect((await call('PATCH', `${SYSTEM}/SecureBoot`, { SecureBootEnable: true })).status).toBe(200)
    expect(lab.faults.list()).toMatchObject([{ struck: 3 }])
  })

  test.each([
    ['a route as DMTF has it', 'GET /redfish/v1/Systems/:id/Bios/Settings'],
    ['a route as an iLO writes it', 'GET /redfish/v1/systems/:id/bios/settings/'],
    ['a route as a Supermicro has it', 'GET /redfish/v1/Systems/:id/Bios/SD'],
  ])("by %s at each BMC's own path, which the journal has", async (_, route) => {
    const { lab, call, strike } = await servedLab([
      { hardware: { bmc: 'ilo5' } },
      { hardware: { bmc: 'supermicro-x13' } },
    ])
    strike({ route }, { kind: 'status', status: 500, body: { error: { code: 'SYS518' } } })
    const targets = ['/redfish/v1/systems/machine-1/BIOS/settings/', '/redfish/v1/Systems/machine-2/Bios/SD']
    for (const target of targets) expect(await call('GET', target)).toMatchObject({ status: 500 })
    expect((await call('GET', '/redfish/v1/Systems/machine-2/Bios')).status).toBe(200)
    const struck = lab.journal.entries({ kind: 'bmc' }).filter(({ fault }) => fault !== null)
    expect(struck.map((entry) => ('target' in entry ? entry.target : null))).toEqual(targets)
  })

  test('a silent BMC hangs up, for its node too', async () => {
    const { lab, call, strike } = await servedLab()
    const node = [...lab.nodes()].find(({ name }) => name === 'node-1')!
    strike({ node: node.uuid }, { kind: 'bmc-silent' })
    await expect(call('GET', SYSTEM)).rejects.toThrow()
    expect((await call('GET', '/redfish/v1/Systems/machine-2')).status).toBe(200)
  })

  test('a call of Ironic that makes a BMC dark makes it dark over Redfish, for every call and for this BMC alone', async () => {
    const { lab, call, strike } = await servedLab()
    const node = [...lab.nodes()].find(({ name }) => name === 'node-1')!
    strike({ node: node.uuid, bmc: 'read power' }, { kind: 'bmc-dark', ms: seconds(60) })
    expect((await call('GET', `${SYSTEM}/Bios`)).status).toBe(200)
    await lab.client.provision(node.uuid, 'manage')
    await expect.poll(() => lab.faults.list()[0]!.struck).toBe(1)
    await expect(call('GET', `${SYSTEM}/Bios`)).rejects.toThrow()
    expect((await call('GET', '/redfish/v1/Systems/machine-2')).status).toBe(200)
  })

  test('a BMC that goes dark after a change carries it out, and answers nothing after it', async () => {
    const { call, strike, switchOn, machine } = await servedLab()
    using _ = strike({ machine: 'machine-1', bmc: 'set power' }, { kind: 'bmc-dark', ms: seconds(60) })
    expect((await switchOn()).status).toBe(204)
    expect(machine().power()).toBe('on')
    await expect(switchOn()).rejects.toThrow()
    expect((await call('GET', '/redfish/v1/Systems/machine-2')).status).toBe(200)
  })

  test('a lying BMC confirms what it has not done', async () => {
    const { call, strike, switchOn, machine } = await servedLab()
    strike({ machine: 'machine-1' }, { kind: 'bmc-lies' })
    expect((await switchOn()).status).toBe(204)
    expect(machine().power()).toBe('off')
    expect((await call('PATCH', SYSTEM, { IndicatorLED: 'Lit' })).status).toBe(200)
    expect(JSON.parse((await call('GET', SYSTEM)).text)).toMatchObject({ PowerState: 'Off', IndicatorLED: 'Off' })
  })

  test('a lying BMC answers like one that has made a volume, updated firmware or refused a caller', async () => {
    const { call, strike, machine } = await servedLab()
    strike({ machine: 'machine-1' }, { kind: 'bmc-lies' })
    const volumes = `${SYSTEM}/Storage/RAID.1/Volumes`
    const made = await call('POST', volumes, { RAIDType: 'RAID0' })
    expect(made).toMatchObject({ status: 201 })
    expect(JSON.parse(made.text)).toMatchObject({ RAIDType: 'RAID0' })
    expect(JSON.parse((await call('GET', volumes)).text)).toMatchObject({ Members: [] })
    const before = machine().firmware.versions()
    const update = { ImageURI: 'http://127.0.0.1:1/bios-9.9.9.bin', Targets: [SYSTEM] }
    expect((await call('POST', UPDATE, update)).status).toBe(202)
    expect(machine().firmware.versions()).toEqual(before)
    expect((await call('PATCH', SYSTEM, { IndicatorLED: 'Lit' }, { authorization: 'Basic eDp5' })).status).toBe(401)
  })

  test('a status, a cut-off answer, half a document, a delay', async () => {
    const { lab, call, strike } = await servedLab()
    const machine = 'machine-1'
    strike({ machine }, { kind: 'status', status: 500, body: { error: {} } })
    expect(await call('GET', SYSTEM)).toMatchObject({ status: 500, text: '{"error":{}}' })
    lab.faults.clear()
    strike({ machine }, { kind: 'truncated-body' })
    await expect(call('GET', SYSTEM)).rejects.toThrow()
    lab.faults.clear()
    strike({ machine }, { kind: 'malformed-body' })
    const { text } = await call('GET', SYSTEM)
    expect(() => JSON.parse(text) as unknown).toThrow()
    lab.faults.clear()
    strike({ machine }, { kind: 'delay', ms: 300 })
    const since = performance.now()
    expect((await call('GET', SYSTEM)).status).toBe(200)
    expect(performance.now() - since).toBeGreaterThan(290)
  })
})

test('events are streamed to those who listen, and HEAD has the headers of GET', async () => {
  const { bmcs, call, switchOn, authorization } = await servedLab()
  const head = await fetch(bmcs.url + SYSTEM, { method: 'HEAD', headers: { authorization } })
  const get = await call('GET', SYSTEM)
  expect([head.status, await head.text()]).toEqual([200, ''])
  for (const name of ['etag', 'allow', 'link', 'odata-version', 'content-type'])
    expect({ name, value: head.headers.get(name) }).toEqual({ name, value: get.headers.get(name) })

  const over = new AbortController()
  const { signal } = over
  const stream = await fetch(`${bmcs.url}/redfish/v1/EventService/SSE`, { headers: { authorization }, signal })
  expect(stream.headers.get('content-type')).toBe('text/event-stream')
  const reader = stream.body!.pipeThrough(new TextDecoderStream()).getReader()
  let seen = (await reader.read()).value!
  await switchOn()
  while (!seen.includes('MachineEvent.1.0.PowerOn')) seen += (await reader.read()).value!
  const [event] = seen.split('\n').filter((line) => line.startsWith('data: '))
  expect(JSON.parse(event!.slice(6))).toMatchObject({
    Events: [{ EventType: 'StatusChange', OriginOfCondition: { '@odata.id': SYSTEM } }],
  })
  over.abort()
})
