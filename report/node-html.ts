import { markup, type Html } from './html/html.js'
import { diskBar, timeChart, type Bar, type DiskPart, type ChartLane } from './html/charts.js'
import type { Tone } from './html/html-page.js'
import { htmlBadge, causeList, factList, foldText, htmlTable } from './html/parts.js'
import { elapsedText, sizeText } from '../base/runtime/index.js'
import type { DiskDrawing } from '../machine/index.js'
import type { NodeTimeline, StateSpan, TimelineMark } from '../control/index.js'
import type { NodeDetails } from './node-details.js'
import { exchangesHtml } from './exchanges-html.js'

/** Everything about a node, as sections of a report. */
export function nodeHtml(details: NodeDetails): Html {
  const { timeline, machine, disks, systemJournal } = details
  const { node, waiting, causes, remedy } = timeline
  return markup`<section class="card ${toneOfState(node.provision_state)}">
<h3>${node.name ?? node.uuid} ${htmlBadge(node.provision_state, toneOfState(node.provision_state))}</h3>
${factList([
  ['Node', markup`<code>${node.uuid}</code>`],
  ['Machine', node.machine],
  ['Power', node.power_state],
  ['Waits for', waiting && `${waiting.what}${waiting.until === null ? '' : `, until ${timeText(waiting.until)}`}`],
])}
${causeList(
  causes.map(({ text, at }) => markup`${text}${at !== null && markup` <small>${timeText(at)}</small>`}`),
  remedy,
)}
${timelineHtml(timeline)}
${stepsHtml(timeline)}
${disks.length > 0 && markup`<h3>Disks</h3>${disks.map(diskHtml)}`}
${machine?.firstBoot && ignitionHtml(machine.firstBoot)}
${machine && foldText(`Console (${machine.console.length} lines)`, machine.console.join('\n'))}
${foldText(
  `System journal (${systemJournal.length} lines)`,
  systemJournal
    .map(({ at, from, message }) => `${timeText(new Date(at).toISOString())} ${from}: ${message}`)
    .join('\n'),
)}
${exchangesHtml(details)}
</section>`
}

/** Lab time within a day; reports name the day once. */
const timeText = (iso: string): string => iso.slice(11, 23).replace(/\.000$/, '')

export function toneOfState(state: string): Tone {
  if (state.endsWith('failed') || state === 'error') return 'bad'
  if (state === 'active') return 'good'
  if (/wait|hold/.test(state)) return 'wait'
  return ['enroll', 'manageable', 'available', 'deleted', 'rescue'].includes(state) ? 'rest' : 'work'
}

const MARKS: readonly { label: string; kinds: readonly TimelineMark['kind'][]; tone: Tone }[] = [
  { label: 'Heartbeats', kinds: ['heartbeat'], tone: 'good' },
  { label: 'Calls', kinds: ['call', 'download', 'pull'], tone: 'work' },
  { label: 'Commands', kinds: ['command'], tone: 'work' },
  { label: 'BMC', kinds: ['bmc'], tone: 'rest' },
  { label: 'Power and boots', kinds: ['power', 'boot'], tone: 'note' },
  { label: 'Faults', kinds: ['fault'], tone: 'bad' },
]

/** A client that looks how far it is: there may be thousands. */
const isLook = ({ kind, text, isBad }: TimelineMark): boolean =>
  kind === 'call' && !isBad && text.startsWith('client to ironic: GET ')

function timelineHtml(timeline: NodeTimeline): Html {
  const { states, steps, marks, since, now, isCut } = timeline
  const from = Date.parse(since ?? now)
  // A node that rests is drawn up to its last change.
  const rests = states.at(-1)?.from
  const last = Math.max(
    from,
    rests ? Date.parse(rests) : from,
    ...marks.map(({ at, duration }) => Date.parse(at) + duration),
  )
  const to = timeline.waiting ? Date.parse(now) : last
  const end = (at: string | null): number => (at === null ? to : Date.parse(at))
  const all: ChartLane[] = [
    { label: 'State', bars: states.map((span) => stateBar(span, from, end(span.to))) },
    {
      label: 'Steps',
      bars: steps.map(({ interface: owner, step, from: began, to: ended, outcome }) => ({
        from: Date.parse(began),
        to: end(ended),
        tone: outcome === 'failed' ? 'bad' : outcome === 'done' ? 'good' : 'work',
        title: `${owner}.${step}: ${outcome}, ${elapsedText(end(ended) - Date.parse(began))}`,
      })),
    },
    ...MARKS.map(({ label, kinds, tone }) => ({
      label,
      marks: marks
        .filter((mark) => kinds.includes(mark.kind) && !isLook(mark))
        .map(({ at, text, isBad }) => ({
          from: Date.parse(at),
          tone: isBad ? ('bad' as const) : tone,
          title: `${timeText(at)} ${text}`,
        })),
    })),
  ]
  const lanes = all.filter(({ bars = [], marks: some = [] }) => bars.length + some.length > 0)
  const axis = [new Date(from).toISOString(), new Date((from + to) / 2).toISOString(), new Date(to).toISOString()]
  return markup`<h3>Timeline <small>lab time of ${axis[0]!.slice(0, 10)}, ${elapsedText(to - from)}</small></h3>
${isCut && markup`<p class="soft">The journal no longer has its beginning.</p>`}
${timeChart(lanes, { from, to, axis: axis.map(timeText) })}
<ul class="legend"><li class="work"><i></i>at work</li><li class="wait"><i></i>waiting</li><li class="good"><i></i>done</li><li class="bad"><i></i>failed</li><li class="rest"><i></i>at rest</li></ul>
${foldText(
  `States (${states.length})`,
  states
    .map(
      ({ state, from: began, lastError }) =>
        `${began === null ? 'before      ' : timeText(began)}  ${state}${lastError === null ? '' : `: ${lastError}`}`,
    )
    .join('\n'),
)}`
}

