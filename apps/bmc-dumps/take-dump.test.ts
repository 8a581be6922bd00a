import { readdir, readFile } from 'node:fs/promises'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { silent, systemClock } from '../../base/runtime/index.js'
import { dumpFolder, faceFile } from '../../test/kit/bmc-dumps/dumped-faces.js'
import { checkedAddress, takeDump, writeTaken, type TakeDumpOptions, type TakenDump } from './take-dump.js'

const SESSIONS = '/redfish/v1/SessionService/Sessions'

/** A BMC of documents: what it was asked, and the sessions that are open. */
interface StubBmc {
  readonly url: string
  readonly asked: string[]
  readonly open: Set<string>
}

/** @param answer document of a path; undefined for 404 */
async function stubBmc(answer: (path: string) => unknown): Promise<StubBmc> {
  const asked: string[] = []
  const open = new Set<string>()
  const handle: RequestListener = (request, response) => {
    const path = request.url!
    asked.push(`${request.method} ${path}`)
    if (request.method === 'POST' && path === SESSIONS) {
      open.add(`${SESSIONS}/1`)
      response.writeHead(201, { 'x-auth-token': 'token-1', location: `${SESSIONS}/1` }).end('{}')
      return
    }
    if (request.method === 'DELETE') {
      open.delete(path)
      response.writeHead(204).end()
      return
    }
    const document = answer(path)
    response.writeHead(document === undefined ? 404 : 200, { 'content-type': 'application/json', allow: 'GET, HEAD' })
    response.end(JSON.stringify(document ?? {}))
  }
  const server = createServer(handle)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, asked, open }
}

const taken = (url: string, more: Partial<TakeDumpOptions> = {}): Promise<TakenDump> =>
  takeDump({
    url,
    username: 'admin',
    password: 'secret-1',
    clock: systemClock(),
    logger: silent,
    signal: new AbortController().signal,
    pause: 0,
    ...more,
  })

const ROOT = { '@odata.id': '/redfish/v1', '@odata.type': '#ServiceRoot.v1_5_0.ServiceRoot' }

/** The answers of a face. */
async function answersOf(face: 'idrac9' | 'xcc'): Promise<(path: string) => unknown> {
  const { resources } = await faceFile(face)
  return (path) => resources[path.replace(/\/+$/, '')]
}

test('a dump reads only, once a resource, and closes its session', async () => {
  const bmc = await stubBmc(await answersOf('idrac9'))
  const { dump, unread } = await taken(bmc.url)
  const reads = bmc.asked.filter((each) => each.startsWith('GET') && each !== 'GET /redfish/v1/')
  expect(new Set(reads).size).toBe(reads.length)
  expect(bmc.asked.filter((each) => !each.startsWith('GET'))).toEqual([`POST ${SESSIONS}`, `DELETE ${SESSIONS}/1`])
  expect(bmc.open.size).toBe(0)
  expect(dump.find('/redfish/v1/Systems/System.Embedded.1/Bios')?.headers['allow']).toBe('GET, HEAD')
  expect(unread.map(({ status }) => status)).toEqual(unread.map(() => 404))
})

test('its secrets are left out, and so are entries of logs and sessions', async () => {
  const answers = await answersOf('idrac9')
  const bmc = await stubBmc((path) =>
    path === '/redfish/v1/Managers/iDRAC.Embedded.1'
      ? {
          ...(answers(path) as object),
          Oem: {
            Attributes: { '@odata.id': '/redfish/v1/Managers/iDRAC.Embedded.1/Attributes' },
            PrivateKey: 'key-material',
            Certificate: '-----BEGIN CERTIFICATE-----\nAAAA',
            PasswordExpiration: '2026-01-01',
          },
        }
      : answers(path),
  )
  const { dump } = await taken(bmc.url)
  const text = JSON.stringify([...dump.resources()])
  expect(text).not.toMatch(/s3cr3t-community|key-material|BEGIN CERTIFICATE/)
  expect(text).toContain('"PasswordExpiration":"2026-01-01"')
  expect(text).not.toMatch(/signed in from|Sessions\/7/)
  expect(dump.find('/redfish/v1/Managers/iDRAC.Embedded.1/Attributes')?.document['Attributes']).toMatchObject({
    'SNMP.1.AgentCommunity': null,
  })
})

