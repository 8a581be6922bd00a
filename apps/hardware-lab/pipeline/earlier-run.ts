import { join } from 'node:path'
import { defined, tryLock, UserError, randomUuid } from '../../../base/runtime/index.js'
import type { RunHostsOptions } from './run-hosts.js'
import {
  newHostState,
  explainFolderError,
  type HostRunState,
  type RunFolder,
  type HostsRunRecord,
} from './run-state.js'

/** Options for a state folder that may already have a run. */
export type RunStart = Pick<RunHostsOptions, 'resume' | 'restart' | 'checkOnly'>

const earlierRunError = (message: string, remedy: string): UserError =>
  new UserError('run-state', message, { kind: 'usage', remedy })

/**
 * Refuses to begin over a run that has not ended: it knows which programs may still write to disks.
 *
 * @throws UserError `run-state` (usage)
 */
export async function refuseUnfinished(
  folder: RunFolder,
  { resume = false, restart = false, checkOnly = false }: RunStart,
): Promise<void> {
  const before = await folder.run()
  if (resume || !before || before.endedAt !== null || before.checkOnly) return
  const unfinished = `the run ${before.id} in ${folder.path} has not ended`
  // A look must not forget how far a run has come.
  if (checkOnly) throw earlierRunError(unfinished, 'continue it with --resume, or check with another --state-dir')
  if (!restart) throw earlierRunError(unfinished, 'continue it with --resume, or discard it with --restart')
}

/** A sentence when there is no run to go on with; undefined where there is one. */
export async function nothingToResume(folder: RunFolder): Promise<string | undefined> {
  const before = await folder.run()
  if (!before) return `nothing to resume: no run was started in ${folder.path}`
  const run = `the run ${before.id} in ${folder.path}`
  if (before.checkOnly) return `nothing to resume: ${run} only checked the hosts`
  return before.endedAt === null ? undefined : `nothing to resume: ${run} has ended`
}

/**
 * Refuses to begin or go on while another process works on the run of a folder.
 *
 * @throws UserError `run-state` (usage)
 */
export async function refuseRunning(folder: RunFolder): Promise<void> {
  using free = await tryLock(folder.lock, 'exclusive').catch((error: unknown) => {
    throw explainFolderError(folder.path, error)
  })
  if (!free) throw runningElsewhere(folder)
}

/**
 * Takes the machines of a rehearsal for this process, before they are forgotten or opened: the lock of the run itself is free
 * until its hosts begin.
 *
 * @throws UserError `run-state` (usage)
 */
export async function takeMachines(folder: RunFolder): Promise<Disposable> {
  const taken = await tryLock(join(folder.path, 'machines.lock'), 'exclusive').catch((error: unknown) => {
    throw explainFolderError(folder.path, error)
  })
  if (!taken) throw runningElsewhere(folder)
  return taken
}

export const runningElsewhere = (folder: RunFolder): UserError =>
  earlierRunError(
    `another process works on the run in ${folder.path}`,
    'wait for it, or name another folder with --state-dir',
  )

/**
 * The run that begins or goes on, with the state of each host.
 *
 * @throws UserError `run-state` (usage)
 */
export async function openRun(
  options: RunHostsOptions,
): Promise<{ record: HostsRunRecord; states: ReadonlyMap<string, HostRunState> }> {
  const { folder, hosts, resume = false } = options
  await refuseUnfinished(folder, options)
  const record = resume ? await resumed(options) : newRecord(options)
  if (!resume) await folder.begin(record)
  const states = new Map<string, HostRunState>()
  for (const { name } of hosts) states.set(name, (resume ? await folder.host(name) : null) ?? newHostState(name))
  return { record, states }
}

async function resumed({ folder, hosts, ironic, rehearsed = false }: RunHostsOptions): Promise<HostsRunRecord> {
  const remedy = 'leave out --resume to start a run'
  const nothing = await nothingToResume(folder)
  if (nothing !== undefined) throw earlierRunError(nothing, remedy)
  const before = (await folder.run())!
  if (before.rehearsed !== rehearsed)
    throw earlierRunError(`the run ${before.id} was ${before.rehearsed ? 'a' : 'no'} rehearsal`, remedy)
  if ((before.throughIronic ?? null) !== (ironic?.url ?? null))
    throw earlierRunError(
      `the run ${before.id} ${before.throughIronic === undefined ? 'goes through no Ironic' : `goes through the Ironic at ${before.throughIronic}`}`,
      before.throughIronic === undefined
        ? 'leave --through-ironic out'
        : `continue it with --through-ironic ${before.throughIronic}`,
    )
  const unknown = before.hosts.filter((name) => !hosts.some((host) => host.name === name))
  if (unknown.length > 0)
    throw earlierRunError(
      `the run ${before.id} has ${unknown.join(', ')}, which the file does not have now`,
      'name the same file and the same --only',
    )
  return before
}

function newRecord({
  hosts,
  file,
  ironic,
  rehearsed = false,
  checkOnly = false,
  clock,
  random,
}: RunHostsOptions): HostsRunRecord {
  const now = new Date(clock.now())
    .toISOString()
    .replaceAll(/[-:]|\..*$/g, '')
    .replace('T', '-')
  return {
    id: `${now}-${randomUuid(random).slice(0, 4)}`,
    file,
    startedAt: clock.now(),
    endedAt: null,
    rehearsed,
    hosts: hosts.map(({ name }) => name),
    ...defined({ checkOnly: checkOnly || undefined, throughIronic: ironic ? ironic.url : undefined }),
  }
}
