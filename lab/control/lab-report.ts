import type { Machine } from '../../machine/index.js'
import { packageVersion, systemClock } from '../../base/runtime/index.js'
import type { WireResponse } from '../../base/wire/index.js'
import { pageHeaders, nodeDetails, type ReportSource, labReportHtml, nodesToShow } from '../../report/index.js'
import { maskValue, type ControlCall } from '../../control/index.js'
import { drawDisks, nodeTimeline, type LookParts } from './look-handlers.js'
import { machineReport } from './machine-report.js'
import type { ControlSubjects } from './control-subjects.js'

/** Answers with a report of the lab, or of the node in the query. */
export async function labReport(parts: LookParts, call: ControlCall, subjects: ControlSubjects): Promise<WireResponse> {
  const { nodes, faults, clock } = parts
  const wanted = call.query['node']
  const records = wanted === undefined ? [...nodes()] : [subjects.node(wanted)]
  const listed = records.map((node) => subjects.shown(node))
  const details = []
  for (const { uuid } of wanted === undefined ? nodesToShow(listed) : listed)
    details.push(await nodeDetails(makeReportSource(parts, subjects), uuid))
  const body = labReportHtml({
    nodes: listed,
    faults: faults.list(),
    clock: clock.report(),
    details,
    madeAt: new Date(systemClock().now()).toISOString(),
    version: packageVersion(),
  })
  return { status: 200, headers: pageHeaders(), body }
}

/** The calls of a client of the control API, in this process. */
function makeReportSource(parts: LookParts, subjects: ControlSubjects): ReportSource {
  const { journal, joinedPast, time } = parts
  /** Machines by their ids, of the nodes that were asked for. */
  const machines = new Map<string, Machine>()
  const machine = (id: string): Machine => machines.get(id)!
  return {
    timeline: async (ident) => {
      const found = subjects.node(ident)
      const behind = parts.machineOf(found)
      if (behind) machines.set(behind.spec.id, behind)
      return nodeTimeline(parts, found, subjects)
    },
    journal: async ({ node: ident, last }) => {
      const entries = joinedPast
        ? await joinedPast.entriesOf(subjects.node(ident).uuid)
        : journal.entries({ node: ident })
      return { entries: entries.slice(-last) }
    },
    machine: (id) => machineReport(machine(id)),
    disks: async (id) => ({ disks: await drawDisks(machine(id), time) }),
    journalOfMachine: async (id) => ({ journal: maskValue(machine(id).journal()) as ReturnType<Machine['journal']> }),
  }
}
