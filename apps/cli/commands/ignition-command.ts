import { agentOf } from '../../../coreos/index.js'
import {
  dataUrlBytes,
  findingLine,
  isExperimental,
  mergeAll,
  NEWEST_STABLE,
  parseIgnition,
  readIgnition,
  renderIgnition,
  resourceBytes,
  summarizeIgnition,
  translateIgnition,
  validateIgnition,
  type FetchResource,
  type IgnitionReport,
  type SpecConfig,
  type SpecVersion,
} from '../../../ignition/index.js'
import { proxiesOfVariables } from '../../../base/bytes/index.js'
import { ignitionFetch } from '../../../lab/index.js'
import { defined, systemClock, UserError } from '../../../base/runtime/index.js'
import type { Environment } from '../environment.js'
import { agentLines } from './ignition-agent.js'
import { readInputs, refuseButane, type InputFile } from '../options/input-files.js'
import type { CommandOptionValues } from '../options/resolve-options.js'
import type {
  IGNITION_VALIDATE_OPTIONS,
  IGNITION_MERGE_OPTIONS,
  IGNITION_SHOW_OPTIONS,
} from '../options/option-lists.js'

type ValidateOptions = CommandOptionValues<(typeof IGNITION_VALIDATE_OPTIONS)[number]>
type MergeOptions = CommandOptionValues<(typeof IGNITION_MERGE_OPTIONS)[number]>
type ShowOptions = CommandOptionValues<(typeof IGNITION_SHOW_OPTIONS)[number]>

/** `ironstage ignition validate FILE...`: what Ignition says of each. Exit code 1 when it refuses one. */
export async function ignitionValidate(
  { json = false }: ValidateOptions,
  environment: Environment,
  files: readonly string[],
): Promise<number> {
  const { stdout } = environment
  let refused = 0
  for (const input of await readInputs(files, environment)) {
    const report = validateIgnition(input.bytes)
    if (!report.valid) refused++
    stdout.either(json, reportJson(input, report), reportText(input, report))
  }
  return refused === 0 ? 0 : 1
}

const reportJson = ({ name, bytes }: InputFile, report: IgnitionReport) => ({
  file: name,
  valid: report.valid,
  version: report.version,
  refusal: report.refusal,
  ...defined({ hint: report.findings.length === 0 && !report.valid ? hintFor(bytes) : undefined }),
  findings: report.findings.map(({ kind, path, place, message }) => ({
    kind,
    path,
    line: place?.line ?? null,
    column: place?.column ?? null,
    message,
  })),
})

function reportText({ name, bytes }: InputFile, report: IgnitionReport): string[] {
  const lines = report.findings.map((finding) => `${name}: ${findingLine(finding)}`)
  if (report.valid) {
    const experimental = isExperimental(report.version!) ? ', experimental: later Ignitions will refuse it' : ''
    lines.push(`${name}: valid, spec ${report.version}${experimental}`)
  } else if (report.findings.length > 0) lines.push(`${name}: refused`)
  else {
    const hint = hintFor(bytes)
    lines.push(`${name}: refused: ${report.refusal}${hint === null ? '' : ` (${hint})`}`)
  }
  return lines
}

/** A clearer sentence than Ignition's for bytes that are no config of spec 3 at all. */
function hintFor(bytes: Uint8Array): string | null {
  try {
    parseIgnition(bytes)
    return null
  } catch (error) {
    if (!(error instanceof UserError)) throw error
    return [error.message, ...(error.remedy === undefined ? [] : [error.remedy])].join('. ').replace(/\.$/, '')
  }
}

/**
 * `ironstage ignition merge FILE...`: each merged onto those before it, as one config; with `--follow` also what they
 * refer to.
 */
export async function ignitionMerge(
  { spec, follow = false }: MergeOptions,
  environment: Environment,
  files: readonly string[],
): Promise<number> {
  const input = await readConfigs(files, environment)
  const reads = input.map(({ name, bytes }) => readIgnition(bytes, name))
  for (const [index, { name }] of input.entries()) warn(name, reads[index]!.report, environment)
  const fetch = fetchFor(environment)
  const whole = follow ? await Promise.all(input.map(({ bytes }) => renderIgnition(bytes, fetch))) : reads
  const { version, config } = mergeAll(whole)
  printConfig(follow ? withoutReferences(config) : config, version, spec as SpecVersion | undefined, environment)
  return 0
}

/** Removes references that were followed: Ignition would merge them again. */
function withoutReferences(config: SpecConfig): SpecConfig {
  const { config: _, ...header } = config.ignition ?? {}
  return { ...config, ignition: header }
}

