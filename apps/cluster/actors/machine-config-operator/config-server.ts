import { bytesSource, serveFiles, type FoundFile } from '../../../../base/bytes/index.js'
import { dataUrl, mergeIgnition, negotiate, type SpecConfig } from '../../../../ignition/index.js'
import type { MachineConfig } from '../../kube/kinds/machine-config-kinds.js'
import type { ActorParts } from '../actor.js'
import { ENCAPSULATES_CONFIG, NEGOTIATES_IGNITION } from './machine-config-behaviours.js'
import {
  CURRENT_CONFIG,
  DESIRED_CONFIG,
  ENCAPSULATED,
  FIRST_PIVOT_CONFIG,
  NODE_ANNOTATIONS,
  INITIAL_CONFIG,
  STATE,
} from './machine-config-names.js'
import { ignitionOf, OWN_SPEC } from './rendered-config.js'

/** The machine config server: Ignition configs of the pools, for machines at their first boot. */
export interface ConfigServer extends AsyncDisposable {
  /** Without a trailing slash. In a real cluster it is https on port 22623 of the cluster's internal address. */
  readonly url: string
  readonly port: number
  /** Requests that were answered, in order. */
  readonly requests: readonly { role: string; accept: string; status: number }[]
}

/**
 * Serves `/config/POOL`: the configuration that the nodes of the pool run, not the one that they are to become, with what
 * the machine config daemon needs at first boot (pkg/server of machine-config-operator 7ff337a).
 *
 * @param port 0 picks a free one
 */
export async function serveConfigs(parts: ActorParts, port = 0): Promise<ConfigServer> {
  const { kube, clock, random, logger, behaviours } = parts
  const started = clock.now()
  const requests: { role: string; accept: string; status: number }[] = []

  const find = async (role: string, accept: string | undefined): Promise<FoundFile> => {
    const pool = await kube.find('MachineConfigPool', { name: role })
    const name = pool?.status?.configuration?.name ?? pool?.spec.configuration?.name
    const rendered = name === undefined ? undefined : await kube.find('MachineConfig', { name })
    if (!rendered) return undefined
    const config = firstBootConfig(rendered, behaviours.has(ENCAPSULATES_CONFIG))
    const answer = behaviours.has(NEGOTIATES_IGNITION)
      ? negotiate(accept, { version: OWN_SPEC, config })
      : { version: OWN_SPEC, config }
    if ('refusal' in answer) return { refused: 400, why: answer.refusal }
    const { version, config: served } = answer
    const text = JSON.stringify({ ...served, ignition: { ...served.ignition, version } })
    const bytes = Buffer.from(text)
    return { source: bytesSource(bytes), etag: `"${name} ${version}"`, modified: started, type: 'application/json' }
  }

  const server = await serveFiles({
    host: '127.0.0.1',
    port,
    clock,
    random,
    logger,
    find: async (path, { accept }) => {
      const role = /^\/config\/([^/]+)$/.exec(path)?.[1]
      if (role === undefined) return undefined
      const text = Array.isArray(accept) ? accept.join() : accept
      const found = await find(role, text)
      const status = found === undefined ? 404 : 'refused' in found ? found.refused : 200
      requests.push({ role, accept: text ?? '', status })
      return found
    },
  })
  return { url: server.url, port: server.port, requests, [Symbol.asyncDispose]: () => server[Symbol.asyncDispose]() }
}

/** The config of a rendered MachineConfig, with what its daemon finds at the first boot. */
function firstBootConfig(rendered: MachineConfig, isEncapsulated = true): SpecConfig {
  const { name } = rendered.metadata
  const annotations = {
    [CURRENT_CONFIG]: name,
    [DESIRED_CONFIG]: name,
    [FIRST_PIVOT_CONFIG]: name,
    [STATE]: 'Done',
  }
  const empty = { ...rendered, spec: { ...rendered.spec, config: { ignition: { version: '3.0.0' } } } }
  const files = [
    makeDataFile(NODE_ANNOTATIONS, JSON.stringify(annotations)),
    makeDataFile(INITIAL_CONFIG, JSON.stringify(rendered)),
    ...(isEncapsulated ? [makeDataFile(ENCAPSULATED, JSON.stringify(empty))] : []),
  ]
  return mergeIgnition(ignitionOf(rendered.spec), { ignition: { version: OWN_SPEC }, storage: { files } }, OWN_SPEC)
}

const makeDataFile = (path: string, text: string) => ({
  path,
  mode: 0o644,
  overwrite: true,
  contents: { source: dataUrl(text) },
})
