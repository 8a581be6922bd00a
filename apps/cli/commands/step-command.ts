import { knownStep, loadManagers, runStep, type StepRunEvent } from '../../runs/index.js'
import { openStateFolder } from '../../../lab/index.js'
import { defined, systemClock, systemRandom, UserError, readNamedText, readJson } from '../../../base/runtime/index.js'
import type { HardwareManager, Step } from '../../../steps/index.js'
import type { JsonObject } from '../../../base/wire/index.js'
import type { Environment } from '../environment.js'
import { readOneMachine } from '../options/hardware-file.js'
import { makeCacheRequest } from '../options/cache-request.js'
import { logTo } from '../output/command-log.js'
import type { CommandOptionValues } from '../options/resolve-options.js'
import { readStandardInput } from '../options/standard-input.js'
import { formatStepList, showText, summarizeStep } from './step-text.js'
import { onlyShown, openFor, realTarget } from '../options/target-options.js'
import type { STEP_LIST_OPTIONS, STEP_RUN_OPTIONS } from '../options/option-lists.js'
import { usageError } from '../usage-error.js'
import { ERRORS } from '../errors.js'

type StepListOptions = CommandOptionValues<(typeof STEP_LIST_OPTIONS)[number]>
type StepRunCommandOptions = CommandOptionValues<(typeof STEP_RUN_OPTIONS)[number]>

/** A step and the hardware manager that offers it. */
export interface Offered {
  step: Step
  manager: HardwareManager
}

/** `ironstage step list`: every step that an agent here would offer. */
export async function stepList(options: StepListOptions, { stdout }: Environment): Promise<number> {
  const offered = await offeredSteps(options.steps)
  if (options.json) for (const one of offered) stdout.json(summarizeStep(one))
  else stdout.lines(formatStepList(offered))
  return 0
}

/** `ironstage step show NAME`: what a step takes, and how it is asked for. */
export async function stepShow(options: StepListOptions, { stdout }: Environment, name: string): Promise<number> {
  const offered = await offeredSteps(options.steps)
  knownStep(
    offered.map(({ manager }) => manager),
    name,
  )
  const found = offered.find(({ step }) => step.name === name)!
  stdout.either(options.json, { ...summarizeStep(found), args: found.step.args }, showText(found))
  return 0
}

async function offeredSteps(files: readonly string[] = []): Promise<Offered[]> {
  const managers = await loadManagers(files)
  return managers.flatMap((manager) => manager.steps.map((step) => ({ step, manager })))
}

/** `ironstage step run NAME`: one step on a simulated machine, with no Ironic. */
export async function stepRun(options: StepRunCommandOptions, environment: Environment, name: string): Promise<number> {
  const real = realTarget(options)
  const { stdout, stopped } = environment
  const { 'state-dir': stateDir, machine: id, json = false, plan = false } = options
  if ((stateDir === undefined) !== (id === undefined))
    throw usageError(
      '--state-dir and --machine go together',
      'name a state folder and one of its machines, or neither for a new machine',
    )
  if (real && id !== undefined) throw usageError('--machine is for a simulated machine', 'leave it out')
  for (const [name, isUsed] of [
    ['--target', real !== null],
    ['--machine', id !== undefined],
  ] as const)
    if (isUsed && options.hardware !== undefined)
      throw usageError(
        `--hardware is for a new simulated machine, and ${name} names another one`,
        `leave out --hardware or ${name}`,
      )
  const hardware = options.hardware === undefined ? undefined : await readOneMachine(options.hardware)
  const managers = await loadManagers(options.steps ?? [])
  const args = await readArgs(options.args, environment)
  const clock = systemClock()
  if (real) {
    knownStep(managers, name)
    const shown = await onlyShown(real, options, `the step ${name}`, environment, clock)
    if (shown !== undefined) return shown
  }
  const images = await makeCacheRequest(options, environment)
  await using on = real ? await openFor({ ...real, images }, environment, clock, json) : undefined
  const say = (event: object, text: string | null) => {
    if (json) stdout.json(event)
    else if (text !== null) stdout.line(text)
  }
  let percent = -Infinity
  using folder = stateDir === undefined ? undefined : await openStateFolder(stateDir)
  const { value, seconds } = await runStep({
    step: name,
    args,
    managers,
    plan,
    signal: stopped,
    ...defined({ machine: folder && id !== undefined ? { folder, id } : undefined }),
    ...(on ? { on } : { images }),
    ...defined({ hardware }),
    clock,
    random: systemRandom,
    logger: logTo(environment, json),
    onEvent: (event) => {
      if (event.event === 'stage') percent = -Infinity
      if (event.event === 'percent' && !json) {
        // Programs report their percentage many times a second.
        const { percent: now } = event
        if (now === percent || (now < percent + 10 && now !== 100)) return
        percent = now
      }
      say(event, eventText(name, event))
    },
  })
  say(
    { event: 'result', step: name, plan, seconds, result: value },
    plan ? `${name} is planned; nothing was written` : `${name} is done, ${Math.round(seconds * 1000)} ms`,
  )
  if (!json && value !== null) stdout.document(value)
  return 0
}

function eventText(step: string, event: StepRunEvent): string | null {
  switch (event.event) {
    case 'started':
      return `${event.plan ? 'planning' : 'running'} ${step} on ${event.real ? '' : 'the simulated machine '}${event.machine}`
    case 'stage':
      return `  ${step}: ${event.stage}`
    case 'percent':
      return `  ${step}: ${event.percent} %`
    case 'line':
      return /^(> )?Read disk/.test(event.line) ? null : `  | ${event.line}`
    case 'planned':
      return `  would ${plannedText(event)}`
  }
}

function plannedText(event: StepRunEvent & { event: 'planned' }): string {
  switch (event.write) {
    case 'run':
      return `run ${event.command}${event.stdin_bytes === null ? '' : ` with ${event.stdin_bytes} bytes of input`}`
    case 'file':
      return `write ${event.path}, ${event.bytes} bytes${event.mode === null ? '' : `, mode ${event.mode}`}`
    case 'remove':
      return `remove ${event.path}`
  }
}

/** Errors never repeat the arguments: they may hold secrets. */
async function readArgs(source: string | undefined, environment: Environment): Promise<JsonObject> {
  if (source === undefined) return {}
  const inline = source.trimStart().startsWith('{')
  const wrong = (problem: string, cause?: unknown) =>
    new UserError('step-args', `${inline ? 'the JSON of --args' : `the arguments in ${source}`} ${problem}`, {
      kind: 'usage',
      remedy: ERRORS['step-args'].remedy,
      ...defined({ cause }),
    })
  let text = source
  try {
    if (source === '-') text = (await readStandardInput(environment)).toString()
    else if (!inline) text = await readNamedText(source)
  } catch (cause) {
    throw wrong('cannot be read', cause)
  }
  let value: unknown
  try {
    value = readJson(text, 'the arguments of the step')
  } catch {
    // The parser's own message quotes the text.
    throw wrong(`${inline ? 'is' : 'are'} not JSON`)
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw wrong(`${inline ? 'is' : 'are'} no object`)
  return value as JsonObject
}
