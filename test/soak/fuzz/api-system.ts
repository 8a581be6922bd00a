import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { openStore, type Store, type StoreView } from '../../../ironic-mock/index.js'
import { VirtualClock } from '../../../base/runtime/index.js'
import { openStage, type Stage } from '../../contract/stage.js'
import { FUZZ_BASE } from '../../kit/fuzz/index.js'
import type { Watcher, System } from './system.js'

const FAKE = { deploy_interface: 'fake', inspect_interface: 'fake' }

/** API, conductor and a database in a file, with fake hardware only: the fastest. */
export async function apiSystem(seed: number): Promise<System> {
  const folder = await mkdtemp(join(tmpdir(), 'ironstage-fuzz-'))
  const path = join(folder, 'ironic.db')
  const clock = new VirtualClock()
  let watcher: Watcher = { seen: () => {}, gone: () => {} }
  let lives = 0
  let store: Store & StoreView
  let stage: Stage
  const open = async (): Promise<void> => {
    store = openStore({ path, clock })
    stage = await openStage({ seed: seed * 1000 + lives++, clock, earlier: observed(store, () => watcher) })
  }
  await open()
  return {
    view: () => store,
    send: (request) => stage.api({ ...request, base: FUZZ_BASE }),
    wait: (awaited) => clock.until(awaited),
    pass: (ms) => clock.advance(ms),
    watch: (next) => void (watcher = next),
    trouble: () => {},
    calm: () => {},
    restart: async () => {
      await stage[Symbol.asyncDispose]()
      await store[Symbol.asyncDispose]()
      const before = store.records
      store = openStore({ path, clock })
      expectSame(before, store.records)
      stage = await openStage({ seed: seed * 1000 + lives++, clock, earlier: observed(store, () => watcher) })
    },
    excused: [],
    restEvery: 2500,
    newNode: () => ({ driver: 'fake-hardware', ...FAKE, automated_clean: false }),
    [Symbol.asyncDispose]: async () => {
      await stage[Symbol.asyncDispose]()
      await store[Symbol.asyncDispose]()
      await rm(folder, { recursive: true, force: true })
    },
  }
}

/** The same store, which tells of every change of a node. */
function observed(store: Store & StoreView, watcher: () => Watcher): Store & StoreView {
  return new Proxy(store, {
    get(target, key) {
      const value: unknown = Reflect.get(target, key, target)
      if (key === 'commit')
        return async (change: Parameters<Store['commit']>[0]) => {
          const revision = await target.commit(change)
          const entry = target.records.nodes.get(change.node)
          if (entry) watcher().seen(entry.record)
          return revision
        }
      if (key === 'removeNode')
        return async (uuid: string, expect: number) => {
          await target.removeNode(uuid, expect)
          watcher().gone(uuid)
        }
      return typeof value === 'function' ? (value.bind(target) as unknown) : value
    },
  })
}

/** Compares the records in memory with those in the file: no answered change is lost, and nothing else is stored. */
function expectSame(memory: StoreView['records'], file: StoreView['records']): void {
  const parts = (records: StoreView['records']): Record<string, unknown> => ({
    nodes: new Map([...records.nodes].map(([uuid, { record, revision }]) => [uuid, { record, revision }])),
    ports: records.ports,
    effects: records.effects,
    deadlines: records.deadlines,
    ...Object.fromEntries(KINDS.map((kind) => [kind, records.resources(kind).byUuid])),
  })
  const before = parts(memory)
  const after = parts(file)
  for (const [what, value] of Object.entries(before))
    if (!isDeepStrictEqual(value, after[what]))
      throw new Error(`the ${what} in the file are others than they were in memory`)
}

const KINDS = [
  ...(['portgroup', 'allocation', 'chassis', 'volume_connector', 'volume_target'] as const),
  ...(['deploy_template', 'runbook', 'inspection_rule'] as const),
]
