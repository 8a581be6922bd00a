import { columnLines, countText, sizeText } from '../../../base/runtime/index.js'
import { wrapStory } from '../rehearsal/story-line.js'
import type { PoolReport, StreamReport, UpgradeReport } from './upgrade-report.js'

const INDENT = '  '

/** The lines of a report, at most `columns` wide. */
export function reportLines(report: UpgradeReport, columns = 80): string[] {
  const width = Math.max(40, columns)
  const { cluster, findings, pools, streams, hosts, pulled, notes, notPlayed, disruption } = report
  const wrapped = (text: string, indent = INDENT): string[] =>
    wrapStory(text.replaceAll(/\s+/g, ' '), width - indent.length - 2).map(
      (line, at) => `${indent}${at === 0 ? '' : '  '}${line}`,
    )
  const section = (title: string, lines: readonly string[]): string[] =>
    lines.length === 0 ? [] : ['', ...wrapped(title, ''), ...lines]
  const group = (effect: (typeof findings)[number]['effect']): string[] =>
    findings.filter((one) => one.effect === effect).flatMap(({ subject, says }) => wrapped(`${subject} ${says}`))
  const kinds = Object.entries(notPlayed).sort(([a, one], [b, other]) => other - one || (a < b ? -1 : 1))
  return [
    '',
    ...wrapped(
      `${report.scenario}: ${cluster.from} to ${cluster.to} on ${cluster.platform}, installed with ${cluster.installed}: ${countText(cluster.nodes, 'node')}, ${countText(cluster.hosts, 'host')}, ${countText(cluster.pools, 'pool')}`,
      '',
    ),
    ...wrapped(outcomeText(report)),
    ...section('Blocks the upgrade:', [...otherRefusal(report).flatMap((text) => wrapped(text)), ...group('blocks')]),
    ...section('Holds back a part of the cluster:', group('holds back')),
    ...section('Blocks the upgrade after this one:', group('blocks later')),
    ...section('To know:', group('warns')),
    ...section('Reboots; pools go on side by side:', poolLines(pools, width)),
    ...section('Streams of CoreOS:', [
      ...streams.flatMap((each) => wrapped(streamText(each, pools, cluster))),
      ...pools.flatMap((pool) => movedText(pool).flatMap((text) => wrapped(text))),
    ]),
    ...section('Hosts:', [
      ...hostLine('installed again', hosts.provisioned, wrapped),
      ...hostLine('inspected again', hosts.inspected, wrapped),
      ...hostLine('taken over by the new Ironic as they are', hosts.adopted, wrapped),
      ...hostLine('wait as before', hosts.waiting, wrapped),
    ]),
    ...section('Pulled:', [
      ...wrapped(
        `${sizeText(pulled.bytes)} of node images by ${countText(pulled.nodes, 'node')}, ${minutesText(pulled.secondsEach)} each; ${countText(pulled.images, 'image')} of the payload by pods${registriesText(pulled.registries)}`,
      ),
      ...wrapped(`Model: ${pulled.model}.`),
    ]),
    ...section(
      'A later change of a MachineConfig (--json has all policies):',
      disruption.filter(({ isOwn }) => isOwn).flatMap(({ of, does }) => wrapped(`${of}: ${does}`)),
    ),
    ...section(
      'Not played:',
      kinds.length === 0 ? [] : wrapped(kinds.map(([kind, count]) => `${count} ${kind}`).join(', ')),
    ),
    ...section(
      'Notes:',
      notes.flatMap((note) => wrapped(note)),
    ),
    '',
  ]
}

/** `, from quay.io (7)` */
function registriesText(registries: UpgradeReport['pulled']['registries']): string {
  const named = Object.entries(registries).sort(([a], [b]) => (a < b ? -1 : 1))
  return named.length === 0 ? '' : `, from ${named.map(([registry, count]) => `${registry} (${count})`).join(', ')}`
}

/** The refusal of the version operator, where no finding explains it. */
const otherRefusal = ({ refusal, findings }: UpgradeReport): string[] =>
  refusal === null || findings.some(({ effect }) => effect === 'blocks')
    ? []
    : [`the version operator refuses it: ${refusal}`]

