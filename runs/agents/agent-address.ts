import { readFile } from 'node:fs/promises'
import { AgentListener, type AgentSettings } from '../../agent/index.js'
import { held, UserError, type Clock, type Logger } from '../../runtime/index.js'
import { onKeptPort } from '../../lab/index.js'
import { addressOf, addressTowards, everyAddress, isEveryAddress } from '../../lab/index.js'
import type { StateFolder } from '../../lab/index.js'

/** Where IPA listens when it is told nothing else. */
const IPA_PORT = 9999

export interface AgentAddressOptions {
  /** Where it listens, whatever the settings say; port 0 picks one. */
  listen?: { host: string; port: number } | undefined
  /** A machine of this state folder: a port that was picked is kept in it. */
  keeper?: { folder: StateFolder; id: string }
  clock: Clock
  logger: Logger
}

/**
 * The listener of an agent that has one to itself, as IPA's options `listen_*`, `advertise_*`, `network_interface` and
 * `tls_*` want it. Told nothing, it is there for this host only.
 *
 * @throws UserError when it cannot listen there, a certificate cannot be read, or no address leads from Ironic to here
 */
export async function openAgentListener(settings: AgentSettings, options: AgentAddressOptions): Promise<AgentListener> {
  const { clock, logger, keeper } = options
  const { host, port } = options.listen ?? listenAt(settings)
  const tls = await ownTls(settings, clock)
  const advertise = await advertised(host, settings, clock)
  const open = (chosen: number) =>
    AgentListener.open({ host, port: chosen, advertise, clock, logger, ...(tls ? { tls } : {}) })
  if (port !== 0 || !keeper) return open(port)
  const { folder, id } = keeper
  return onKeptPort(`agent-port of ${id}`, 'Ironic no longer finds an agent that ran here', { folder, logger }, open)
}

function listenAt({ listen: { host, port } }: AgentSettings): { host: string; port: number } {
  if (host === null && port === null) return { host: '127.0.0.1', port: 0 }
  return { host: host ?? everyAddress(), port: port ?? IPA_PORT }
}

async function advertised(
  listening: string,
  { advertise, networkInterface, apiUrls, inspectionUrls }: AgentSettings,
  clock: Clock,
): Promise<{ protocol?: 'http' | 'https'; host: string; port?: number }> {
  const { protocol, host, port } = advertise
  const peers = [...apiUrls, ...inspectionUrls]
  const own = async (): Promise<string> => {
    if (networkInterface !== null) return addressOf(networkInterface)
    if (!isEveryAddress(listening)) return listening
    return peers.length === 0 ? '127.0.0.1' : addressTowards(peers, clock)
  }
  return {
    host: host ?? (await own()),
    ...(protocol === null ? {} : { protocol }),
    ...(port === null ? {} : { port }),
  }
}

/** With `listen_tls`, what the files say; otherwise the agent sees to its TLS itself. */
async function ownTls({ server: { files, minVersion, ciphers } }: AgentSettings, clock: Clock) {
  if (files === null) return undefined
  return {
    certificate: await namedFile(files.certificate, clock),
    key: await namedFile(files.key, clock),
    ...{ minVersion, ...(ciphers === null ? {} : { ciphers }) },
  }
}

/** @throws UserError `agent-option-file` when a file that an option names cannot be read */
export async function namedFile(path: string, clock: Clock): Promise<string> {
  try {
    return await held(clock, `reading ${path}`, () => readFile(path, 'utf8'))
  } catch (cause) {
    throw new UserError('agent-option-file', `the agent's options name the file ${path}, which cannot be read`, {
      remedy: 'name a PEM file that is there, and that you may read',
      cause,
    })
  }
}
