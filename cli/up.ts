import { errorChain, loadManagers, serve, systemClock, systemRandom, type LabEvent } from '../lab/index.js'
import type { Environment } from './environment.js'
import { logTo } from './log.js'
import type { Options } from './options.js'

export const UP_OPTIONS = ['host', 'port', 'nodes', 'state-dir', 'speed', 'realistic', 'steps', 'json'] as const

/** `ironstage up`: serves until a signal stops it. */
export async function up(options: Options<(typeof UP_OPTIONS)[number]>, environment: Environment): Promise<number> {
  const { stdout, stopped } = environment
  const json = options.json ?? false
  const say = (line: string) => void stdout.write(`${line}\n`)
  await using served = await serve({
    host: options.host ?? '127.0.0.1',
    port: options.port ?? 6385,
    nodes: options.nodes ?? 0,
    stateDir: options['state-dir'] ?? null,
    realistic: options.realistic ?? false,
    ...(options.steps ? { managers: await loadManagers(options.steps) } : {}),
    clock: systemClock(options.speed ?? 1),
    random: systemRandom,
    logger: logTo(environment, json),
    onEvent: told(say, json),
  })
  const { url } = served
  if (json) say(JSON.stringify({ event: 'ready', ironic_url: url, environment: environmentBlock(url) }))
  else say(readyText(url, served.stage.machines.list().length))
  await new Promise<void>((resolve) => {
    if (stopped.aborted) resolve()
    stopped.addEventListener('abort', () => resolve(), { once: true })
  })
  if (!json) say(`ironstage stops: ${errorChain(stopped.reason).join(': ')}`)
  return 0
}

/** What BareMetal Operator and OpenStack clients read from their environment. */
const environmentBlock = (url: string): Record<string, string> => ({
  IRONIC_ENDPOINT: `${url}/v1/`,
  OS_ENDPOINT: url,
  OS_AUTH_TYPE: 'none',
})

function readyText(url: string, machines: number): string {
  const exports = Object.entries(environmentBlock(url)).map(([name, value]) => `    export ${name}=${value}`)
  return [
    `Ironic is ready at ${url} with ${machines} simulated ${machines === 1 ? 'machine' : 'machines'}.`,
    '',
    '  for BareMetal Operator and the baremetal command:',
    ...exports,
    '  or in clouds.yaml:',
    '    clouds:',
    '      ironstage:',
    '        auth_type: none',
    `        endpoint: ${url}`,
    `        baremetal_endpoint_override: ${url}`,
    '',
    `  try: curl -s -H 'X-OpenStack-Ironic-API-Version: latest' ${url}/v1/nodes`,
    '',
  ].join('\n')
}

/** A line for each change of a node that a person would want to see. */
function told(say: (line: string) => void, json: boolean): (event: LabEvent) => void {
  const seen = new Map<string, string>()
  return (event) => {
    if (event.kind !== 'node') {
      if (event.kind === 'node-gone') seen.delete(event.uuid)
      return
    }
    const { uuid, name, provision_state: state, last_error: error, power_state: power } = event.node
    const now = JSON.stringify([state, error])
    if (seen.get(uuid) === now) return
    seen.set(uuid, now)
    if (json)
      say(JSON.stringify({ event: 'node', uuid, name, provision_state: state, power_state: power, last_error: error }))
    else say(`${name ?? uuid}  ${state}${error === null ? '' : `: ${error}`}`)
  }
}
