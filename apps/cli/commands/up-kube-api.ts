import { join } from 'node:path'
import { defined, type Clock, type Logger } from '../../../base/runtime/index.js'
import { openOnSavedPort, type ServedLab } from '../../../lab/index.js'
import { type ClusterEra, OBJECT_FILE, openObjectFile, serveKube } from '../../../base/kubernetes/index.js'
import type { OperatorMetrics } from '../../../baremetal-operator/index.js'
import { readTextFile } from '../options/input-files.js'
import type { UP_OPTIONS } from '../options/option-lists.js'
import type { CommandOptionValues } from '../options/resolve-options.js'
import { readEra, type ActorName } from '../options/value-words.js'
import { readActors } from './up-actors.js'
import { usageError } from '../usage-error.js'

type KubeApiOptions = Pick<
  CommandOptionValues<(typeof UP_OPTIONS)[number]>,
  'kube-api' | 'kube-token' | 'actors' | 'hostclaims' | 'hosts' | 'state-dir' | 'allowed-host' | 'operators-as'
>

/** Service with the metrics of BareMetal Operator, as its own deployment names it, and their path. */
const METRICS_PAGE = 'baremetal-operator-system/baremetal-operator-controller-manager-metrics-service/metrics'

export interface KubeApiParts {
  served: ServedLab
  store: Parameters<typeof serveKube>[0]['store']
  token: string | undefined
  /** Counts of ironstage's BareMetal Operator; undefined where another one works on the hosts. */
  metrics: OperatorMetrics | undefined
  clock: Clock
  logger: Logger
}

/** Serves the API of `--kube-api`, with the lab's certificate; undefined without that option. */
export async function serveKubeApi(
  options: KubeApiOptions,
  { served, store, token, metrics, clock, logger }: KubeApiParts,
) {
  const { 'kube-api': kubePort, 'allowed-host': allowedHosts } = options
  if (kubePort === undefined) return undefined
  const { folder, stage } = served
  const open = (port: number) =>
    serveKube({
      store,
      port,
      allowedHosts,
      clock,
      logger,
      ...defined({ token, tls: stage.tls ?? undefined, pages: metrics && { [METRICS_PAGE]: () => metrics.text() } }),
    })
  if (kubePort !== 0) return open(kubePort)
  const onLoss = 'kubectl no longer finds its API; give it the new address'
  return openOnSavedPort('kube-port', onLoss, { folder, logger }, open)
}

/** How clients reach the API, and who works on what they write. */
export interface KubeLines {
  url: string
  caFile: string | null
  tokenFile: string | undefined
  actors: readonly ActorName[]
}

/** BareMetalHosts are worked on wherever they come from: files, or kubectl. */
export function kubeLines({ url, caFile, tokenFile, actors }: KubeLines): string[] {
  const isSecure = url.startsWith('https:')
  const kubectl = [
    `kubectl --server ${url}`,
    ...(caFile === null ? [] : [`--certificate-authority ${caFile}`]),
    ...(tokenFile === undefined ? [] : [`--token "$(cat ${tokenFile})"`]),
  ].join(' ')
  return [
    `  BareMetalHosts for kubectl, at ${url}:`,
    `    ${kubectl} apply -f hosts.yaml`,
    `    ${kubectl} get bmh -A -w`,
    ...(tokenFile !== undefined && !isSecure ? ['  kubectl sends a token over https alone: --tls serves that'] : []),
    ...(actors.includes('bmo')
      ? ["  ironstage's own BareMetal Operator works on them; --actors none leaves them to another one."]
      : ['  No operator of ironstage works on them (--actors none): run your own at this API.']),
    '',
  ]
}

/**
 * The operators of ironstage that work on the objects: all but for `--actors none`.
 *
 * @throws UserError (usage) where there are no objects
 */
export function actorsOf({ actors, hostclaims, 'kube-api': port, hosts }: KubeApiOptions): readonly ActorName[] {
  if (hostclaims && (actors === 'none' || (port === undefined && hosts === undefined)))
    throw usageError(
      "--hostclaims is a flag of ironstage's own BareMetal Operator",
      'serve an API with --kube-api PORT and without --actors none, or leave out --hostclaims',
    )
  if (actors !== undefined && port === undefined && hosts === undefined)
    throw usageError(
      '--actors says who works on the hosts of --kube-api or --hosts',
      'serve an API with --kube-api PORT, or leave out --actors',
    )
  const choice = readActors(actors)
  return choice.of === 'nodes' ? choice.actors : []
}

/**
 * The era of the operators that work on hosts.
 *
 * @throws UserError (usage) where there are no operators
 */
export function eraOfActors(options: KubeApiOptions): ClusterEra | undefined {
  const era = readEra(options['operators-as'])
  const hasOperators =
    actorsOf(options).length > 0 && (options.hosts !== undefined || options['kube-api'] !== undefined)
  if (era !== undefined && !hasOperators)
    throw usageError(
      '--as chooses operators, and none work here',
      'give them hosts with --hosts or --kube-api, or leave out --as',
    )
  return era
}

/** The token of `--kube-token`. */
export async function kubeTokenOf({
  'kube-token': file,
  'kube-api': port,
}: KubeApiOptions): Promise<string | undefined> {
  if (file === undefined) return undefined
  if (port === undefined)
    throw usageError(
      '--kube-token is the token of --kube-api',
      'serve the API with --kube-api PORT, or leave out --kube-token',
    )
  const token = (await readTextFile(file, 'file with the token')).trim()
  if (/^[\x21-\x7e]+$/.test(token)) return token
  throw usageError(
    `${file} has no token: one word of printable characters`,
    `make one: openssl rand -hex 32 > ${file}`,
    'option-file',
  )
}

/** Objects of `--kube-api` in the state folder, which this process has locked by now. */
export const objectFileOf = (
  { 'kube-api': port, 'state-dir': folder }: KubeApiOptions,
  onLoss: (sentence: string) => void,
) => (port === undefined || folder === undefined ? undefined : openObjectFile(join(folder, OBJECT_FILE), onLoss))
