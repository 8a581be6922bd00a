import { copyFile, mkdir, mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openStore } from '../../../ironic-mock/index.js'
import { openStateFolder, repairState } from '../../../lab/index.js'
import { defaultMachineSpec } from '../../../machine/index.js'
import { openMachineStore } from '../../../machine/machine-store.js'
import { systemClock, UserError } from '../../../base/runtime/index.js'
import { chassis, node, port } from '../store-records.js'
import { mutatedCopy, type StateModel } from './mutations.js'

const clock = systemClock()
const NODES = 6
const nodeNames = Array.from({ length: NODES }, (_, index) => `n${index}`)

/** Opens a state folder as `up` does. */
async function openAll(folder: string) {
  const state = await openStateFolder(folder)
  try {
    const store = openStore({ path: state.ironicDb, clock })
    try {
      const machines = openMachineStore(join(folder, 'machines.db'), clock)
      return { state, store, machines }
    } catch (error) {
      store.abandon()
      throw error
    }
  } catch (error) {
    state[Symbol.dispose]()
    throw error
  }
}

type OpenState = Awaited<ReturnType<typeof openAll>>

/** All that a state folder holds, for comparison. */
async function contentsOf({ state, store, machines }: OpenState): Promise<unknown> {
  return {
    nodes: await store.nodes({}),
    ports: await store.ports({}),
    chassis: await store.resources('chassis', {}),
    effects: await store.effects(),
    deadlines: await store.deadlines(),
    texts: store.take().texts,
    lastIds: [store.records.lastNode, store.records.lastPort, store.records.lastEffect],
    machines: machines.load().map(({ machine, kind, name, value }) => ({ machine, kind, name, value })),
    remembered: ['port', 'bmc-account http://bmc'].map((name) => state.remembered(name)),
  }
}

/** Writes to every table. */
async function write({ state, store, machines }: OpenState, round: number): Promise<void> {
  state.remember('port', `${6000 + round}`)
  state.remember('bmc-account http://bmc', JSON.stringify({ username: 'admin', password: `secret ${round}` }))
  await store.createResource('chassis', chassis(`c${round}`))
  for (const name of nodeNames) {
    const known = await store.node(name)
    const { revision } = known ?? (await store.createNode(node(name, { name, extra: { filling: 'x'.repeat(900) } })))
    await store.commit({
      node: name,
      expect: revision,
      patch: { description: `round ${round}` },
      effects: [{ kind: 'work', payload: { round } }],
      deadlines: [{ kind: 'limit', at: round }],
      inventory: { inventory: { round }, plugin_data: {} },
      history: [{ uuid: `${name}-${round}`, event: 'one' } as never],
    })
    await store.createPort(
      port(`52:54:00:00:${round.toString(16).padStart(2, '0')}:${name.slice(1).padStart(2, '0')}`, name),
    )
    machines.put(`machine-${name}`, 'spec', '', () => ({ ...defaultMachineSpec(1), id: `machine-${name}` }))
    machines.put(`machine-${name}`, 'saved', 'value', () => ({ round }))
    await machines.flush()
  }
  await store.removePort(`port-52:54:00:00:${round.toString(16).padStart(2, '0')}:05`)
}

/** State folders of a process that was killed, and of one that was stopped, with what was acknowledged. */
export interface StateModels extends AsyncDisposable {
  readonly folder: string
  readonly killed: StateModel
  readonly stopped: StateModel
  readonly acknowledged: unknown
}

export async function makeStateModels(): Promise<StateModels> {
  const folder = await mkdtemp(join(tmpdir(), 'ironstage-torn-'))
  const path = (name: string) => join(folder, name)
  const first = await openAll(path('state'))
  await write(first, 1)
  await copyFiles(path('state'), path('killed-earlier'))
  await closeAll(first)
  await copyFiles(path('state'), path('stopped-earlier'))
  const second = await openAll(path('state'))
  for (const round of [2, 3]) await write(second, round)
  await copyFiles(path('state'), path('killed'))
  const acknowledged = await contentsOf(second)
  await closeAll(second)
  await copyFiles(path('state'), path('stopped'))
  return {
    folder,
    killed: { earlier: path('killed-earlier'), later: path('killed') },
    stopped: { earlier: path('stopped-earlier'), later: path('stopped') },
    acknowledged,
    [Symbol.asyncDispose]: () => rm(folder, { recursive: true }),
  }
}

async function closeAll({ state, store, machines }: OpenState): Promise<void> {
  await machines[Symbol.asyncDispose]()
  await store[Symbol.asyncDispose]()
  state[Symbol.dispose]()
}

export async function copyFiles(from: string, to: string): Promise<void> {
  await mkdir(to)
  for (const file of await readdir(from)) await copyFile(join(from, file), join(to, file))
}

/** Contents that a start on a folder finds, or the refusal. Other errors are defects. */
export async function startOn(folder: string): Promise<{ found: unknown } | { refused: UserError }> {
  try {
    const open = await openAll(folder)
    try {
      return { found: await contentsOf(open) }
    } finally {
      await closeAll(open)
    }
  } catch (error) {
    if (error instanceof UserError) return { refused: error }
    throw error
  }
}

/** Outcome of a start on a mutated folder. */
export interface CaseResult {
  readonly what: string
  readonly outcome: 'as acknowledged' | 'refused'
}

/**
 * @param repairs repairs a refused folder too
 * @throws Error for a start on something else than what was acknowledged, and for a repair that does not help
 */
export async function runCase(models: StateModels, seed: number, repairs: boolean): Promise<CaseResult> {
  const model = seed % 3 === 0 ? models.stopped : models.killed
  const folder = join(models.folder, `case-${seed}`)
  const { what } = await mutatedCopy(model, folder, seed)
  try {
    const start = await startOn(folder)
    if ('found' in start) {
      if (JSON.stringify(start.found) === JSON.stringify(models.acknowledged))
        return { what, outcome: 'as acknowledged' }
      throw new Error('it starts with something else than was acknowledged')
    }
    if (repairs) await expectRepair(folder, start.refused)
    return { what, outcome: 'refused' }
  } catch (error) {
    throw new Error(`${what} (${model.later})`, { cause: error })
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

/** A repaired folder opens; only a folder that passes for one of another program is left alone. */
async function expectRepair(folder: string, refused: UserError): Promise<void> {
  if (refused.code === 'foreign-folder' || refused.code === 'store-version') return
  await repairState(folder)
  const again = await startOn(folder)
  if ('refused' in again)
    throw new Error(`it is refused after a repair too, first by: ${refused.message}`, { cause: again.refused })
}
