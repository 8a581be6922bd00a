import {
  htmlBadge,
  causeList,
  checkTable,
  diskBar,
  factList,
  markup,
  nodeHtml,
  htmlPage,
  htmlTable,
  timeChart,
  type Html,
  type NodeDetails,
} from '../../../report/index.js'
import { errorChain, packageVersion, sizeText, userError } from '../../../base/runtime/index.js'
import { STAGES } from './deployment-events.js'
import type { DeploymentReport } from './deployment-report.js'

export interface DeploymentOutcome {
  /** Null for a deployment that failed. */
  report: DeploymentReport | null
  /** Its error. */
  error?: unknown
  /** Absent when it failed before there was a node. */
  details?: NodeDetails | undefined
  /** When it began and ended, in milliseconds since the epoch. */
  began: number
  ended: number
}

/** A deployment as a page that needs nothing else, to attach to a job or a ticket. */
export function deploymentHtml({ report, error, details, began, ended }: DeploymentOutcome): string {
  const name = report?.node ?? details?.timeline.node.name ?? details?.timeline.node.uuid ?? 'a machine'
  const ok = report?.ok ?? false
  const title = `Deployment of ${name}`
  const body = markup`<h1>${title} ${htmlBadge(ok ? 'ok' : 'failed', ok ? 'good' : 'bad')}</h1>
<p class="soft">ironstage ${packageVersion()}, ${new Date(began).toISOString()}, ${((ended - began) / 1000).toFixed(1)} s</p>
${error !== undefined && failureHtml(error)}
${report && readBackHtml(report)}
${details && markup`<h2>What happened</h2>${nodeHtml(details)}`}`
  return htmlPage({ title, body })
}

function failureHtml(error: unknown): Html {
  const known = userError(error)
  return markup`<h2>Why it failed</h2>${causeList(errorChain(error), known?.remedy ?? null)}`
}

function readBackHtml(report: DeploymentReport): Html {
  const { disk, partitions, ignition, kernel_arguments: kargs, installer, confinement, checks, ok } = report
  return markup`<h2>Read back from the disk</h2>
<p>${ok ? 'The disk matches the request.' : markup`<b class="bad">The disk does not match the request.</b>`}</p>
${checkTable(checks)}
${factList([
  ['Disk', markup`<code>${disk.file}</code>, ${sizeText(disk.size)}`],
  ['Table', disk.table === null ? 'none' : `${disk.table}${disk.guid === null ? '' : `, ${disk.guid}`}`],
  ['Kernel arguments', markup`<code>${kargs.join(' ')}</code>`],
  [
    'Ignition',
    ignition && markup`version ${ignition.version}, mode ${ignition.mode}, sha256 <code>${ignition.sha256}</code>`,
  ],
  ['Host name', ignition?.hostname],
  [
    'Users',
    ignition?.users.map(
      ({ name, ssh_key_fingerprints: keys }) => markup`${name} <small>${keys.join(', ')}</small><br>`,
    ),
  ],
  ['Files', ignition?.files.map((path) => markup`<code>${path}</code><br>`)],
  ['Units', ignition?.units.map((unit) => markup`<code>${unit}</code><br>`)],
  ['Written by', installer],
  ['Confined by', confinement],
])}
${
  partitions.length > 0 &&
  markup`<h3>Partitions</h3><div class="disk">${diskBar(
    disk.size,
    partitions.map(({ offset, length, name, number }, index) => ({
      offset,
      length,
      tone: (['work', 'good', 'wait', 'note'] as const)[index % 4]!,
      title: `${number} ${name ?? ''}`,
    })),
    'partitions',
    'partitions of the disk',
  )}</div>${htmlTable(
    [
      { title: 'No.', kind: 'number' },
      { title: 'Name' },
      { title: 'Filesystem' },
      { title: 'Label' },
      { title: 'Size', kind: 'number' },
      { title: 'At', kind: 'number' },
    ],
    partitions.map(({ number, name, filesystem, label, length, offset }) => [
      number,
      name,
      filesystem,
      label,
      sizeText(length),
      sizeText(offset),
    ]),
  )}`
}
${stagesHtml(report)}`
}

function stagesHtml({ seconds }: DeploymentReport): Html {
  let at = 0
  const bars = STAGES.flatMap((stage) => {
    const took = seconds[stage]
    if (took === undefined) return []
    const bar = { from: at, to: at + took * 1000, tone: 'work' as const, title: `${stage}: ${took.toFixed(2)} s` }
    at = bar.to
    return [{ label: `${stage} ${took.toFixed(2)} s`, bars: [bar] }]
  })
  return markup`<h3>Stages</h3>${timeChart(bars, { from: 0, to: at, axis: ['0 s', `${(at / 1000).toFixed(1)} s`] })}`
}
