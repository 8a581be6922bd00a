import { readAgentSettings, type AgentSettings } from '../../agent/index.js'
import type { AgentBoot } from '../../lab/index.js'
import { UserError, defined, type Clock } from '../../base/runtime/index.js'
import { HttpTransport, type ClientTls, type Transport } from '../../base/wire/index.js'

/** The ways from agents to their Ironics: agents with the same TLS settings share their connections. */
export class AgentTransports implements AsyncDisposable {
  readonly #clock: Clock
  readonly #own: OwnIronic | undefined
  readonly #open = new Map<string, HttpTransport>()

  constructor(clock: Clock, own?: OwnIronic) {
    this.#clock = clock
    this.#own = own
  }

  /** @throws UserError for settings that cannot be used, and for a file that the ramdisk lacks */
  of(boot: AgentBoot): Transport {
    const settings = readAgentSettings(boot.parameters, { files: boot.configFiles })
    const tls = agentTlsOf(settings, boot, this.#own)
    const key = JSON.stringify([tls, settings.requestTimeout])
    let transport = this.#open.get(key)
    if (!transport) {
      transport = new HttpTransport({ clock: this.#clock, tls, timeoutMs: settings.requestTimeout })
      this.#open.set(key, transport)
    }
    return transport
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([...this.#open.values()].map((transport) => transport[Symbol.asyncDispose]()))
  }
}

/** The Ironic that agents call which the fleet itself boots: no medium has a certificate for them. */
export interface OwnIronic {
  url: string
  tls: ClientTls
}

function agentTlsOf({ client, apiUrls }: AgentSettings, boot: AgentBoot, own: OwnIronic | undefined): ClientTls {
  const { insecure, caFile, certFile, keyFile } = client
  if (own && !insecure && caFile === null && apiUrls[0] === own.url) return own.tls
  return {
    insecure,
    ...defined({
      ca: caFile === null ? undefined : fileIn(boot, caFile),
      identity:
        certFile === null || keyFile === null
          ? undefined
          : { certificate: fileIn(boot, certFile), key: fileIn(boot, keyFile) },
    }),
  }
}

/** A file that came with the medium, or that Ignition wrote. */
function fileIn({ copied, files }: AgentBoot, path: string): string {
  const found = copied.find(({ name }) => name === path)?.text
  if (found !== undefined) return found
  const written = files.find((file) => file.path === path)
  if (written) return Buffer.from(written.base64, 'base64').toString('utf8')
  throw new UserError('ramdisk-file', `the agent's options name the file ${path}, which its ramdisk lacks`)
}
