import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { Behaviours } from '../../../base/kubernetes/index.js'
import {
  ALL_BEHAVIOURS,
  isMilestone,
  isVersion,
  mirrorRuleOf,
  mirrorsOf,
  ownClusterOf,
  readClusterFolder,
  readOwnRelease,
  rehearseOwnCluster,
  reportLines,
  storyLines,
  type OwnCluster,
  type OwnRelease,
  type StoryLine,
} from '../../cluster/index.js'
import { mergeMirrorRules } from '../../../base/registry/index.js'
import { defined, UserError } from '../../../base/runtime/index.js'
import type { Environment } from '../environment.js'
import type { REHEARSE_OPTIONS } from '../options/option-lists.js'
import type { CommandOptionValues } from '../options/resolve-options.js'
import { readEra } from '../options/value-words.js'
import { imagesFor } from '../streams/fetching.js'
import { usageError } from '../usage-error.js'
import { storyLog } from '../output/command-log.js'

type RehearseCommandOptions = CommandOptionValues<(typeof REHEARSE_OPTIONS)[number]>

/**
 * `ironstage rehearse upgrade --cluster FOLDER`: rehearses the upgrade of the user's own cluster, and prints what it will
 * meet. Exit code 1 where something blocks it.
 */
export async function rehearseCluster(
  folder: string,
  options: RehearseCommandOptions,
  environment: Environment,
): Promise<number> {
  const { 'cluster-release': to, story = false, without = [], seed = 1, json = false } = options
  const { stdout, stopped } = environment
  const as = readEra(options['operators-as']) ?? 'today'
  // Refuses an unknown behaviour before anything is read.
  new Behaviours(ALL_BEHAVIOURS, { without, as })
  const cluster = ownClusterOf(await readClusterFolder(folder))
  const own = to === undefined || isVersion(to) ? undefined : await releaseNamed(to, cluster, options, environment)
  let isReported = false
  const show = (line: StoryLine): void => {
    // The report says how it ended.
    const isOver = line.event === 'end' && isReported
    if (json || (!isOver && (story || isMilestone(line)))) stdout.either(json, line, storyLines(line, stdout.columns))
  }
  const end = await rehearseOwnCluster(
    cluster,
    { named: to, ...defined({ own }) },
    {
      as,
      without,
      seed,
      logger: storyLog(environment, json),
      signal: stopped,
      onLine: show,
      onReport: (report) => {
        isReported = true
        stdout.either(json, report, reportLines(report, stdout.columns))
      },
    },
  )
  return end.holds ? 0 : 1
}

/** Options of scenarios that a cluster of the user's own does not go with. */
export function checkClusterOptions(
  { all, list, compare, cluster, 'cluster-release': to }: RehearseCommandOptions,
  names: readonly string[],
): void {
  if (cluster === undefined) {
    if (to !== undefined)
      throw usageError('--to is the release for --cluster', 'name the cluster with --cluster FOLDER')
    return
  }
  if (all === true || list === true || compare === true || names.length > 0)
    throw usageError(
      '--cluster rehearses one cluster, and no scenario',
      'leave out the scenarios, --all, --list and --compare; --as document plays the design documents',
    )
}

/** Reads the release of a pull specification or of a folder: by the mirrors of the cluster, unless others are named. */
async function releaseNamed(
  named: string,
  { folder }: OwnCluster,
  options: RehearseCommandOptions,
  environment: Environment,
): Promise<OwnRelease> {
  await checkTarget(named)
  const { authfile, mirrors, 'image-ca': imageCa } = options
  const rules = mergeMirrorRules(mirrorsOf(folder.objects).map(mirrorRuleOf))
  const images = await imagesFor(defined({ authfile, mirrors, imageCa }), environment, rules)
  try {
    return await readOwnRelease(images, await placeOf(named))
  } catch (cause) {
    if (!(cause instanceof UserError)) throw cause
    throw new UserError(cause.code, `the release of --to cannot be read: ${cause.message}`, {
      kind: 'usage',
      cause,
      ...defined({ remedy: cause.remedy }),
    })
  }
}

/** A single word is a version or a folder, and never an image of Docker Hub. */
async function checkTarget(named: string): Promise<void> {
  const [, numbers] = /^v?(\d+(?:\.\d+)*)/.exec(named) ?? []
  const [major, minor = '0', patch = '0'] = numbers?.split('.') ?? []
  const isWord = /^[^/:@]+$/.test(named)
  if (isWord && major !== undefined)
    throw usageError(`--to ${named} is no whole version`, `write it with three numbers: ${major}.${minor}.${patch}`)
  const found = isWord ? await stat(named).catch(() => undefined) : undefined
  if (!isWord || found?.isDirectory()) return
  throw usageError(
    found ? `--to names the file ${named}` : `--to ${named} is no version, and there is no folder ${named}`,
    'name a version, a pull specification with its registry, or a folder with an OCI layout',
  )
}

/** A folder with an OCI layout needs no `oci:`. */
async function placeOf(named: string): Promise<string> {
  const isLayout = await stat(join(named, 'oci-layout')).then(
    (found) => found.isFile(),
    () => false,
  )
  if (isLayout) return `oci:${named}`
  const isFolder = await stat(named).then(
    (found) => found.isDirectory(),
    () => false,
  )
  if (!isFolder) return named
  throw usageError(
    `the folder ${named} of --to is no OCI layout: it has no file oci-layout`,
    'name a layout, a pull specification or a version',
  )
}
