import { markup, type Html } from './html/html.js'
import { htmlPage } from './html/html-page.js'
import { htmlBadge, factList, htmlTable } from './html/parts.js'
import { type NodeReport, type ClockReport, effectText, membersText, type FaultReport } from '../control/index.js'
import type { NodeDetails } from './node-details.js'
import { nodeHtml, toneOfState } from './node-html.js'

/** Nodes of a lab's table. */
const MAX_TABLE_NODES = 2000

/** Nodes of a lab that are shown with all details: those that failed first. */
const MAX_DETAILED_NODES = 20

/** Nodes in the order in which a report shows their details. */
export function nodesToShow(nodes: readonly NodeReport[]): NodeReport[] {
  const rank = ({ last_error: error, provision_state: state }: NodeReport): number =>
    error !== null || toneOfState(state) === 'bad' ? 0 : toneOfState(state) === 'rest' ? 2 : 1
  return [...nodes].sort((a, b) => rank(a) - rank(b)).slice(0, MAX_DETAILED_NODES)
}

export interface LabReportParts {
  nodes: readonly NodeReport[]
  faults: readonly FaultReport[]
  clock: ClockReport
  details: readonly NodeDetails[]
  /** When it was made, ISO 8601. */
  madeAt: string
  version: string
}

/** A lab, or one node of it, as a page that needs nothing else. */
export function labReportHtml({ nodes, faults, clock, details, madeAt, version }: LabReportParts): string {
  const one = nodes.length === 1 ? nodes[0] : undefined
  const title = one ? `Node ${one.name ?? one.uuid}` : `Lab of ${nodes.length} nodes`
  const rows = nodes.slice(0, MAX_TABLE_NODES)
  const body = markup`<h1>${title}</h1>
<p class="soft">ironstage ${version}, ${madeAt}; lab time ${clock.labTime}, clock ${clock.mode}</p>
${
  !one &&
  markup`${factList(countsOf(nodes))}${htmlTable(
    [
      { title: 'Node' },
      { title: 'State' },
      { title: 'Power' },
      { title: 'Last error, or what it waits for', kind: 'wide' },
    ],
    rows.map(({ name, uuid, provision_state: state, power_state: power, last_error: error, waitsFor }) => [
      name ?? uuid,
      htmlBadge(state, toneOfState(state)),
      power,
      error ?? waitsFor,
    ]),
  )}${nodes.length > rows.length && markup`<p class="soft">The first ${rows.length} of ${nodes.length}.</p>`}`
}
${faultsHtml(faults)}
${details.length > 0 && markup`<h2>${one ? 'What happened' : 'Nodes'}</h2>`}
${!one && nodes.length > details.length && markup`<p class="soft">The details of ${details.length} nodes, those that failed first. <code>GET /_lab/report?node=NAME</code> is the report of any other.</p>`}
${details.map(nodeHtml)}`
  return htmlPage({ title, body })
}

function countsOf(nodes: readonly NodeReport[]): [string, Html][] {
  const counts = new Map<string, number>()
  for (const { provision_state: state } of nodes) counts.set(state, (counts.get(state) ?? 0) + 1)
  return [...counts]
    .sort((a, b) => b[1] - a[1])
    .map(([state, count]) => [state, markup`<b class="${toneOfState(state)}">${count}</b>`])
}

function faultsHtml(faults: readonly FaultReport[]): Html | null {
  if (faults.length === 0) return null
  return markup`<h2>Faults</h2>${htmlTable(
    [
      { title: 'Fault' },
      { title: 'Effect', kind: 'wide' },
      { title: 'Where', kind: 'wide' },
      { title: 'Struck', kind: 'number' },
    ],
    faults.map((fault) => [
      `${fault.id}${fault.label === undefined ? '' : ` (${fault.label})`}`,
      effectText(fault),
      membersText(fault.match).join(', ') || 'everywhere',
      `${fault.struck}${fault.times === undefined ? '' : ` of ${fault.times}`}`,
    ]),
  )}`
}
