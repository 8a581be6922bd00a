import { request as httpRequest, Agent } from 'node:http'
import type { StoreView } from '../../../ironic-mock/index.js'
import { composeStage } from '../../../lab/index.js'
import { defined, seededRandom, systemClock } from '../../../base/runtime/index.js'
import type { WireResponse } from '../../../base/wire/index.js'
import { follow } from './follow.js'
import type { Asked, System } from './system.js'

/** The lab's time passes so many times as fast, so that waiting for locks takes milliseconds. */
const SPEED = 2000

/** A lab behind a socket, asked by a client that sends what it is told to, as far as HTTP can carry it. */
export async function servedSystem(seed: number): Promise<System> {
  const clock = systemClock(SPEED)
  const lab = await composeStage({
    network: { host: '127.0.0.1', port: 0 },
    clock,
    random: seededRandom(seed),
    disks: 'described',
  })
  const agent = new Agent({ keepAlive: true, maxSockets: 16 })
  const { hostname, port } = new URL(lab.url)
  return {
    view: () => lab.store as unknown as StoreView,
    send: (asked) => overHttp({ hostname, port, agent }, asked),
    wait: (awaited) => awaited,
    pass: (ms) => clock.sleep(ms),
    watch: (watcher) => follow(lab.events, watcher),
    trouble: () => {},
    calm: () => {},
    restart: () => Promise.resolve(),
    excused: [],
    restEvery: 10000,
    newNode: () => ({ driver: 'fake-hardware', deploy_interface: 'fake', inspect_interface: 'fake' }),
    [Symbol.asyncDispose]: async () => {
      agent.destroy()
      await lab[Symbol.asyncDispose]()
    },
  }
}

interface Peer {
  hostname: string
  port: string
  agent: Agent
}

/**
 * Skips requests that Node's client refuses to send and those that end the connection; the other systems cover them.
 */
function overHttp(peer: Peer, { method, target, headers, body }: Asked): Promise<WireResponse | undefined> {
  if (!/^[A-Z]+$/.test(method) || method === 'CONNECT' || !/^\/[\x21-\x7e]*$/.test(target))
    return Promise.resolve(undefined)
  const sendable = Object.fromEntries(Object.entries(headers).filter(([, value]) => /^[\x20-\x7e]*$/.test(value)))
  return new Promise((resolve, reject) => {
    const data = body === undefined ? undefined : Buffer.from(body)
    const request = httpRequest(
      {
        ...peer,
        method,
        path: target,
        headers: {
          ...sendable,
          ...(data ? { 'content-length': data.length, 'content-type': 'application/json' } : {}),
        },
      },
      (response) => {
        const parts: Buffer[] = []
        response.on('data', (part: Buffer) => parts.push(part))
        response.on('end', () => {
          const text = Buffer.concat(parts).toString('utf8')
          resolve({
            status: response.statusCode ?? 0,
            headers: response.headers as Record<string, string>,
            ...defined({ body: text === '' ? undefined : text }),
          })
        })
        response.on('error', reject)
      },
    )
    request.on('error', reject)
    request.end(data)
  })
}
