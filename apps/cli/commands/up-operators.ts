import { openLiveCluster, storyLines, type StoryLine } from '../../cluster/index.js'
import { serveKube } from '../../../base/kubernetes/index.js'
import { collectAtRest, defined, letGarbageGrow, systemClock } from '../../../base/runtime/index.js'
import type { Environment } from '../environment.js'
import type { UP_OPTIONS } from '../options/option-lists.js'
import type { CommandOptionValues } from '../options/resolve-options.js'
import { CLUSTER_OPERATORS, readEra } from '../options/value-words.js'
import { usageError } from '../usage-error.js'
import { storyLog } from '../output/command-log.js'
import { readActors } from './up-actors.js'
import { kubeTokenOf } from './up-kube-api.js'

type UpOptions = CommandOptionValues<(typeof UP_OPTIONS)[number]>

/** Options that `up` takes with all operators of a cluster: the others are of a lab with nodes of its own. */
const TAKEN: readonly string[] = [
  'actors',
  'kube-api',
  'kube-token',
  'allowed-host',
  'operators-as',
  'clock',
  'speed',
  'json',
  'verbose',
  'stop-with-stdin',
]

/**
 * `ironstage up --kube-api PORT --actors all`: a cluster with all of its operators, which clients of its API change.
 *
 * @param untilStopped resolves with the reason for which it ends
 */
export async function upOperators(
  options: UpOptions,
  environment: Environment,
  untilStopped: () => Promise<string>,
): Promise<number> {
  const { stdout, stopped } = environment
  const { json = false, verbose = false, 'kube-api': port = 0, 'allowed-host': allowedHosts } = options
  const speed = checkOperatorOptions(options)
  const { actors } = readActors(options.actors)
  const token = await kubeTokenOf(options)
  const show = (line: StoryLine): void => stdout.either(json, line, storyLines(line, stdout.columns))
  let isReady = false
  await using cluster = await openLiveCluster({
    ...defined({ as: readEra(options['operators-as']) }),
    operators: actors,
    logger: storyLog(environment, json),
    signal: stopped,
    onLine: (line) => {
      if (isReady || verbose) show(line)
    },
  })
  await using api = await serveKube({
    store: cluster.objects,
    port,
    allowedHosts,
    clock: systemClock(),
    ...defined({ token }),
  })
  letGarbageGrow()
  using _garbage = collectAtRest()
  isReady = true
  const { version, available } = cluster
  stdout.either(json, { event: 'ready', kube_api_url: api.url, actors, version, available }, [
    ...actingLines(version, actors),
    `  kubectl --server ${api.url} get clusterversion,co,mcp,nodes,bmh -A`,
    `  kubectl --server ${api.url} patch clusterversion version \\`,
    `    --type merge -p '{"spec":{"desiredUpdate":{"version":"${available.at(-1)}"}}}'`,
    `Available updates: ${available.join(', ')}`,
    '',
  ])
  const running = cluster.run({ clock: systemClock(), speed, signal: stopped })
  const why = await untilStopped()
  await (stopped.aborted ? running : Promise.resolve())
  if (!json) stdout.line(`ironstage stops: ${why}`)
  return 0
}

/** Says who acts, and who is left to the user. */
function actingLines(version: string, actors: readonly string[]): string[] {
  const others = CLUSTER_OPERATORS.filter((name) => !actors.includes(name))
  if (others.length === 0) return [`A cluster of ${version} with all of its operators, for kubectl:`]
  return [
    `A cluster of ${version}, which all of its operators have installed. ${actors.join(', ')} ${actors.length === 1 ? 'acts' : 'act'} on it;`,
    `${others.join(', ')} ${others.length === 1 ? 'is' : 'are'} yours: run ${others.length === 1 ? 'it' : 'them'} at this API. For kubectl:`,
  ]
}

/** @returns lab time for each second */
function checkOperatorOptions(options: UpOptions): number {
  const { actors = '', clock, speed } = options
  if (options['kube-api'] === undefined)
    throw usageError(`--actors ${actors} needs an API to act on`, 'serve one with --kube-api PORT')
  const other = Object.entries(options).find(([name, value]) => value !== undefined && !TAKEN.includes(name))
  if (other)
    throw usageError(
      `--${other[0]} is of a lab with nodes of its own: --actors ${actors} brings a cluster`,
      `leave out --${other[0]}, or run BareMetal Operator alone with --actors bmo`,
    )
  if (clock === undefined) return speed ?? 1
  const factor = clock === 'real' ? 1 : Number(/^x([\d.]+)$/.exec(clock)?.[1])
  if (factor > 0) return factor
  throw usageError(`--clock ${clock}: the time of a cluster passes`, 'use --clock real, or --clock x60')
}
