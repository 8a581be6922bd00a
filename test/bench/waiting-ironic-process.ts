import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Heard, WaitingFor } from './waiting-ironic.js'

/** The process of {@link WaitingIronic}. */
const { heartbeatTimeout, missedAfter } = JSON.parse(process.argv[2]!) as WaitingFor
const TOKEN = 'T'.repeat(43)

const lastHeard = new Map<string, number>()
let seen = { heartbeats: 0, missed: 0 }

/** An agent that is not heard any more has no second heartbeat that would show it, so silences count as gaps do. */
function gap(length: number): void {
  if (length > missedAfter) seen.missed++
}

/** A node for each machine, by its first MAC address. */
const nodeOf = (url: URL): string => {
  const [mac = ''] = (url.searchParams.get('addresses') ?? '').split(',')
  return `00000000-0000-4000-8000-${mac.replaceAll(':', '')}`
}

const server = createServer((request, response) => {
  request.resume()
  request.once('end', () => {
    const url = new URL(request.url!, 'http://ironic')
    const json = (body: unknown) => response.writeHead(200).end(JSON.stringify(body))
    const agent = /^\/v1\/heartbeat\/(.+)$/.exec(url.pathname)?.[1]
    if (agent !== undefined) {
      const before = lastHeard.get(agent)
      lastHeard.set(agent, performance.now())
      seen.heartbeats++
      if (before !== undefined) gap(performance.now() - before)
      response.writeHead(202).end()
    } else if (url.pathname === '/v1/lookup')
      json({
        node: { uuid: url.searchParams.get('node_uuid') ?? nodeOf(url), properties: {}, instance_info: {} },
        config: { heartbeat_timeout: heartbeatTimeout, agent_token: TOKEN, agent_token_required: true },
      })
    else json({ default_version: { id: 'v1', version: '1.115' } })
  })
})
server.listen({ port: 0, host: '127.0.0.1', backlog: 8192 }, () => {
  process.stdout.write(`${(server.address() as AddressInfo).port}\n`)
})

process.stdin.setEncoding('utf8').on('data', (lines: string) => {
  for (let left = lines.split('\n').length - 1; left > 0; left--) {
    for (const at of lastHeard.values()) gap(performance.now() - at)
    const heard: Heard = { agents: lastHeard.size, ...seen }
    process.stdout.write(`${JSON.stringify(heard)}\n`)
    seen = { heartbeats: 0, missed: 0 }
  }
})
process.stdin.once('end', () => process.exit(0))
