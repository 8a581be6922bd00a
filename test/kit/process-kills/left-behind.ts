import Database from 'libsql'
import { copyFile, mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openStore, type StoreView } from '../../../ironic-mock/index.js'
import { VirtualClock } from '../../../base/runtime/index.js'
import type { NodeRecord } from '../../../base/wire/index.js'

/** The state that an agent saved for its boot. */
export interface SavedAgent {
  token: string | null
  commands: { name: string; status: string }[]
}

/** A node with the effect that its queued job continues after. */
export type LeftNode = NodeRecord & { job: string | null }

/** The state of a killed ironstage, read from a copy of its state folder before the next process opens it. */
export interface LeftBehind extends Pick<StoreView, 'records'> {
  /** By name. */
  nodes: ReadonlyMap<string, LeftNode>
  /** Machine -> the agent of its boot, if it ever kept anything; undefined for a machine that is off. */
  agents: ReadonlyMap<string, SavedAgent | null>
}

export async function leftBehind(stateDir: string): Promise<LeftBehind> {
  const copy = await mkdtemp(join(tmpdir(), 'ironstage-left-'))
  try {
    for (const file of await readdir(stateDir))
      if (/^(ironic|machines)\.db/.test(file)) await copyFile(join(stateDir, file), join(copy, file))
    const store = openStore({ path: join(copy, 'ironic.db'), clock: new VirtualClock() })
    const { records } = store
    await store[Symbol.asyncDispose]()
    const nodes = [...records.nodes.values()].map(({ record }) => ({ ...record, job: jobOf(records, record.uuid) }))
    return {
      records,
      nodes: new Map(nodes.map((node) => [String(node.name), node])),
      agents: agentsIn(rows(join(copy, 'machines.db'))('SELECT machine, kind, name, value FROM record')),
    }
  } finally {
    await rm(copy, { recursive: true })
  }
}

const jobOf = (records: StoreView['records'], uuid: string): string | null =>
  (records.effects.get(uuid)?.[0]?.payload.then as { after: string } | undefined)?.after ?? null

type Row = Record<string, string>

/** Nothing from a database that had no tables yet. */
function rows(file: string): (sql: string) => Row[] {
  return (sql) => {
    const db = new Database(file)
    try {
      return db.prepare(sql).all() as Row[]
    } catch (error) {
      if (error instanceof Error && error.message.includes('no such table')) return []
      throw error
    } finally {
      db.close()
    }
  }
}

const parsed = (text: string | undefined): Record<string, unknown> => JSON.parse(text ?? '') as Record<string, unknown>

function agentsIn(records: Row[]): LeftBehind['agents'] {
  const agents = new Map<string, SavedAgent | null>()
  const boots = new Map<string, string>()
  for (const { machine, kind, value } of records) {
    if (kind !== 'state') continue
    const state = parsed(value) as { power: string; boot: { id: string; source: { kind: string } } | null }
    if (state.power !== 'on' || state.boot?.source.kind !== 'ramdisk') continue
    boots.set(machine!, state.boot.id)
    agents.set(machine!, null)
  }
  for (const { machine, kind, name, value } of records) {
    if (kind !== 'saved' || name !== 'agent') continue
    const saved = parsed(value) as unknown as (SavedAgent & { bootId: string }) | null
    if (saved && saved.bootId === boots.get(machine!)) agents.set(machine!, saved)
  }
  return agents
}
