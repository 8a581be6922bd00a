import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { Agent, request } from 'node:http'
import { connect, type Socket } from 'node:net'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { systemClock } from '../../../base/runtime/index.js'
import { HttpTransport, IronicClient } from '../../../base/wire/index.js'
import { UpProcess } from '../../kit/commands/up-process.js'
import { REAL_PEER_TIMEOUT } from '../limits.js'

/** Agents that are not the node's, or out of order, while another node is cleaned. */

const MIB = 2 ** 20
/** Bytes by which a process may grow: a third of the input of one kind of these clients. */
const GROWTH = 250 * MIB

let up: UpProcess
let url: string
let sockets: Agent
let transport: HttpTransport
let client: IronicClient

beforeAll(async () => {
  up = new UpProcess(['--port', '0', '--nodes', '3'])
  url = await up.ready
  sockets = new Agent({ keepAlive: true, maxSockets: 40 })
  transport = new HttpTransport({ clock: systemClock() })
  client = new IronicClient({ transport, endpoint: url, clock: systemClock() })
})
afterAll(async () => {
  sockets.destroy()
  await transport[Symbol.asyncDispose]()
  await up.stop()
})

/** Sends a body in pieces of 64 KiB, as chunks, for as long as it is taken; gives the status, or the error's code. */
function send(path: string, { size, body }: { size?: number; body?: object }): Promise<number | string> {
  return new Promise((resolve) => {
    const sent = request(
      url + path,
      {
        method: 'POST',
        agent: sockets,
        headers: { 'content-type': 'application/json', 'x-openstack-ironic-api-version': '1.68' },
      },
      (answer) => answer.resume().on('end', () => resolve(answer.statusCode ?? 0)),
    )
    sent.on('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message))
    if (body) return void sent.end(JSON.stringify(body))
    const piece = Buffer.alloc(65_536, '{')
    let left = size ?? 0
    const go = (): void => {
      for (; left > 0; left -= piece.length)
        if (!sent.write(piece)) {
          left -= piece.length
          return void sent.once('drain', go)
        }
      sent.end()
    }
    go()
  })
}

const counted = (all: (number | string)[]): Record<string, number> =>
  all.reduce<Record<string, number>>((counts, each) => ({ ...counts, [each]: (counts[each] ?? 0) + 1 }), {})

const highest = async (): Promise<number> =>
  1024 * Number(/^VmHWM:\s+(\d+) kB$/m.exec(await readFile(`/proc/${up.pid}/status`, 'utf8'))![1])

/** Opens connections that send a byte now and then of a body that they announce. */
async function slowCallers(path: string, count: number): Promise<Socket[]> {
  return Promise.all(
    Array.from({ length: count }, async () => {
      const socket = connect(Number(new URL(url).port), '127.0.0.1').on('error', () => {})
      await once(socket, 'connect')
      socket.write(`POST ${path} HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100000\r\n\r\n`)
      const timer = setInterval(() => socket.write('{'), 100)
      return socket.on('close', () => clearInterval(timer))
    }),
  )
}

const uuidOf = async (name: string): Promise<string> => (await client.node(name)).uuid

test.runIf(process.platform === 'linux')(
  'thousands of heartbeats, wrong tokens, huge and slow bodies: each is refused, memory is bounded, another node is cleaned',
  async () => {
    const victim = await uuidOf('node-0')
    const cleaned = await uuidOf('node-2')
    await client.provision(cleaned, 'manage')
    await expect
      .poll(async () => (await client.node(cleaned)).provision_state, { timeout: REAL_PEER_TIMEOUT })
      .toBe('manageable')
    const before = await highest()
    const heartbeat = `/v1/heartbeat/${victim}`
    const slow = await slowCallers(heartbeat, 100)
    try {
      await client.provision(cleaned, 'provide')
      const callback_url = 'http://127.0.0.1:1'
      const bodies: object[] = [
        { callback_url, agent_version: '11.0.0', agent_token: 'x'.repeat(43) },
        { callback_url, agent_version: '11.0.0' },
        { callback_url: `http://${'x'.repeat(50_000)}`, agent_version: '11.0.0', agent_token: 't' },
        { callback_url, agent_version: { toString: 1 }, agent_token: ['t'] },
        { callback_url, agent_version: '11.0.0', agent_token: 't', agent_status: 'start', agent_verify_ca: '\0' },
      ]
      const cleaning = expect
        .poll(async () => (await client.node(cleaned)).provision_state, { timeout: REAL_PEER_TIMEOUT, interval: 200 })
        .toBe('available')
      const [refused, unknown, huge, inspections] = await Promise.all([
        Promise.all(Array.from({ length: 3000 }, (_, n) => send(heartbeat, { body: bodies[n % bodies.length]! }))),
        Promise.all(
          Array.from({ length: 1000 }, (_, n) =>
            send(`/v1/heartbeat/00000000-0000-4000-8000-${String(n).padStart(12, '0')}`, { body: bodies[0]! }),
          ),
        ),
        Promise.all(Array.from({ length: 40 }, () => send(heartbeat, { size: 20 * MIB }))),
        Promise.all(Array.from({ length: 200 }, () => send('/v1/continue_inspection', { body: { inventory: {} } }))),
      ])
      const statuses = [refused, unknown, huge, inspections].map(counted)
      for (const each of [refused, unknown, inspections])
        for (const status of each) expect(status, JSON.stringify(statuses)).toBeLessThan(500)
      expect(
        Object.keys(statuses[0]!).every((status) => /^4\d\d$/.test(status)),
        JSON.stringify(statuses),
      ).toBe(true)
      expect(statuses[1]).toEqual({ 404: 1000 })
      // Too large, or no room beside the other large ones.
      expect(huge.filter((status) => status === 413 || status === 503)).toHaveLength(40)
      expect(huge).toContain(413)
      await cleaning
      // The slow connections are still open and disturb no other client.
      expect(slow.filter((socket) => !socket.destroyed)).toHaveLength(100)
      expect(await client.node(victim)).toMatchObject({ provision_state: 'enroll', last_error: null })
    } finally {
      for (const socket of slow) socket.destroy()
    }
    expect((await highest()) - before).toBeLessThan(GROWTH)
    expect(up.alive).toBe(true)
    expect(up.stray).toEqual([])
    // Repeated warnings are counted, not written out.
    expect(up.log.filter(({ level }) => level !== 'info').length).toBeLessThan(200)
    expect(up.log.filter(({ level }) => level === 'error')).toEqual([])
  },
  600_000,
)
