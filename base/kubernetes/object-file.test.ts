import { appendFile, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { seededRandom, temporaryFolder, VirtualClock, type TemporaryFolder } from '../runtime/index.js'
import { gadgetDefinition } from '../../test/kit/cluster/gadget-definition.js'
import { checkObjectFile, openObjectFile, repairObjectFile } from './object-file.js'
import { openKube } from './open-kube.js'

let folder: TemporaryFolder
let path: string
beforeEach(async () => {
  folder = await temporaryFolder()
  path = join(folder.path, 'kube-objects.jsonl')
})
afterEach(() => folder[Symbol.asyncDispose]())

/** An API of one process; nothing of it is closed in an orderly way unless the test does so. */
function life() {
  const file = openObjectFile(path)
  return { file, ...openKube({ clock: new VirtualClock(), random: seededRandom(3), file }) }
}

const configMap = (name: string, data: Record<string, string> = {}, more: object = {}) => ({
  apiVersion: 'v1',
  kind: 'ConfigMap' as const,
  metadata: { name, namespace: 'lab', ...more },
  data,
})

describe('objects of a state folder', () => {
  test('are there after a kill, as they were last, with their versions', async () => {
    const { client, store } = life()
    await client.create(configMap('kept', { a: '1' }))
    await client.create(configMap('gone'))
    await client.patch('ConfigMap', { name: 'kept', namespace: 'lab' }, { data: { a: '2' } })
    await client.delete('ConfigMap', { name: 'gone', namespace: 'lab' })
    const before = store.list('ConfigMap')

    const next = life()
    expect(next.store.list('ConfigMap')).toEqual(before)
    expect(next.store.list('Namespace').map(({ metadata }) => metadata.name)).toEqual(['lab'])
    expect(next.store.resourceVersion).toBe(store.resourceVersion)
    const written = await next.client.create(configMap('new'))
    expect(Number(written.metadata.resourceVersion)).toBe(store.resourceVersion + 1)
  })

  test('go with their owners, also those of an earlier process', async () => {
    const { client } = life()
    const owner = await client.create(configMap('owner'))
    const reference = { apiVersion: 'v1', kind: 'ConfigMap', name: 'owner', uid: owner.metadata.uid }
    await client.create(configMap('a-dependent', {}, { ownerReferences: [reference] }))
    const next = life()
    expect(next.store.list('ConfigMap')).toHaveLength(2)
    await next.client.delete('ConfigMap', { name: 'owner', namespace: 'lab' })
    expect(next.store.list('ConfigMap')).toEqual([])
  })

  test('of a kind that a client has defined are there with their definition', () => {
    const { store } = life()
    store.create('CustomResourceDefinition', gadgetDefinition())
    const gadget = { metadata: { name: 'one', namespace: 'lab' }, spec: { size: 3 } }
    const made = store.create('gadgets.example.com', gadget)
    store.create('gadgets.example.com', { ...gadget, metadata: { ...gadget.metadata, name: 'two' } })
    store.delete('gadgets.example.com', { name: 'two', namespace: 'lab' })

    const next = life()
    expect(next.store.list('gadgets.example.com')).toEqual([made])
    expect(() => next.store.create('gadgets.example.com', { metadata: { name: 'bad' }, spec: {} })).toThrow('spec.size')
    next.store.delete('CustomResourceDefinition', { name: 'gadgets.example.com' })
    expect(next.store.kinds.find('gadgets.example.com')).toBeUndefined()
    expect(life().store.list('gadgets.example.com')).toEqual([])
  })

  test('of a definition whose finalizers are taken away go with it', () => {
    const { store } = life()
    store.create('CustomResourceDefinition', gadgetDefinition())
    const metadata = { name: 'one', namespace: 'lab', finalizers: ['example.com/held'] }
    store.create('gadgets.example.com', { metadata, spec: { size: 3 } })
    const at = { name: 'gadgets.example.com' }
    store.delete('CustomResourceDefinition', at)
    store.change('CustomResourceDefinition', at, (current) => ({
      ...current,
      metadata: { ...current.metadata, finalizers: [] },
    }))
    expect(store.kinds.find('gadgets.example.com')).toBeUndefined()
    expect(life().store.find('CustomResourceDefinition', at)).toBeUndefined()
  })

  test('a watch of the process before begins again', async () => {
    const { client, store } = life()
    const old = String(store.resourceVersion)
    await client.create(configMap('one'))
    expect(() => life().store.watch('ConfigMap', { resourceVersion: old })).toThrow('too old resource version')
    expect(() => life().store.watch('ConfigMap', { resourceVersion: String(store.resourceVersion) })).not.toThrow()
  })

  test('only their owner can read the file, and a start leaves one line for each', async () => {
    const { client, file } = life()
    await client.create(configMap('one'))
    for (let number = 0; number < 20; number++)
      await client.patch('ConfigMap', { name: 'one', namespace: 'lab' }, { data: { a: `${number}` } })
    file[Symbol.dispose]()
    life()
    expect((await stat(path)).mode & 0o777).toBe(0o600)
    // The version, the namespace, the object.
    expect((await readFile(path, 'utf8')).trim().split('\n')).toHaveLength(3)
  })

  test('a write that a kill has cut short is left out', async () => {
    const { client } = life()
    await client.create(configMap('one'))
    await appendFile(path, '{"resourceVersion":9,"object":{"kind":"Config')
    expect(life().store.list('ConfigMap')).toHaveLength(1)
  })

  test.each<[string, (bytes: Buffer) => Buffer]>([
    ['cut short by a line', (bytes) => bytes.subarray(0, bytes.lastIndexOf('\n', bytes.length - 2) + 1)],
    ['cut within a line', (bytes) => bytes.subarray(0, bytes.length - 5)],
    ['empty', () => Buffer.alloc(0)],
    ['changed within a text', (bytes) => Buffer.from(bytes.toString().replace('"a":"1"', '"a":"7"'))],
  ])('a file that is %s is refused after a kill, and repaired', async (_, change) => {
    const { client } = life()
    await client.create(configMap('one', { a: '1' }))
    await client.create(configMap('two'))
    await writeFile(path, change(await readFile(path)))
    expect(() => openObjectFile(path)).toThrow(expect.objectContaining({ code: 'kube-objects' }) as Error)
    expect(checkObjectFile(path)?.problem).toEqual(expect.any(String))
    const readable = checkObjectFile(path)!.objects
    repairObjectFile(path)
    expect(checkObjectFile(path)).toEqual({ objects: readable, problem: null })
    expect(openObjectFile(path).objects).toHaveLength(readable)
  })

  test('a file that is missing after a kill is refused', async () => {
    await life().client.create(configMap('one'))
    await rm(path)
    expect(() => openObjectFile(path)).toThrow(/kube-objects\.jsonl is missing/)
  })

  test('a file of an older ironstage is read', async () => {
    const { client, store } = life()
    await client.create(configMap('one'))
    const lines = (await readFile(path, 'utf8')).replaceAll(/\t\d+$/gm, '')
    await rm(`${path}-mark`)
    await writeFile(path, lines)
    expect(life().store.list('ConfigMap')).toEqual(store.list('ConfigMap'))
  })

  test.each([
    ['no JSON', 'x{', /kube-objects\.jsonl:2 is not an object/],
    [
      'another kind',
      '{"resourceVersion":4,"object":{"kind":"Pod","metadata":{"name":"a","uid":"b"}}}',
      /:2 is not an object/,
    ],
    ['no version', '{"object":{}}', /:2 is not an object/],
  ])('a damaged line is named: %s', async (_, line, message) => {
    await writeFile(path, `{"resourceVersion":3}\n${line}\n`)
    expect(() => openObjectFile(path)).toThrow(message)
  })

  test('a write that cannot be kept is refused, and nothing has changed', async () => {
    const { client, store, file } = life()
    await client.create(configMap('one'))
    const { resourceVersion } = store
    const full = Object.assign(new Error('ENOSPC: no space left on device, write'), { code: 'ENOSPC' })
    const keep = file.keep.bind(file)
    file.keep = () => {
      throw full
    }
    await expect(client.create(configMap('two'))).rejects.toThrow('no space left')
    await expect(client.delete('ConfigMap', { name: 'one', namespace: 'lab' })).rejects.toThrow('no space left')
    expect([store.resourceVersion, store.list('ConfigMap').length]).toEqual([resourceVersion, 1])
    file.keep = keep
    await client.create(configMap('two'))
    expect(life().store.list('ConfigMap')).toHaveLength(2)
  })
})
