import { readdirSync, readFileSync } from 'node:fs'
import { request } from 'node:http'
import { once } from 'node:events'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openKube, serveKube } from '../../../base/kubernetes/index.js'
import { serve } from '../../../lab/index.js'
import { LabClock, Scope, silent, systemRandom } from '../../../base/runtime/index.js'

/** A page in a browser of this host, whose server has made the page's name lead to 127.0.0.1. */

const scope = new Scope()
const urls = new Map<string, string>()

beforeAll(async () => {
  const clock = new LabClock({ mode: 1 })
  const allowedHosts = ['lab.example']
  const parts = { clock, random: systemRandom, logger: silent }
  const served = scope.use(
    await serve({ ...parts, port: 0, nodes: 1, stateDir: null, realistic: false, page: true, allowedHosts }),
  )
  const redfish = scope.use(await served.stage.redfish({ port: 0, allowedHosts }))
  const { store } = openKube(parts)
  const kube = scope.use(await serveKube({ store, port: 0, clock, allowedHosts }))
  urls.set('/v1', `${served.url}/v1/nodes`)
  urls.set('the control API', `${served.url}/_lab/machines`)
  urls.set('the dashboard', `${served.url}/_lab/ui/`)
  urls.set('metrics', `${served.url}/metrics`)
  urls.set('Redfish', `${redfish.url}/redfish/v1`)
  urls.set('the Kubernetes API', `${kube.url}/api/v1/secrets`)
})
afterAll(() => scope[Symbol.asyncDispose]())

async function ask(server: string, headers: Record<string, string>) {
  const call = request(urls.get(server)!, { headers }).end()
  const [answer] = (await once(call, 'response')) as [AsyncIterable<Buffer> & { statusCode: number }]
  let body = ''
  for await (const part of answer) body += part.toString()
  return { status: answer.statusCode, body }
}

/** Words of the refusal in the form of each API. */
const FORMS: readonly [string, (body: string) => unknown][] = [
  ['/v1', (body) => JSON.stringify((JSON.parse(body) as { error_message: unknown }).error_message)],
  ['the control API', (body) => (JSON.parse(body) as { error: { remedy: string } }).error.remedy],
  ['the dashboard', (body) => (JSON.parse(body) as { error: { remedy: string } }).error.remedy],
  ['metrics', (body) => (JSON.parse(body) as { error: { remedy: string } }).error.remedy],
  ['Redfish', (body) => JSON.stringify((JSON.parse(body) as { error: object }).error)],
  ['the Kubernetes API', (body) => (JSON.parse(body) as { kind: 'Status'; message: string }).message],
]

describe.each(FORMS)('the server of %s', (server, wordsOf) => {
  test('is closed to a page that has made its name lead here', async () => {
    const { status, body } = await ask(server, { host: 'evil.example' })

    expect(status).toBe(403)
    expect(wordsOf(body)).toContain('--allowed-host')
  })

  test.each([
    ['a page of another server', { origin: 'http://evil.example' }],
    ['an image of another page', { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'no-cors' }],
  ])('is closed to %s', async (_, headers) => {
    expect(await ask(server, headers)).toMatchObject({ status: 403 })
  })

  test.each(['localhost', '127.0.0.1', '[::1]', 'lab.example:80'])('is open to clients that call %s', async (host) => {
    expect((await ask(server, { host })).status).toBeLessThan(400)
  })
})

test('every server of the product is opened where callers are checked', () => {
  const rooms = readdirSync('.', { withFileTypes: true }).filter(
    (entry) => entry.isDirectory() && !['node_modules', 'dist', 'test', 'scripts', 'docs', 'ui'].includes(entry.name),
  )
  const files = rooms.flatMap(({ name }) =>
    readdirSync(name, { recursive: true, encoding: 'utf8' }).map((path) => join(name, path)),
  )
  const opening = files
    .filter((path) => /(?<!\.test)\.ts$/.test(path) && !path.includes('node_modules'))
    .filter((path) => /\bcreate\w*Server\(/.test(readFileSync(path, 'utf8').replaceAll(/^\s*(?:\*|\/\/).*$/gm, '')))

  expect(opening.sort()).toEqual([
    // SSH of rehearsed machines: a browser speaks no SSH.
    'apps/hardware-lab/rehearsal/ssh-front.ts',
    'apps/recording/proxy/listeners.ts',
    'base/bytes/server/file-server.ts',
    'base/wire/http-server.ts',
  ])
})
