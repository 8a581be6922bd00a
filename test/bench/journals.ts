import { createHash } from 'node:crypto'
import { createStagedLab, journalOf, type StagedLabOptions } from '../../lab/index.js'
import type { JournalEntry } from '../../control/index.js'
import { randomPlan } from '../../lab/chaos/chaos-plan.js'
import { REALISTIC_MACHINES } from '../../lab/realistic-pace.js'
import { IPA_PACE } from '../../agent/index.js'
import type { DiskSpec } from '../../machine/index.js'
import { minutes } from '../../base/runtime/index.js'
import type { Outcome } from './measure.js'
import { liveThrough } from './staged.js'

const SEEDS = 20
const NODES = 3
const FAULTS_END = minutes(6)

/**
 * A digest of the whole journal of labs of twenty seeds, in virtual time: of random deployments with faults, and of
 * lifecycles without. A change that must not change what happens in a lab leaves all of them as they are.
 */
export async function journals(): Promise<Outcome> {
  const lines: string[][] = []
  let entries = 0
  for (let seed = 1; seed <= SEEDS; seed++) {
    const nodes = Array.from({ length: NODES }, (_, n) => `node-${n}`)
    const random = await journalOf(randomPlan({ seed, nodes, duration: FAULTS_END }))
    const orderly = await journalOfLifecycles({ seed, ...VARIANTS[seed % VARIANTS.length] })
    entries += random.length + orderly.length
    lines.push([String(seed), String(random.length), digest(random), String(orderly.length), digest(orderly)])
  }
  return {
    rows: [{ what: 'entries of the journals of 20 seeds', ours: entries, peer: null, reach: null, unit: '', runs: 1 }],
    more: [[['seed', 'entries with faults', 'SHA-256', 'entries of lifecycles', 'SHA-256'], ...lines]],
  }
}

const nvme = (sectorSize: 512 | 4096): Partial<DiskSpec> => ({ size: 960e9, transport: 'nvme', sectorSize })

/** Options of the labs without faults, one after another. */
const VARIANTS: readonly StagedLabOptions[] = [
  {},
  { machinePace: REALISTIC_MACHINES, agentPace: IPA_PACE },
  { ironic: { profile: 'upstream' } },
  { hardware: [{ hardware: { firmware: 'bios', disks: [nvme(512), nvme(4096)] } }] },
]

async function journalOfLifecycles(options: StagedLabOptions): Promise<JournalEntry[]> {
  await using lab = await createStagedLab({ journal: { capacity: 100_000 }, ...options })
  await liveThrough(lab, NODES)
  return lab.journal.entries()
}

/** Wall time is all that differs between two runs. The order of members says nothing. */
function digest(entries: readonly JournalEntry[]): string {
  const hash = createHash('sha256')
  for (const entry of entries) hash.update(`${JSON.stringify({ ...entry, wallTime: undefined }, inOrder)}\n`)
  return hash.digest('hex')
}

/** A replacer for JSON: the members of objects by name. */
const inOrder = (_name: string, value: unknown): unknown =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
    ? Object.fromEntries(Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1)))
    : value
