import { createConnection } from 'node:net'
import { once } from 'node:events'
import { afterEach, describe, expect, test } from 'vitest'
import { Scope } from '../../runtime/index.js'
import { HOSTS, host, servedKube } from '../../../test/kit/cluster/served-kube.js'

let scope = new Scope()
afterEach(async () => {
  await scope[Symbol.asyncDispose]()
  scope = new Scope()
})

const openServer = (options: { token?: string } = {}) => servedKube(scope, options)

describe('a list', () => {
  test('is a table with the columns of its kind where the client asks for one', async () => {
    const { call, client } = await openServer()
    await call('POST', HOSTS, host('worker-0', { consumerRef: { name: 'machine-0' } }))
    const read = await client.get('BareMetalHost', { name: 'worker-0', namespace: 'metal3' })
    await client.updateStatus({
      ...read,
      status: {
        errorMessage: 'no',
        errorCount: 1,
        errorType: 'registration error',
        operationalStatus: 'error',
        poweredOn: false,
        provisioning: { ID: '', state: 'registering' },
      },
    })

    const { body } = await call('GET', HOSTS, undefined, {
      accept: 'application/json;as=Table;v=v1;g=meta.k8s.io,application/json',
    })
    const { columnDefinitions, rows } = body as {
      columnDefinitions: { name: string; priority: number }[]
      rows: { cells: unknown[]; object: object }[]
    }
    const shown = columnDefinitions.flatMap(({ name, priority }, index) =>
      priority === 0 ? [[name, rows[0]!.cells[index]]] : [],
    )
    expect(shown).toEqual([
      ['Name', 'worker-0'],
      ['State', 'registering'],
      ['Consumer', 'machine-0'],
      ['Online', 'true'],
      ['Error', 'registration error'],
      ['Age', expect.stringMatching(/^\ds$/)],
    ])
    expect(rows[0]!.object).toMatchObject({ kind: 'PartialObjectMetadata', metadata: { name: 'worker-0' } })
  })

  const TABLE = { accept: 'application/json;as=Table;v=v1;g=meta.k8s.io,application/json' }
  const METAL3 = '/apis/metal3.io/v1alpha1/namespaces/metal3'
  test.each([
    ['baremetalswitches', 'Name Driver Device Type Address Valid'],
    ['bmceventsubscriptions', 'Name Error Age'],
    ['dataimages', 'Name Age'],
    ['firmwareschemas', 'Name Age'],
    ['hardwaredata', 'Name Age'],
    ['hostfirmwaresettings', 'Name Age'],
    ['hostnetworkattachments', 'Name Mode Native VLAN Age'],
    ['preprovisioningimages', 'Name Ready Reason'],
  ])('of %s has the columns of their CustomResourceDefinition', async (plural, names) => {
    const { call } = await openServer()
    const { body } = await call('GET', `${METAL3}/${plural}`, undefined, TABLE)
    const { columnDefinitions } = body as { columnDefinitions: { name: string }[] }
    expect(columnDefinitions.map(({ name }) => name).join(' ')).toBe(names)
  })

  test('shows conditions by their type, whole numbers as they are, and a wrong type as nothing', async () => {
    const { call, store } = await openServer()
    const cellsOf = async (plural: string) => {
      const { body } = await call('GET', `${METAL3}/${plural}`, undefined, TABLE)
      return (body as { rows: { cells: unknown[] }[] }).rows.map(({ cells }) => cells)
    }
    const metadata = (name: string) => ({ name, namespace: 'metal3' })
    const image = { metadata: metadata('one'), spec: { architecture: 'x86_64' } }
    store.create('PreprovisioningImage', image)
    const condition = (type: string, status: string, reason: string) => {
      const lastTransitionTime = '2026-01-01T00:00:00Z'
      return { type, status, reason, message: '', lastTransitionTime }
    }
    const conditions = [condition('Error', 'False', 'None'), condition('Ready', 'True', 'ImageSuccess')]
    store.change('PreprovisioningImage', metadata('one'), (now) => ({ ...now, status: { conditions } }), {
      subresource: 'status',
    })
    store.create('PreprovisioningImage', { ...image, metadata: metadata('two') })
    expect(await cellsOf('preprovisioningimages')).toEqual([
      ['one', 'True', 'ImageSuccess'],
      ['two', null, null],
    ])
    store.create('HostNetworkAttachment', { metadata: metadata('lan'), spec: { mode: 'access', nativeVLAN: 7 } })
    expect(await cellsOf('hostnetworkattachments')).toEqual([['lan', 'access', 7, expect.stringMatching(/^\ds$/)]])
  })

  test('comes in pages, and the whole is there once', async () => {
    const { call, store } = await openServer()
    for (let index = 0; index < 25; index++)
      store.create('BareMetalHost', host(`worker-${index}`, {}, { namespace: 'metal3' }))
    const names: string[] = []
    let next = ''
    do {
      const { body } = await call('GET', `${HOSTS}?limit=10&continue=${next}`)
      const page = body as { items: { metadata: { name: string } }[]; metadata: { continue?: string } }
      names.push(...page.items.map(({ metadata }) => metadata.name))
      next = page.metadata.continue ?? ''
    } while (next !== '')

    expect(names).toEqual(store.list('BareMetalHost').map(({ metadata }) => metadata.name))
    expect(await call('GET', `${HOSTS}?continue=x`)).toMatchObject({ status: 400 })
    expect(await call('GET', `${HOSTS}?limit=-1`)).toMatchObject({ status: 400 })
  })

  test('of ten thousand objects is sent, as a table too', async () => {
    const { call, store } = await openServer()
    for (let index = 0; index < 10_000; index++)
      store.create('BareMetalHost', host(`worker-${index}`, {}, { namespace: 'metal3' }))

    expect(((await call('GET', '/apis/metal3.io/v1alpha1/baremetalhosts')).body as { items: [] }).items.length).toBe(
      10_000,
    )
    const table = await call('GET', HOSTS, undefined, { accept: 'application/json;as=Table;v=v1;g=meta.k8s.io' })
    expect((table.body as { rows: [] }).rows.length).toBe(10_000)
  })

  test('of objects is deleted by its selector', async () => {
    const { call, store } = await openServer()
    for (const rack of ['a', 'b']) await call('POST', HOSTS, host(`of-${rack}`, {}, { labels: { rack } }))

    await call('DELETE', `${HOSTS}?labelSelector=rack%3Da`)

    expect(store.list('BareMetalHost').map(({ metadata }) => metadata.name)).toEqual(['of-b'])
  })
})

