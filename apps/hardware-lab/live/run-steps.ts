import { sha256Hex } from '../../../base/bytes/index.js'
import type { JsonObject } from '../../../base/wire/index.js'
import { runStep, withBootNonce } from '../../runs/index.js'
import { defined, errorChain, UserError, userError } from '../../../base/runtime/index.js'
import type { Host } from '../hosts/host.js'
import type { FoundDisk } from '../../../targets/index.js'
import type { HostContext } from '../pipeline/context.js'
import type { HostFacts } from '../pipeline/run-state.js'
import { attachedTarget, outcomeUnknownError } from './attached-target.js'
import { IMAGE_FILE_URL, imageFileOf } from '../images/host-image-files.js'

/** Runs the steps of a host that have not ended yet. */
export async function runSteps(context: HostContext, signal: AbortSignal): Promise<'done'> {
  const { host, state, access, clock, random, logger, managers } = context
  const steps = hostStepsOf(host)
  const config = await access.ignition(host, signal)
  if (state.nonce === null && verifiesBoot(host)) {
    const { nonce } = withBootNonce(config, random)
    state.nonce = nonce
    await context.save()
  }
  const ignition = state.nonce === null ? config : withBootNonce(config, random, state.nonce.secret).config
  while (state.steps.done < steps.length) {
    const { step, args } = steps[state.steps.done]!
    await using on = await access.openTarget(host, { readOnly: false, signal })
    refuseOtherDisk(host, state.facts, on.disk)
    const { runs, attempt, done } = state.steps
    const isOfEarlierProcess = runs.length > 0
    if (isOfEarlierProcess) await refuseRebooted(context, await on.target.boot())
    const attached = attachedTarget(on, {
      prefix: `${context.runId}-${host.name}-${done}-${attempt}`,
      known: runs,
      starting: async (id) => {
        if (runs.includes(id)) return
        runs.push(id)
        await context.save()
      },
    })
    try {
      await runStep({
        step,
        on: attached,
        clock,
        random,
        logger,
        signal,
        nodeUuid: nodeUuid(context.runId, host.name),
        args: argumentsOf(host, step, args, ignition),
        ...defined({ managers }),
        onEvent: (event) => {
          const where = { host: host.name, stage: 'steps' } as const
          if (event.event === 'percent') context.report({ event: 'progress', ...where, percent: event.percent })
          else if (event.event === 'stage')
            context.report({ event: 'progress', ...where, text: `${step}: ${event.stage}` })
          else if (event.event === 'line') context.report({ event: 'progress', ...where, text: event.line })
        },
      })
    } catch (error) {
      // A new attempt has programs of its own; only one that failed for good reason is made again.
      if (signal.aborted || userError(error)?.code === 'outcome-unknown') throw error
      state.steps = { done, attempt: attempt + 1, runs: [] }
      await context.save()
      // Its programs ended badly while no process watched, as those of a rehearsed machine do when the rehearsal is killed.
      if (!isOfEarlierProcess) throw error
      const text = `${step}: the attempt that was interrupted has failed, and is made again: ${errorChain(error).join(': ')}`
      context.report({ event: 'progress', host: host.name, stage: 'steps', text })
      continue
    }
    state.steps = { done: done + 1, attempt: 1, runs: [] }
    await context.save()
  }
  return 'done'
}

/** Another disk may have been plugged in at the place since the host was checked, as while no process was at work. */
function refuseOtherDisk(host: Host, { diskSize, diskModel }: HostFacts, { size, model }: FoundDisk): void {
  if (host.disk['by-path'] === undefined || diskSize === null) return
  if (size === diskSize && model === diskModel) return
  const text = (...parts: unknown[]) => parts.filter(Boolean).join(', ')
  const now = text(`${size} bytes`, model)
  const known = text(`${diskSize} bytes`, diskModel)
  throw new UserError(
    'hardware-changed',
    `${host.name} is not touched: the disk at its place is ${now}, and was ${known}`,
    { remedy: 'find out which disk is plugged in there' },
  )
}

/** A machine that was booted has lost its programs: whether they had ended is not known. */
function refuseRebooted({ state, host }: HostContext, boot: string): Promise<void> {
  const before = state.live?.identity['bootId']
  if (typeof before === 'string' && before.toLowerCase() !== boot.toLowerCase())
    throw outcomeUnknownError(host.name, 'it was booted while a step ran, so the outcome of that step is lost')
  return Promise.resolve()
}

export const verifiesBoot = (host: Host): boolean =>
  host['verify-boot'] !== false && hostStepsOf(host).some(({ step }) => step === 'install_coreos')

export const hostStepsOf = ({ steps = ['install_coreos'] }: Host): { step: string; args: Record<string, unknown> }[] =>
  steps.map((each) => (typeof each === 'string' ? { step: each, args: {} } : { args: {}, ...each }))

function argumentsOf(host: Host, step: string, args: Record<string, unknown>, ignition: object): JsonObject {
  if (step !== 'install_coreos') return args as JsonObject
  const { image, hostname = host.name } = host
  return {
    ignition,
    hostname,
    ...defined({
      append_karg: host['append-kargs']?.length ? host['append-kargs'] : undefined,
      delete_karg: host['delete-kargs']?.length ? host['delete-kargs'] : undefined,
      image_url: image === undefined ? undefined : imageFileOf(host) === undefined ? image : IMAGE_FILE_URL,
      image_sha256: host['image-sha256'],
    }),
    ...args,
  } as JsonObject
}

/** UUID of the node that stands for a host: the same for each process of a run, since file names on the target contain it. */
function nodeUuid(run: string, host: string): string {
  const hex = sha256Hex(`${run} ${host}`)
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`
}