function outcomeText({ outcome, seconds, refusal, findings }: UpgradeReport): string {
  const isBlocked = findings.some(({ effect }) => effect === 'blocks')
  const condition = isBlocked ? ', once nothing below blocks it' : ''
  const forced = refusal === null ? condition : ', by force, for the version operator had refused it'
  switch (outcome) {
    case 'completed':
      return `Completed after ${minutesText(seconds.upgrade ?? 0)}${forced}; the last node followed after ${minutesText(Math.max(seconds.nodes, 0))}.`
    case 'refused':
      return 'Refused, by force too.'
    case 'not completed':
      return `Not completed${refusal === null ? '' : forced}.`
  }
}

/** `12 min`, or `40 s` for less than a minute. */
const minutesText = (seconds: number): string => (seconds < 60 ? `${seconds} s` : `${Math.round(seconds / 60)} min`)

function poolLines(pools: readonly PoolReport[], width: number): string[] {
  const rows = pools.map((report) => {
    const { pool, nodes, maxUnavailable, atOnce, reboots } = report
    const rebooted = new Set(reboots.map(({ node }) => node))
    const counts = [`${rebooted.size} of ${nodes}`, `${atOnce} of ${maxUnavailable}`]
    return [INDENT + pool, ...counts, spanText(reboots), stateOfPool(report)]
  })
  const head = [`${INDENT}POOL`, 'REBOOTED', 'AT ONCE', 'MINUTES', 'STATE']
  const table = columnLines([head, ...rows], { gap: 2 })
  const order = pools.flatMap(({ pool, reboots }) =>
    reboots.length === 0
      ? []
      : wrapStory([`${pool}:`, ...reboots.map(({ node }) => node)].join(' '), width - 6).map(
          (line, at) => `${INDENT}${at === 0 ? '' : '  '}${line}`,
        ),
  )
  return [...table, ...order]
}

function stateOfPool({ paused, rendered, behind }: PoolReport): string {
  if (paused) return 'paused'
  if (!rendered) return 'not rendered'
  return behind.length === 0 ? 'done' : `${behind.length} behind`
}

/** `rhel-9, the default: 9.6.20250826-1, then 9.6.20251226-0; pools master, worker; 3.2 GiB pulled` */
function streamText(
  { stream, from, to, isDefault, bytes }: StreamReport,
  pools: readonly PoolReport[],
  { to: after }: UpgradeReport['cluster'],
): string {
  const versions =
    from === null
      ? `${to ?? ''} from ${after} on`
      : to === null
        ? `${from}, and not in ${after}`
        : `${from}, then ${to}`
  const own = pools.filter(({ streams }) => streams.after.includes(stream)).map(({ pool }) => pool)
  const used = own.length === 0 ? 'no node' : `${own.length === 1 ? 'pool' : 'pools'} ${own.join(', ')}`
  const pulled = bytes === 0 ? '' : `; ${sizeText(bytes)} pulled`
  return `${stream}${isDefault ? ', the default' : ''}: ${versions}; ${used}${pulled}`
}

/** Pools whose nodes change their stream, or run several. */
function movedText({ pool, streams: { before, after } }: PoolReport): string[] {
  if (after.length > 1) return [`the nodes of ${pool} run ${after.join(' and ')}`]
  const isSame = before.join() === after.join()
  return isSame || before.length === 0 ? [] : [`${pool} goes from ${before.join(' and ')} to ${after.join()}`]
}

/** Minutes of the first and of the last node that is back. */
function spanText(reboots: PoolReport['reboots']): string {
  const times = reboots.map(({ at }) => Math.round(at / 60))
  return times.length === 0 ? '-' : `${Math.min(...times)} to ${Math.max(...times)}`
}

const hostLine = (what: string, names: readonly string[], wrapped: (text: string) => string[]): string[] =>
  names.length === 0 ? [] : wrapped(`${what}: ${names.join(', ')}`)
