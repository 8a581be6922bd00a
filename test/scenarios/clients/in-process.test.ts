import axios, { AxiosError } from 'axios'
import { setupServer } from 'msw/node'
import { Agent, fetch as fetchOfUndici, request } from 'undici'
import { describe, expect, test } from 'vitest'
import { createLab, installCoreos, type Lab } from '../../../lab/index.js'
import { defined, minutes, systemClock } from '../../../base/runtime/index.js'
import { ironicHandlers, ironicInterceptor } from '../../../public/msw.js'

const BASE = 'https://ironic.test'
const VERSION = { 'x-openstack-ironic-api-version': '1.110' }

interface Answer {
  status: number
  body: Record<string, unknown>
}

/** A call by one of the programs that clients are written with. */
type Call = (method: string, path: string, body?: unknown) => Promise<Answer>

const JSON_TYPE = { 'content-type': 'application/json' }
const documentOf = (text: string): Record<string, unknown> =>
  text === '' ? {} : (JSON.parse(text) as Record<string, unknown>)

/** Runs `client` with the calls of one program, which find `lab` at {@link BASE}. */
type Program = (lab: Lab, client: (call: Call) => Promise<void>) => Promise<void>

const byMsw =
  (call: Call): Program =>
  async (lab, client) => {
    const server = setupServer(...ironicHandlers(lab, BASE))
    server.listen({ onUnhandledRequest: 'error' })
    try {
      await client(call)
    } finally {
      server.close()
    }
  }

const byFetch: Call = async (method, path, body) => {
  const response = await fetch(BASE + path, {
    method,
    headers: { ...VERSION, ...JSON_TYPE },
    ...defined({ body: body === undefined ? undefined : JSON.stringify(body) }),
  })
  return { status: response.status, body: documentOf(await response.text()) }
}

const PROGRAMS: Record<string, Program> = {
  fetch: byMsw(byFetch),
  axios: byMsw(async (method, path, data) => {
    const response = await axios.request<string>({
      baseURL: BASE,
      url: path,
      method,
      data,
      headers: VERSION,
      validateStatus: () => true,
      responseType: 'text',
      transformResponse: (text: string) => text,
    })
    return { status: response.status, body: documentOf(response.data) }
  }),
  undici: async (lab, client) => {
    const dispatcher = new Agent().compose(ironicInterceptor(lab, BASE))
    await client(async (method, path, body) => {
      const response = await request(BASE + path, {
        dispatcher,
        method: method as 'PUT',
        headers: { ...VERSION, ...JSON_TYPE },
        ...defined({ body: body === undefined ? undefined : JSON.stringify(body) }),
      })
      return { status: response.statusCode, body: documentOf(await response.body.text()) }
    })
  },
  "undici's fetch": async (lab, client) => {
    const dispatcher = new Agent().compose(ironicInterceptor(lab, BASE))
    await client(async (method, path, body) => {
      const response = await fetchOfUndici(BASE + path, {
        dispatcher,
        method,
        headers: { ...VERSION, ...JSON_TYPE },
        ...defined({ body: body === undefined ? undefined : JSON.stringify(body) }),
      })
      return { status: response.status, body: documentOf(await response.text()) }
    })
  },
}

/** Polls by a timer of its own, as clients do; gives all states that it has seen. */
async function polled(call: Call, node: string, wanted: string): Promise<string[]> {
  const seen: string[] = []
  for (let polls = 0; polls < 40; polls++) {
    const { body } = await call('GET', `/v1/nodes/${node}`)
    const state = body['provision_state'] as string
    if (seen.at(-1) !== state) seen.push(state)
    if (state === wanted && body['reservation'] === null) return seen
    await systemClock().sleep(1)
  }
  throw new Error(`it never became ${wanted}: ${seen.join(', ')}`)
}

const provision = (call: Call, node: string, target: string) =>
  call('PUT', `/v1/nodes/${node}/states/provision`, {
    target,
    ...defined({ deploy_steps: target === 'active' ? [installCoreos()] : undefined }),
  })

