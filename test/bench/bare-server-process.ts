import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { randomUUID } from 'node:crypto'
import type { LifecycleAnswers } from './bare-server.js'

/** The process of a bare server: the least that a server of Node.js does for the requests of a lifecycle. */
const { uuid: recorded, made, looks } = JSON.parse(process.argv[2]!) as LifecycleAnswers

/** How many verbs each node was sent. */
const verbs = new Map<string, number>()

const withUuid = (body: string, uuid: string): string => body.replaceAll(recorded, uuid)

/** Status and body of an answer. */
async function answer(request: IncomingMessage): Promise<[number, string?]> {
  const uuid = request.url!.split('/')[3]
  const body = await text(request)
  if (body !== '') JSON.parse(body)
  if (uuid === undefined) {
    const fresh = randomUUID()
    verbs.set(fresh, 0)
    return [201, withUuid(made, fresh)]
  }
  const sent = verbs.get(uuid)
  if (sent === undefined) return [404]
  if (request.method === 'GET') return [200, withUuid(looks[sent - 1]!, uuid)]
  if (request.method === 'DELETE') verbs.delete(uuid)
  else verbs.set(uuid, sent + 1)
  return [request.method === 'DELETE' ? 204 : 202]
}

const server = createServer((request, response) => {
  answer(request).then(
    ([status, body]) => response.writeHead(status, { 'content-type': 'application/json' }).end(body),
    (error: unknown) => response.destroy(error as Error),
  )
})
server.listen(0, '127.0.0.1', () => process.stdout.write(`${(server.address() as AddressInfo).port}\n`))
process.stdin.once('end', () => process.exit(0)).resume()
