import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import {
  manifestFindingLine,
  wantedHosts,
  type OperatorMetrics,
  type OperatorSettings,
  type LooseManifest,
  type WantedHost,
  AppliedHosts,
  runBareMetalOperator,
  type AppliedHost,
} from '../../../baremetal-operator/index.js'
import { Behaviours, type ClusterEra, type KubeClient } from '../../../base/kubernetes/index.js'
import type { Stage } from '../../../lab/index.js'
import {
  defined,
  errorChain,
  systemClock,
  UserError,
  type Clock,
  type Logger,
  type Random,
  readNamedText,
} from '../../../base/runtime/index.js'
import { usageError } from '../usage-error.js'

/** Pause between two looks at the files for changes, in milliseconds. */
const FILE_POLL_INTERVAL = 250
const wall = systemClock()

type Manifests = { name: string; text: string }[]

/**
 * The manifests at a path: a file, or the YAML and JSON files of a folder.
 *
 * @throws UserError (usage) for what cannot be read
 */
export async function readHostManifests(path: string): Promise<Manifests> {
  try {
    const isFolder = (await stat(path)).isDirectory()
    const files = isFolder
      ? (await readdir(path)).filter((name) => /\.(ya?ml|json)$/.test(name)).map((name) => join(path, name))
      : [path]
    return await Promise.all(files.sort().map(async (name) => ({ name, text: await readNamedText(name) })))
  } catch (cause) {
    throw new UserError('file-unreadable', `the manifests ${path} cannot be read`, {
      cause,
      kind: 'usage',
      remedy: 'name a YAML file of BareMetalHosts, or a folder of such files',
    })
  }
}

/** Contents of manifests: the hosts that an API takes, and a line for each object that it would refuse. */
interface ReadHosts {
  hosts: readonly WantedHost[]
  loose: readonly LooseManifest[]
  refusals: readonly string[]
}

const readHosts = (manifests: Manifests): ReadHosts => {
  // A folder that has been emptied: its hosts are to go.
  if (manifests.length === 0) return { hosts: [], loose: [], refusals: [] }
  const { hosts, loose, findings } = wantedHosts(manifests)
  return { hosts, loose, refusals: findings.filter(({ kind }) => kind === 'error').map(manifestFindingLine) }
}

/**
 * Looks whether manifests have a host that can be applied.
 *
 * @throws UserError (usage) if the files have no valid host, with a line for each mistake
 */
export function checkHosts(manifests: Manifests): void {
  const { hosts, refusals } = readHosts(manifests)
  if (hosts.length > 0 || refusals.length === 0) return
  throw usageError(
    refusals.join('\n'),
    'correct it; ironstage bmh explain FILE shows what BareMetal Operator makes of it',
    'host-manifests',
  )
}

export interface UpHostsOptions {
  /** The API that has the hosts; it may have others than those of the files. */
  kube: KubeClient
  /** True if ironstage's own BareMetal Operator works on the hosts. */
  isOperated: boolean
  /** The era of that operator. */
  as: ClusterEra | undefined
  /** Files of hosts, as they were read first. */
  files: { path: string; watch: boolean; manifests: Manifests } | undefined
  stage: Pick<Stage, 'transport' | 'url' | 'headers'>
  settings: Partial<OperatorSettings>
  metrics: OperatorMetrics
  clock: Clock
  random: Random
  logger: Logger
  onChange: (report: AppliedHost) => void
  /** An object that is refused, or files that cannot be read: what the API has of them stays as it is. */
  onRefusal: (problem: string) => void
  signal: AbortSignal
}

export interface ReconciledHosts extends AsyncDisposable {
  /** True if an object of the files as they are now was refused. */
  readonly isRefused: boolean
}

/** Applies hosts of files to an API, and follows the files where that is asked for; runs BareMetal Operator unless another one does. */
export function reconcileHosts({ stage, settings, metrics, ...options }: UpHostsOptions): ReconciledHosts {
  const { kube, files, clock, random, logger, onChange, onRefusal, signal } = options
  const operator = options.isOperated
    ? runBareMetalOperator({
        kube,
        clock,
        random,
        logger,
        behaviours: new Behaviours([], defined({ as: options.as })),
        announce: () => {},
        ironic: stage,
        settings,
        metrics,
      })
    : undefined
  let isRefused = false
  const refuse = (problem: string): void => {
    isRefused = true
    onRefusal(problem)
  }
  const applied = new AppliedHosts({ kube, logger, ironic: stage, onChange, onRefusal: refuse })
  const noted = new Set<string>()
  const warnOnce = (note: string): void => {
    if (noted.size !== noted.add(note).size) logger('warn', note)
  }
  const apply = (manifests: Manifests): void => {
    const { hosts, loose, refusals } = readHosts(manifests)
    for (const { name, notes } of hosts) for (const note of notes) warnOnce(`${name}: ${note}`)
    const claim = loose.find(({ manifest }) => manifest.kind === 'HostClaim')
    if (claim && options.isOperated && !settings.claimsHosts)
      warnOnce(`${claim.file} has HostClaims, which are only kept: with --hostclaims they get hosts`)
    isRefused = false
    for (const problem of refusals) refuse(problem)
    applied.apply(hosts, { prunes: refusals.length === 0, loose })
  }
  if (files) apply(files.manifests)
  const watching = files?.watch ? followManifests({ ...files, onRefusal, signal }, apply) : Promise.resolve()
  return {
    get isRefused() {
      return isRefused
    },
    [Symbol.asyncDispose]: async () => {
      await watching
      await operator?.[Symbol.asyncDispose]()
      await applied[Symbol.asyncDispose]()
    },
  }
}

/** Looks for changes until the signal is aborted. An unusable file is reported once, and the hosts stay as they were. */
async function followManifests(
  {
    path,
    manifests,
    onRefusal,
    signal,
  }: NonNullable<UpHostsOptions['files']> & Pick<UpHostsOptions, 'onRefusal' | 'signal'>,
  apply: (manifests: Manifests) => void,
): Promise<void> {
  let applied = JSON.stringify(manifests)
  let seen = applied
  let refused: string | undefined
  for (;;) {
    await wall.sleep(FILE_POLL_INTERVAL, { signal }).catch(() => {})
    if (signal.aborted) return
    try {
      const now = await readHostManifests(path)
      const text = JSON.stringify(now)
      // A file that is being written can be read half: it counts when it is the same at the next look.
      const isSettled = text === seen
      seen = text
      if (!isSettled || text === applied) continue
      applied = text
      apply(now)
      refused = undefined
    } catch (error) {
      if (!(error instanceof UserError)) throw error
      const problem = errorChain(error).join(': ')
      if (problem !== refused) onRefusal(problem)
      refused = problem
    }
  }
}