function stateBar({ state, from, lastError }: StateSpan, first: number, to: number): Bar {
  const began = from === null ? first : Date.parse(from)
  const error = lastError === null ? '' : `: ${lastError}`
  return { from: began, to, tone: toneOfState(state), title: `${state}, ${elapsedText(to - began)}${error}` }
}

function stepsHtml({ steps, plan }: NodeTimeline): Html | null {
  const left = plan?.steps.filter(({ status }) => status === 'waiting') ?? []
  if (steps.length + left.length === 0) return null
  const askedBy = (owner: string, step: string): string =>
    plan?.steps.find((one) => one.interface === owner && one.step === step)?.askedBy ?? ''
  const tone = { done: 'good', failed: 'bad', running: 'work' } as const
  return markup`<h3>Steps</h3>${htmlTable(
    [
      { title: 'Step' },
      { title: 'Began', kind: 'time' },
      { title: 'Took', kind: 'number' },
      { title: 'Outcome' },
      { title: 'Stages', kind: 'wide' },
    ],
    [
      ...steps.map(({ flow, interface: owner, step, from, to, outcome, stages }) => [
        markup`${flow}: ${owner}.${step}${plan?.flow === flow && markup` <small>for the ${askedBy(owner, step)}</small>`}`,
        timeText(from),
        to === null ? '' : elapsedText(Date.parse(to) - Date.parse(from)),
        htmlBadge(outcome, tone[outcome]),
        stages.map(({ stage, percent }) => `${stage}${percent === null ? '' : ` (${percent} %)`}`).join('; '),
      ]),
      ...left.map(({ interface: owner, step, askedBy: who }) => [
        markup`${plan!.flow}: ${owner}.${step} <small>for the ${who}</small>`,
        '',
        '',
        htmlBadge('waiting', 'rest'),
        '',
      ]),
    ],
  )}`
}

const PARTITION_TONES: readonly Tone[] = ['work', 'good', 'wait', 'note', 'rest']

function diskHtml({
  name,
  size,
  model,
  serial,
  table: kind,
  partitions,
  written,
  lastRun,
  boot,
  problem,
}: DiskDrawing): Html {
  const parts = partitions.map(({ number, name: title, offset, length, filesystem }, index): DiskPart => ({
    offset,
    length,
    tone: PARTITION_TONES[index % PARTITION_TONES.length]!,
    title: `${number} ${title ?? ''}: ${filesystem?.type ?? 'no filesystem'}, ${sizeText(length)} at ${sizeText(offset)}`,
  }))
  const writes = written.map(({ offset, length, at, by, boot: inBoot }): DiskPart => ({
    offset,
    length,
    tone: inBoot === lastRun?.boot ? ('wait' as const) : ('rest' as const),
    title: `${by} wrote ${sizeText(length)} at ${sizeText(offset)}, ${timeText(new Date(at).toISOString())}`,
  }))
  return markup`<div class="disk">
<p><b>${name}</b> ${model}, ${serial}, ${sizeText(size)}${kind !== null && `, ${kind}`}</p>
${problem !== null && markup`<p class="bad">${problem}</p>`}
${diskBar(size, parts, 'partitions', `partitions of ${name}`)}${diskBar(size, writes, 'writes', `writes to ${name}`)}
<ul class="legend">${parts.map(({ tone, title }) => markup`<li><i class="${tone}"></i>${title}</li>`)}${
    lastRun && markup`<li><i class="wait"></i>${sizeText(lastRun.bytes)} changed in the last boot that wrote</li>`
  }</ul>
${
  boot &&
  factList([
    ['System', boot.title],
    ['Kernel arguments', markup`<code>${boot.kernelArguments.join(' ')}</code>`],
    [
      'Ignition config',
      boot.ignition &&
        markup`${sizeText(boot.ignition.size)}, mode ${boot.ignition.mode.toString(8).padStart(4, '0')}, sha256 <code>${boot.ignition.sha256}</code>`,
    ],
    ['Next boot', boot.firstBoot ? 'is a first boot: Ignition will run' : 'Ignition does not run again'],
  ])
}
</div>`
}

function ignitionHtml({
  ignitionVersion,
  configDigest,
  hostname,
  users,
  files,
  units,
  fetched,
  failure,
  failedStage,
  plannedDiskChanges,
}: NonNullable<NonNullable<NodeDetails['machine']>['firstBoot']>): Html {
  return markup`<h3>Ignition ${failure === null ? htmlBadge('applied', 'good') : htmlBadge('failed', 'bad')}</h3>
${failure !== null && markup`<ol class="causes"><li>${failedStage !== null && `in its stage ${failedStage}: `}${failure}</li></ol>`}
${factList([
  ['Version', ignitionVersion],
  ['Config', configDigest !== null && markup`sha256 <code>${configDigest}</code>`],
  ['Host name', hostname],
  [
    'Users',
    users.map(
      ({ name, sshKeyFingerprints: keys }) =>
        markup`${name}${keys.length > 0 && markup` <small>${keys.join(', ')}</small>`}<br>`,
    ),
  ],
  ['Files', files.map((path) => markup`<code>${path}</code><br>`)],
  ['Units', units.map((unit) => markup`<code>${unit}</code><br>`)],
  ['Fetched', fetched.map((url) => markup`<code>${url}</code><br>`)],
  ['Planned disks', plannedDiskChanges.map(({ section, device, what }) => markup`${section} ${device}: ${what}<br>`)],
])}`
}
