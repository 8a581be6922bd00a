import { defined } from '../../../base/runtime/index.js'
import {
  explainHost,
  manifestFindingLine,
  ramdiskSource,
  wantedHosts,
  type ExplainedCall,
  type ExplainOptions,
  type HostExplanation,
} from '../../../baremetal-operator/index.js'
import type { IronicRelease } from '../../../base/wire/index.js'
import { hardwareOf, hardwareOfHost, type HardwareFleet, type MachineHardware } from '../../../machine/index.js'
import type { Environment } from '../environment.js'
import { readHardware } from '../options/hardware-file.js'
import { readInputs } from '../options/input-files.js'
import type { CommandOptionValues } from '../options/resolve-options.js'
import type { BMH_EXPLAIN_OPTIONS } from '../options/option-lists.js'

/**
 * `ironstage bmh explain FILE...`: what BareMetal Operator asks of Ironic for the hosts in these files. Exit code 1 for a
 * manifest that is wrong, and for a host that does not come through.
 */
export async function bmhExplain(
  {
    'ironic-release': release,
    hardware: hardwareFile,
    json = false,
  }: CommandOptionValues<(typeof BMH_EXPLAIN_OPTIONS)[number]>,
  environment: Environment,
  files: readonly string[],
): Promise<number> {
  const { stdout, stderr } = environment
  const manifests = await readInputs(files, environment, 'manifest')
  const { hosts, findings } = wantedHosts(
    manifests.map(({ name, bytes }) => ({ name, text: Buffer.from(bytes).toString() })),
  )
  const line = (value: object) => stdout.json(value)
  for (const finding of findings)
    if (json) line({ event: 'finding', ...finding })
    else stderr.lines([manifestFindingLine(finding), ...(finding.shown ?? []).map((text) => `    | ${text}`)])
  const ramdisk = ramdiskSource(environment.variables)
  const fleet = hardwareFile === undefined ? undefined : await readHardware(hardwareFile)
  // As with kubectl apply, a wrong object is refused by itself.
  let isFine = findings.every(({ kind }) => kind !== 'error')
  for (const [index, wanted] of hosts.entries()) {
    environment.stopped.throwIfAborted()
    const options: ExplainOptions = defined({
      release: release === undefined ? undefined : (release as IronicRelease),
      ramdisk,
      hardware: fleet && (hardwareOfHost(fleet, wanted.name) ?? sharedHardware(fleet, index + 1)),
    })
    const explained = await explainHost(wanted, options)
    isFine &&= explained.ok
    if (json) for (const event of events(explained)) line(event)
    else stdout.lines(explanationText(explained))
  }
  return isFine ? 0 : 1
}

/** Hardware of the place that a host has among those of the files; undefined where the file has only named hosts. */
const sharedHardware = (fleet: HardwareFleet, place: number): MachineHardware | undefined =>
  fleet.some(({ host }) => host === undefined) ? hardwareOf(fleet, place) : undefined

function events({ name, file, document, bmcAddress, notes, states, ok }: HostExplanation): object[] {
  return [
    { event: 'host', host: name, file, document, bmc: bmcAddress, notes },
    ...states.flatMap(({ state, why, calls, events: published, error }) => [
      { event: 'state', host: name, state, why, error, events: published },
      ...calls.map((call) => ({ event: 'call', host: name, state, ...call })),
    ]),
    { event: 'end', host: name, ok },
  ]
}

function explanationText({ name, file, document, bmcAddress, notes, states, ok }: HostExplanation): string[] {
  const shown = states.flatMap(({ state, why, calls, events: published, error }) => {
    const known = calls.filter((call) => call.known).length
    return [
      '',
      `${state}: ${why}`,
      ...calls.filter((call) => !call.known).flatMap(callLines),
      ...(known > 0 ? [`  (and ${known} of the reads above again, as in every pass of the operator)`] : []),
      ...published.map(({ reason, message }) => `  event ${reason}: ${message.trim()}`),
      ...(error === null ? [] : [`  ${error}`]),
    ]
  })
  return [
    `${name} (${file}, document ${document}), BMC ${bmcAddress ?? 'unknown'}`,
    ...notes.map((note) => `  note: ${note}`),
    ...shown,
    '',
    ...(ok ? [] : [`${name} does not reach its final state.`]),
  ]
}

function callLines({ method, path, microversion, body, status, refusal, why, times }: ExplainedCall): string[] {
  const version = microversion === null ? 'no microversion' : microversion
  const often = times > 1 ? `, ${times} times` : ''
  return [
    `  ${method} ${path} [${version}] -> ${status}${often}`,
    `      ${why}`,
    ...(refusal === null || status === 404 ? [] : [`      Ironic says: ${refusal}`]),
    ...(body === null
      ? []
      : formatPatchBody(body)
          .split('\n')
          .map((text) => `      ${text}`)),
  ]
}

/** A patch: an operation a line. */
const formatPatchBody = (body: unknown): string =>
  Array.isArray(body) ? body.map((one) => JSON.stringify(one)).join('\n') : JSON.stringify(body, null, 2)