test('a circle of links is walked once, and pages of a collection become one', async () => {
  const bmc = await stubBmc((path) => {
    if (/^\/redfish\/v1\/?$/.test(path)) return { ...ROOT, Systems: { '@odata.id': '/redfish/v1/Systems' } }
    if (path === '/redfish/v1/Systems')
      return {
        '@odata.id': path,
        Members: [{ '@odata.id': '/redfish/v1/Systems/1' }],
        'Members@odata.nextLink': `${path}?$skip=1`,
      }
    if (path === '/redfish/v1/Systems?$skip=1')
      return { Members: [{ '@odata.id': '/redfish/v1/Systems/2' }], 'Members@odata.nextLink': path }
    if (/Systems\/\d$/.test(path)) return { '@odata.id': path, Up: { '@odata.id': '/redfish/v1/Systems' }, Self: ROOT }
    return undefined
  })
  const { dump } = await taken(bmc.url)
  expect([...dump.resources()].map(({ path }) => path)).toEqual([
    '/redfish/v1',
    '/redfish/v1/Systems',
    '/redfish/v1/Systems/1',
    '/redfish/v1/Systems/2',
  ])
  expect(dump.document('/redfish/v1/Systems')).toMatchObject({ 'Members@odata.count': 2 })
})

test.each([
  ['links', (n: number) => ({ Next: { '@odata.id': `/redfish/v1/Chain/${n + 1}` } }), /chain of more than 40 links/],
  ['pages', (n: number) => ({ '@odata.nextLink': `/redfish/v1/Chain/${n + 1}`, Members: [] }), /more than 200 pages/],
])('%s without an end are an error, and the session is closed', async (_, next, message) => {
  const bmc = await stubBmc((path) => {
    if (/^\/redfish\/v1\/?$/.test(path)) return { ...ROOT, Chain: { '@odata.id': '/redfish/v1/Chain/1' } }
    return { '@odata.id': path, ...next(Number(path.split('/').at(-1))) }
  })
  await expect(taken(bmc.url)).rejects.toMatchObject({ code: 'bmc-dump', message: expect.stringMatching(message) })
  expect(bmc.open.size).toBe(0)
})

test('a stop closes the session, and writes nothing', async () => {
  const stop = new AbortController()
  const bmc = await stubBmc((path) => {
    if (bmc.asked.length === 6) stop.abort(new Error('stopped by SIGINT'))
    const next = { '@odata.id': `/redfish/v1/Chassis/${bmc.asked.length}` }
    return { ...(path === '/redfish/v1' || path === '/redfish/v1/' ? ROOT : {}), '@odata.id': path, Next: next }
  })
  await expect(taken(bmc.url, { signal: stop.signal })).rejects.toThrow('stopped by SIGINT')
  expect(bmc.open.size).toBe(0)
})

test('what is no BMC, and an address with an account, are told in one sentence', async () => {
  const bmc = await stubBmc(() => undefined)
  await expect(taken(bmc.url)).rejects.toMatchObject({ message: expect.stringContaining('/redfish/v1/ (404)') })
  expect(() => checkedAddress('http://admin:secret@192.0.2.1')).toThrow('http://192.0.2.1 has an account in it')
  expect(() => checkedAddress('ftp://192.0.2.1')).toThrow('ftp://192.0.2.1 is no address of a BMC')
  expect(checkedAddress('192.0.2.1/redfish/v1')).toBe('https://192.0.2.1')
})

test('a folder is written as a whole, and only where none is', async () => {
  const bmc = await stubBmc(await answersOf('xcc'))
  const dump = await taken(bmc.url)
  const folder = join(await dumpFolder(), 'dump')
  await writeTaken(dump, folder)
  expect((await readdir(folder)).sort()).toEqual(['README', 'redfish'])
  const root = await readFile(join(folder, 'redfish/v1/index.json'), 'utf8')
  expect(JSON.parse(root)).toMatchObject({ Vendor: 'Lenovo' })
  await expect(writeTaken(dump, folder)).rejects.toMatchObject({
    code: 'bmc-dump',
    message: expect.stringContaining(`${folder} is there already`),
  })
  expect(await readdir(join(folder, '..'))).toEqual(['dump'])
})