/** Enrolls a node, and takes it to `available`; gives the states that the client has seen. */
async function madeAvailable(lab: Lab, call: Call, name = 'node-0'): Promise<string[]> {
  await lab.enroll({ fields: { name } })
  const seen: string[] = []
  for (const [verb, state] of [
    ['manage', 'manageable'],
    ['inspect', 'manageable'],
    ['provide', 'available'],
  ] as const) {
    expect(await provision(call, name, verb)).toMatchObject({ status: 202 })
    seen.push(...(await polled(call, name, state)))
  }
  return seen
}

describe.sequential('a client in this process, whose timers are its own,', () => {
  test.each(Object.entries(PROGRAMS))('takes a node from enroll to active by %s', async (_, program) => {
    await using lab = await createLab()
    await program(lab, async (call) => {
      const seen = await madeAvailable(lab, call)
      expect(seen).toEqual(expect.arrayContaining(['manageable', 'clean wait', 'available']))
      expect(await provision(call, 'node-0', 'active')).toMatchObject({ status: 202 })
      expect(await polled(call, 'node-0', 'active')).toEqual(expect.arrayContaining(['wait call-back', 'active']))
      expect(await call('GET', '/v1/nodes/node-9')).toMatchObject({ status: 404 })
    })
  })

  test.each(Object.keys(PROGRAMS))('sees a connection that breaks as %s shows it', async (name) => {
    await using lab = await createLab()
    lab.faults.add({ match: { route: 'GET /v1/drivers' }, effect: { kind: 'connection-reset' } })
    await PROGRAMS[name]!(lab, async (call) => {
      const failure: unknown = await call('GET', '/v1/drivers').catch((error: unknown) => error)
      expect(failure).toBeInstanceOf(name === 'axios' ? AxiosError : TypeError)
      expect(await call('GET', '/v1')).toMatchObject({ status: 200 })
    })
  })

  test('sees the callback timeout after half an hour that takes no time', async () => {
    await using lab = await createLab({ ironic: { set: ['conductor.deploy_callback_timeout=1800'] } })
    await PROGRAMS['fetch']!(lab, async (call) => {
      await madeAvailable(lab, call)
      lab.faults.add({ match: { node: 'node-0', phase: 'install' }, effect: { kind: 'agent-silent' } })
      await provision(call, 'node-0', 'active')
      const begun = lab.clock.elapsed()
      await polled(call, 'node-0', 'deploy failed')
      expect(lab.clock.elapsed() - begun).toBeGreaterThanOrEqual(minutes(30))
      expect(lab.clock.elapsed() - begun).toBeLessThan(minutes(32))
    })
  })

  test('finds time where it was: only a request that reads a busy node moves it', async () => {
    await using lab = await createLab({ realistic: true })
    await PROGRAMS['fetch']!(lab, async (call) => {
      await lab.enroll({ fields: { name: 'node-0' } })
      await provision(call, 'node-0', 'manage')
      await polled(call, 'node-0', 'manageable')
      await provision(call, 'node-0', 'inspect')
      await polled(call, 'node-0', 'inspect wait')
      const standing = lab.clock.elapsed()
      for (const path of ['/', '/v1', '/_lab/clock']) await call('GET', path)
      await call('PATCH', '/v1/nodes/node-0', [{ op: 'add', path: '/extra/a', value: 1 }])
      expect(lab.clock.elapsed()).toBe(standing)
      await polled(call, 'node-0', 'manageable')
      const rested = lab.clock.elapsed()
      expect(rested - standing).toBeGreaterThan(minutes(3))
      for (let polls = 0; polls < 5; polls++) await call('GET', '/v1/nodes/node-0')
      expect(lab.clock.elapsed()).toBe(rested)
    })
  })

  test('aborts what waits for an agent, since a write is carried out before time moves', async () => {
    await using lab = await createLab()
    await PROGRAMS['fetch']!(lab, async (call) => {
      await madeAvailable(lab, call)
      await provision(call, 'node-0', 'active')
      await polled(call, 'node-0', 'wait call-back')
      expect(await provision(call, 'node-0', 'deleted')).toMatchObject({ status: 202 })
      expect(await polled(call, 'node-0', 'available')).not.toContain('active')
    })
  })

  test('finds a locked node free after some tries, though it never reads', async () => {
    await using lab = await createLab({ realistic: true })
    await PROGRAMS['fetch']!(lab, async (call) => {
      await lab.enroll({ fields: { name: 'node-0' } })
      await provision(call, 'node-0', 'manage')
      await polled(call, 'node-0', 'manageable')
      await provision(call, 'node-0', 'inspect')
      const statuses: number[] = []
      while (statuses.at(-1) !== 200 && statuses.length < 10)
        statuses.push((await call('PATCH', '/v1/nodes/node-0', [{ op: 'add', path: '/extra/a', value: 1 }])).status)
      expect(statuses).toEqual([409, 200])
    })
  })

  test('gets through a delayed answer, and a slow body, and is not held up by a call that hangs', async () => {
    await using lab = await createLab()
    await PROGRAMS['fetch']!(lab, async (call) => {
      lab.faults.add({ match: { route: 'GET /v1/drivers' }, effect: { kind: 'delay', ms: 40_000 } })
      lab.faults.add({ match: { route: 'GET /v1/conductors' }, effect: { kind: 'slow-body', bytesPerSecond: 10 } })
      const hanging = lab.faults.add({ match: { route: 'GET /v1/chassis' }, effect: { kind: 'hang' } })
      let hangs = true
      const hung = call('GET', '/v1/chassis').finally(() => (hangs = false))
      hung.catch(() => {})
      expect(await call('GET', '/v1/drivers')).toMatchObject({ status: 200 })
      expect(await call('GET', '/v1/conductors')).toMatchObject({ body: { conductors: [{}] } })
      expect(lab.clock.elapsed()).toBeGreaterThan(50_000)
      expect(hangs).toBe(true)
      hanging[Symbol.dispose]()
      await expect(hung).rejects.toThrow(TypeError)
    })
  })

  test('finds links that begin as its own URL does, also below a path', async () => {
    await using lab = await createLab()
    for (let n = 0; n < 3; n++) await lab.enroll()
    const server = setupServer(...ironicHandlers(lab, `${BASE}/baremetal/`))
    server.listen({ onUnhandledRequest: 'error' })
    try {
      let names = 0
      let next: string | undefined = `${BASE}/baremetal/v1/nodes?limit=2`
      while (next) {
        expect(next).toMatch(/^https:\/\/ironic\.test\/baremetal\/v1\/nodes/)
        const page = (await (await fetch(next, { headers: VERSION })).json()) as { nodes: unknown[]; next?: string }
        names += page.nodes.length
        next = page.next
      }
      expect(names).toBe(3)
      await expect(lab.fetchAt(`${BASE}/baremetal`)(`${BASE}/elsewhere`)).rejects.toThrow('fetch failed')
    } finally {
      server.close()
    }
  })

  test('has a journal that is the same whenever the calls are, but for wall time', async () => {
    const journals = []
    for (let run = 0; run < 2; run++) {
      await using lab = await createLab({ seed: 5 })
      await PROGRAMS['fetch']!(lab, async (call) => {
        await madeAvailable(lab, call)
        await provision(call, 'node-0', 'active')
        await polled(call, 'node-0', 'active')
      })
      journals.push(lab.journal.entries().map((entry) => JSON.stringify({ ...entry, wallTime: '' })))
    }
    expect(journals[0]!.length).toBeGreaterThan(50)
    expect(journals[1]).toEqual(journals[0])
  })

  test('knows nothing of another lab, beside it or before it at the same URL', async () => {
    await using one = await createLab()
    await using two = await createLab()
    await one.enroll({ fields: { name: 'of-one' } })
    const server = setupServer(...ironicHandlers(one, BASE), ...ironicHandlers(two, 'https://two.test'))
    server.listen({ onUnhandledRequest: 'error' })
    try {
      const names = async (base: string): Promise<(string | null)[]> => {
        const { nodes } = (await (await fetch(`${base}/v1/nodes`, { headers: VERSION })).json()) as {
          nodes: { name: string | null }[]
        }
        return nodes.map(({ name }) => name)
      }
      expect(await names('https://two.test')).toEqual([])
      await two.enroll({ fields: { name: 'of-two' } })
      expect([await names(BASE), await names('https://two.test')]).toEqual([['of-one'], ['of-two']])
      server.resetHandlers(...ironicHandlers(two, BASE))
      expect(await names(BASE)).toEqual(['of-two'])
    } finally {
      server.close()
    }
  })
})