/** `ironstage ignition translate FILE`: the same config in another version of the spec. */
export async function ignitionTranslate(
  { spec = NEWEST_STABLE }: CommandOptionValues<'spec'>,
  environment: Environment,
  files: readonly string[],
): Promise<number> {
  const [input] = await readConfigs(files.slice(0, 1), environment)
  const { version, config, report } = readIgnition(input!.bytes, input!.name)
  warn(input!.name, report, environment)
  printConfig(config, version, spec as SpecVersion, environment)
  return 0
}

/** Reads configs to work on; a Butane file is refused. */
async function readConfigs(files: readonly string[], environment: Environment): Promise<InputFile[]> {
  const configs = await readInputs(files, environment)
  for (const { name, bytes } of configs) refuseButane(name, bytes)
  return configs
}

/** Warnings go beside the config that is printed. */
function warn(name: string, { findings }: IgnitionReport, { stderr }: Environment): void {
  for (const finding of findings) stderr.line(`${name}: ${findingLine(finding)}`)
}

function printConfig(
  config: SpecConfig,
  from: SpecVersion,
  to: SpecVersion | undefined,
  { stdout }: Environment,
): void {
  const translated = translateIgnition(config, from, to ?? from)
  const { ignition, ...rest } = translated
  stdout.document({ ignition, ...rest })
}

/** `ironstage ignition show FILE`: what is in it, without secrets; `--cat PATH` prints one file that it writes. */
export async function ignitionShow(
  { cat, json = false }: ShowOptions,
  environment: Environment,
  files: readonly string[],
): Promise<number> {
  const [input] = await readConfigs(files.slice(0, 1), environment)
  const { config, report } = readIgnition(input!.bytes, input!.name)
  if (cat !== undefined) return catFile(config, cat, environment)
  warn(input!.name, report, environment)
  const summary = { ...summarizeIgnition(parseIgnition(config)), ...alsoIn(config) }
  environment.stdout.either(json, summary, summaryText(summary))
  return 0
}

async function catFile(config: SpecConfig, path: string, environment: Environment): Promise<number> {
  const file = config.storage?.files?.find((one) => one.path === path)
  if (!file)
    throw new UserError('no-written-file', `the config writes no file ${path}`, {
      remedy: 'ironstage ignition show FILE lists those it writes',
    })
  const fetch = fetchFor(environment)
  for (const resource of [file.contents ?? {}, ...(file.append ?? [])]) {
    const bytes = await resourceBytes(resource, fetch)
    if (bytes) environment.stdout.contents(bytes)
  }
  return 0
}

/** Fetches what configs refer to. */
const fetchFor = ({ variables, stopped }: Environment): FetchResource =>
  ignitionFetch({ clock: systemClock(), signal: stopped, proxies: proxiesOfVariables(variables) })

/** Parts of a config that a summary of names and paths leaves out, without secrets. */
function alsoIn(config: SpecConfig) {
  const { ignition, kernelArguments, storage } = config
  const agent = agentOf(config)
  const references = [...(ignition?.config?.merge ?? []), ignition?.config?.replace ?? {}]
  return {
    directories: (storage?.directories ?? []).map(({ path }) => path ?? ''),
    links: (storage?.links ?? []).map(({ path, target }) => `${path} -> ${target}`),
    disks: (storage?.disks ?? []).map(({ device }) => device ?? ''),
    filesystems: (storage?.filesystems ?? []).map(({ device, format }) => `${device} ${format ?? ''}`.trim()),
    kernelArguments: kernelArguments?.shouldExist ?? [],
    // Only a config for a live system starts the agent.
    startsAgent: agent ? agentLines(agent) : [],
    refersTo: references.flatMap(({ source }) => (source ? [dataUrlBytes(source) ? 'data URL' : source] : [])),
  }
}

function summaryText(summary: object): string[] {
  return Object.entries(summary).flatMap(([name, value]) => {
    const entries: unknown[] = Array.isArray(value) ? value : value === null ? [] : [value]
    const label = name.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`)
    return entries.map((entry, index) => `${(index === 0 ? label : '').padEnd(16)}  ${entryText(entry)}`)
  })
}

function entryText(entry: unknown): string {
  if (typeof entry !== 'object' || entry === null) return String(entry)
  const { name, sshKeyFingerprints } = entry as { name: string; sshKeyFingerprints: string[] }
  return [name || '(no name)', ...sshKeyFingerprints].join('  ')
}
