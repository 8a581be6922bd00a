import { expect } from 'vitest'
import { composeStage } from '../../../lab/index.js'
import type { HardwareFleet } from '../../../machine/index.js'
import type { Fault } from '../../../control/index.js'
import { defined, LabClock, Scope } from '../../../base/runtime/index.js'
import { servedKube } from '../cluster/served-kube.js'

const ADMIN = { username: 'admin', password: 'secret-1' }

/** A request of a page, and the answer that the page shows. */
export interface ShownExchange {
  readonly method: string
  readonly path: string
  readonly body: string | undefined
  readonly status: number
  /** JSON of some members of the answer; `(missing)` for one that it lacks. */
  readonly shown: string | undefined
}

/** The exchanges of a block: a line of a request (`PATCH /path {"a": 1}`), and a line of its answer (`200 {"b": 2}`). */
export function exchangesIn(text: string): ShownExchange[] {
  const lines = text.trimEnd().split('\n')
  const exchanges: ShownExchange[] = []
  for (let index = 0; index < lines.length; index += 2) {
    const [, method, path, body] = /^([A-Z]+) (\/\S+)(?: (.+))?$/.exec(lines[index]!) ?? []
    const [, status, shown] = /^(\d{3})(?: (.+))?$/.exec(lines[index + 1] ?? '') ?? []
    if (method === undefined || path === undefined || status === undefined)
      throw new Error(`no request and its answer: ${lines[index]}, ${lines[index + 1]}`)
    exchanges.push({ method, path, body, status: Number(status), shown })
  }
  return exchanges
}

/**
 * A lab as `ironstage up --profile metal3 --redfish-port` opens it, with one node, and a Kubernetes API as `--kube-api` opens
 * it; calls go to the one that a path belongs to.
 */
export async function reportedScene(hardware: HardwareFleet) {
  const stage = await composeStage({
    disks: 'described',
    clock: new LabClock({ mode: 'auto' }),
    ironic: { profile: 'metal3' },
    bmcAccount: ADMIN,
    hardware,
    machines: [{ spec: 1, name: 'node-0' }],
  })
  const scope = new Scope()
  const bmcs = scope.use(await stage.redfish({ port: 0 }))
  const kube = await servedKube(scope)
  const authorization = `Basic ${Buffer.from(`${ADMIN.username}:${ADMIN.password}`).toString('base64')}`
  const call = async ({ method, path, body }: ShownExchange): Promise<{ status: number; text: string }> => {
    const isPatchOfKube = method === 'PATCH' && path.startsWith('/apis/')
    const type = isPatchOfKube ? 'application/merge-patch+json' : 'application/json'
    const headers = { authorization, 'content-type': type, 'x-openstack-ironic-api-version': '1.96' }
    if (path.startsWith('/v1/')) {
      const request = { method, url: stage.url + path, headers, ...defined({ body }) }
      const { status, body: text = '' } = await stage.transport.send(request)
      return { status, text }
    }
    const base = path.startsWith('/apis/') ? kube.server.url : bmcs.url
    const answer = await fetch(base + path, { method, headers, ...defined({ body }) })
    return { status: answer.status, text: await answer.text() }
  }
  return {
    addFault: (text: string) => void stage.faults.add(JSON.parse(text) as Fault),
    /** Compares an answer with what a page shows of it; a state of Ironic's is waited for. */
    async expectAnswer(exchange: ShownExchange): Promise<void> {
      const answered = async () => {
        const { status, text } = await call(exchange)
        const shown = JSON.parse(exchange.shown ?? '{}') as object
        expect({ status, text }).toMatchObject({ status: exchange.status })
        if (exchange.shown !== undefined) expect(membersOf(JSON.parse(text) as unknown, shown)).toEqual(shown)
      }
      if (exchange.method !== 'GET') await answered()
      else await expect.poll(() => answered().then(() => 'as shown', String), { timeout: 10_000 }).toBe('as shown')
    },
    [Symbol.asyncDispose]: async () => {
      await scope[Symbol.asyncDispose]()
      await stage[Symbol.asyncDispose]()
    },
  }
}

/** The members of an answer that a page shows. */
function membersOf(answer: unknown, shown: unknown): unknown {
  if (shown === '(missing)' && answer === undefined) return '(missing)'
  if (typeof shown !== 'object' || shown === null || typeof answer !== 'object' || answer === null) return answer
  if (Array.isArray(shown)) return shown.map((each, index) => membersOf((answer as unknown[])[index], each))
  return Object.fromEntries(
    Object.entries(shown).map(([name, each]) => [name, membersOf((answer as Record<string, unknown>)[name], each)]),
  )
}