describe('a watch', () => {
  interface WatchLine {
    type: string
    object: { metadata: { name?: string; resourceVersion?: string } }
  }

  /** The lines of a watch as they come. */
  async function* linesOf(url: string): AsyncGenerator<WatchLine> {
    const answer = await fetch(url)
    let rest = ''
    for await (const part of answer.body!) {
      const parts = (rest + Buffer.from(part).toString()).split('\n')
      rest = parts.pop()!
      for (const line of parts) yield JSON.parse(line) as WatchLine
    }
  }

  /** The first lines of a watch, or all of one that ends before. */
  async function lines(url: string, count: number): Promise<WatchLine[]> {
    const seen: WatchLine[] = []
    for await (const line of linesOf(url)) if (seen.push(line) === count) break
    return seen
  }

  test('sends a line for each change', async () => {
    const { call, server } = await openServer()
    await call('POST', HOSTS, host('worker-0'))
    const seen: string[] = []
    for await (const { type, object } of linesOf(`${server.url}${HOSTS}?watch=true`)) {
      seen.push(`${type} ${object.metadata.name}`)
      // The watch is known to be there by its first line.
      if (type === 'ADDED') {
        const merge = { 'content-type': 'application/merge-patch+json' }
        await call('PATCH', `${HOSTS}/worker-0`, { spec: { online: false } }, merge)
        await call('DELETE', `${HOSTS}/worker-0`)
      }
      if (type === 'DELETED') break
    }

    expect(seen).toEqual(['ADDED worker-0', 'MODIFIED worker-0', 'DELETED worker-0'])
  })

  test('ends with its time, and says how far it was', async () => {
    const { call, server, store } = await openServer()
    await call('POST', HOSTS, host('worker-0'))

    const seen = await lines(`${server.url}${HOSTS}?watch=1&timeoutSeconds=1&allowWatchBookmarks=true`, 100)

    expect(seen.map(({ type }) => type)).toEqual(['ADDED', 'BOOKMARK'])
    expect(seen[1]!.object.metadata.resourceVersion).toBe(String(store.resourceVersion))
  })

  test('from a version that is forgotten is refused as expired', async () => {
    const { call, store } = await openServer()
    const { body } = await call('POST', HOSTS, host('worker-0'))
    const { resourceVersion } = (body as { metadata: { resourceVersion: string } }).metadata
    for (let round = 0; round < 5000; round++)
      store.change('BareMetalHost', { name: 'worker-0', namespace: 'metal3' }, (current) => ({
        ...current,
        spec: { online: round % 2 === 0 },
      }))

    expect(await call('GET', `${HOSTS}?watch=true&resourceVersion=${resourceVersion}`)).toMatchObject({
      status: 410,
      body: { kind: 'Status', reason: 'Expired' },
    })
  })

  test('that its client does not read while more changes than are remembered is ended as expired', async () => {
    const { server, store } = await openServer()
    const text = 'x'.repeat(200_000)
    store.create('ConfigMap', { metadata: { name: 'a', namespace: 'metal3' }, data: { text } })
    const socket = createConnection({ port: server.port, host: '127.0.0.1' })
    await once(socket, 'connect')
    socket.write('GET /api/v1/configmaps?watch=true HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n')
    // The watch is known to be there by its first bytes.
    await once(socket, 'data')
    socket.pause()
    for (let round = 0; round < 1000; round++) {
      const data = { text: `${round}${text}` }
      store.change('ConfigMap', { name: 'a', namespace: 'metal3' }, (current) => ({ ...current, data }))
      if (round % 20 === 0) await new Promise((resolve) => setImmediate(resolve))
    }

    let received = 0
    let end = ''
    socket.on('data', (chunk: Buffer) => {
      received += chunk.length
      end = (end + chunk.toString('latin1')).slice(-1000)
    })
    socket.resume()
    await once(socket, 'close')
    expect(end).toContain('{"type":"ERROR","object":{"kind":"Status"')
    expect(end).toContain('too old resource version')
    // The changes are 200 MB; what was on its way is what buffers hold.
    expect(received).toBeLessThan(50_000_000)
  })

  test('ends when the server closes', async () => {
    const { server } = await openServer()
    const answer = await fetch(`${server.url}${HOSTS}?watch=true`)

    await server[Symbol.asyncDispose]()

    expect(await answer.text()).toBe('')
  })
})
