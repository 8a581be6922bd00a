import { readFile } from 'node:fs/promises'
import { AgentListener, type AgentSettings } from '../../../agent/index.js'
import { defined, withClockHeld, UserError, type Clock, type Logger } from '../../../base/runtime/index.js'
import { openOnSavedPort } from '../../../lab/index.js'
import { addressOf, addressTowards, everyAddress, isEveryAddress } from '../../../lab/index.js'
import type { StateFolder } from '../../../lab/index.js'

/** IPA's default port. */
const IPA_PORT = 9999

export interface AgentAddressOptions {
  /** Listening address; overrides the settings. Port 0 picks a free port. */
  listen?: { host: string; port: number } | undefined
  /** Names by which clients may call besides those of this host. */
  allowedHosts?: readonly string[] | undefined
  /** Machine of a state folder, in which a picked port is saved. */
  machine?: { folder: StateFolder; id: string }
  clock: Clock
  logger: Logger
}

/**
 * Opens the listener of a single agent, as IPA's options `listen_*`, `advertise_*`, `network_interface` and `tls_*` set
 * it. Without options only this host can reach it.
 *
 * @throws UserError when it cannot listen, a certificate cannot be read, or this host has no address for Ironic
 */
export async function openAgentListener(settings: AgentSettings, options: AgentAddressOptions): Promise<AgentListener> {
  const { clock, logger, machine, allowedHosts } = options
  const { host, port } = options.listen ?? listenAt(settings)
  const tls = await ownTls(settings, clock)
  const advertise = await advertised(host, settings, clock)
  const open = (chosen: number) =>
    AgentListener.open({ host, port: chosen, allowedHosts, advertise, clock, logger, ...defined({ tls }) })
  if (port !== 0 || !machine) return open(port)
  const { folder, id } = machine
  return openOnSavedPort(
    `agent-port of ${id}`,
    'Ironic no longer finds an agent that ran here; reboot its machine',
    { folder, logger },
    open,
  )
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
    ...defined({ protocol: protocol ?? undefined, port: port ?? undefined }),
  }
}

/** Certificate and key from the files of `listen_tls`. Without, the agent makes a certificate of its own. */
async function ownTls({ server: { files, minVersion, ciphers } }: AgentSettings, clock: Clock) {
  if (files === null) return undefined
  return {
    certificate: await namedFile(files.certificate, clock),
    key: await namedFile(files.key, clock),
    minVersion,
    ...defined({ ciphers: ciphers ?? undefined }),
  }
}

/** @throws UserError `agent-option-file` when a file that an option names cannot be read */
export async function namedFile(path: string, clock: Clock): Promise<string> {
  try {
    return await withClockHeld(clock, `reading ${path}`, () => readFile(path, 'utf8'))
  } catch (cause) {
    throw new UserError('agent-option-file', `the agent's options name the file ${path}, which cannot be read`, {
      remedy: 'name an existing PEM file that you may read',
      cause,
    })
  }
}
