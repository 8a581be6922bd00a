import { drawDisk, type DiskDrawing, type Machine } from '../../machine/index.js'
import { UserError, type Clock, type Probe } from '../../base/runtime/index.js'
import type { NodeDeadline, StepPlan } from '../../ironic-mock/index.js'
import type { NodeRecord } from '../../base/wire/index.js'
import {
  effectText,
  type LabFaults,
  maskValue,
  timelineOf,
  type NodeTimeline,
  type LOOK_OPERATIONS,
  type ControlHandler,
  type HostObject,
  type JournalEntry,
  type RunProgress,
  type WantedReport,
} from '../../control/index.js'
import type { Journal } from '../journal/journal.js'
import { waitingOf } from './awaited-event.js'
import type { ClockControl } from './clock-control.js'
import { labReport } from './lab-report.js'
import { followConsole } from './follow-console.js'
import { machineFiles } from './machine-files.js'
import { wantedOfHost } from './wanted-host.js'
import { wantedOfNode } from './wanted-state.js'
import type { ControlSubjects } from './control-subjects.js'
import { ERRORS } from '../errors.js'

/** Knowledge of a node beyond its record. */
interface NodeOutlook {
  deadlines: NodeDeadline[]
  plan: StepPlan | null
}

/** The past of nodes from the journals of all processes. */
export interface JoinedPast {
  entriesOf(node: string): Promise<JournalEntry[]>
  /** Entries that the journal of this process remembers and no longer has. */
  rememberedOf(node: string): JournalEntry[]
}

export interface LookParts {
  journal: Journal
  /** Absent where one process has the database to itself. */
  joinedPast?: JoinedPast
  faults: LabFaults
  probe: Probe
  /** Lab time. */
  time: Clock
  outlook: (node: Readonly<NodeRecord>) => NodeOutlook
  nodes: () => Iterable<Readonly<NodeRecord>>
  machineOf: (node: Readonly<NodeRecord>) => Machine | undefined
  clock: ClockControl
  /** The BareMetalHost behind a node of this name; absent where there are none. */
  hostOf?: (name: string) => HostObject | undefined
  /** The run that the machines are of. */
  run?: () => RunProgress
}

/** The calls that show a node or a machine from inside. */
export function lookHandlers(
  parts: LookParts,
  subjects: ControlSubjects,
): Readonly<Record<(typeof LOOK_OPERATIONS)[number]['id'], ControlHandler>> {
  const { probe, time } = parts
  return {
    activity: () => parts.journal.activity.report(),
    timeline: (call) => nodeTimeline(parts, subjects.nodeOf(call), subjects),
    wanted: (call) => wantedReport(parts, subjects.nodeOf(call)),
    disks: async (call) => ({ disks: await drawDisks(subjects.machine(call), time) }),
    filesOfMachine: async (call) => {
      const { filesystem = 'root', disk, path = null } = call.query
      return {
        files: await machineFiles(subjects.machine(call), { filesystem: filesystem as 'root', disk, path }, time),
      }
    },
    journalOfMachine: (call) => ({ journal: maskValue(subjects.machine(call).journal()) }),
    run: () => {
      if (parts.run) return parts.run()
      throw new UserError('no-run', 'this is a lab, and no run over hosts', {
        remedy: ERRORS['no-run'].remedy,
      })
    },
    report: (call) => labReport(parts, call, subjects),
    followConsole: (call) => followConsole(subjects.machine(call), probe),
  }
}

/** Compares a node with its machine, and the spec of its BareMetalHost with the status. */
async function wantedReport(parts: LookParts, node: Readonly<NodeRecord>): Promise<WantedReport> {
  const { outlook, machineOf, time, hostOf } = parts
  const machine = machineOf(node)
  const plan = maskValue(outlook(node).plan) as StepPlan | null
  const disks = machine ? await drawDisks(machine, time) : []
  const host = node.name === null ? undefined : hostOf?.(node.name)
  return { items: wantedOfNode({ node, plan, machine, disks }), host: host ? wantedOfHost(host) : null }
}

/** Drawings of the disks of a machine, one after another: each may mount a filesystem. */
export async function drawDisks(machine: Machine, time: Clock): Promise<DiskDrawing[]> {
  const disks: DiskDrawing[] = []
  for (const { name } of machine.spec.disks)
    disks.push(maskValue(await machine.look(name, (seen) => drawDisk(seen, time))) as DiskDrawing)
  return disks
}

/** The timeline of a node, from the entries that the journal still has. */
export async function nodeTimeline(
  { journal, joinedPast, faults, time, outlook }: LookParts,
  record: Readonly<NodeRecord>,
  subjects: ControlSubjects,
): Promise<NodeTimeline> {
  const entries = joinedPast ? await joinedPast.entriesOf(record.uuid) : journal.entries({ node: record.uuid })
  const node = subjects.shown(record)
  const { deadlines, plan } = outlook(record)
  const present = new Map(faults.list().map((fault) => [fault.id, effectText(fault)]))
  return timelineOf({
    node,
    entries,
    remembered: joinedPast ? joinedPast.rememberedOf(record.uuid) : journal.remembered(record.uuid),
    isCut: journal.first > 1,
    now: time.now(),
    waiting: waitingOf(record, deadlines, node.waitsFor),
    plan: maskValue(plan) as StepPlan | null,
    fault: (id) => present.get(id),
  })
}
