import { readdir, readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { sha256Hex } from '../../base/bytes/index.js'
import { defined, UserError, withClockHeld, type Clock, type Probe, type Random } from '../../base/runtime/index.js'
import { HttpTransport, type NodeRecord } from '../../base/wire/index.js'
import type { Bmcs } from '../../ironic-mock/index.js'
import type { BootFiles } from '../images/boot-files.js'
import { bmcProtocolOf } from './bmcs.js'
import { IpmiBmc } from './ipmi/ipmi-bmc.js'
import { invalidTrust, redfishAccessOf, type RedfishAccount } from './redfish/redfish-access.js'
import { RedfishBmc } from './redfish/redfish-bmc.js'
import { MAX_BMC_DOCUMENT_BYTES, RedfishConnection } from './redfish/redfish-connection.js'
import { RedfishSystem } from './redfish/redfish-system.js'

export interface RemoteBmcsOptions {
  readonly files: BootFiles
  /** Every call of a BMC passes here. */
  readonly probe: Probe
  readonly clock: Clock
  /** For the keys of IPMI sessions. */
  readonly random: Random
  /** `[conductor]power_state_change_timeout`, in milliseconds. */
  readonly powerTimeout: number
  /** Milliseconds of wall time that a BMC may be silent; by default as long as `[redfish]read_timeout`, or {@link IPMI_SILENCE}. */
  readonly answerTimeout?: number | undefined
}

/** BMCs of machines elsewhere, which are reached over the network. */
export interface RemoteBmcs extends AsyncDisposable {
  readonly of: Bmcs
}

/** Reaches the BMCs of nodes by what their `driver_info` says. Nothing is sent before a call. */
export function openRemoteBmcs(options: RemoteBmcsOptions): RemoteBmcs {
  const { probe, clock, random, files, powerTimeout, answerTimeout } = options
  const connections = new RedfishConnections(options)
  return {
    of: (node, ports, signal) => {
      const protocol = bmcProtocolOf(node)
      const caller = { probe, node: node.uuid, signal, record: node, ports, files }
      if (protocol === 'ipmi')
        return Promise.resolve(
          new IpmiBmc({
            ...caller,
            protocol,
            clock,
            random,
            powerTimeout,
            answerTimeout: answerTimeout ?? IPMI_SILENCE,
          }),
        )
      if (protocol !== 'redfish') return Promise.reject(unreachableDriver(node))
      const system = async (): Promise<RedfishSystem> => {
        const { account, path } = redfishAccessOf(node)
        const connection = await connections.of(account, node.uuid)
        return new RedfishSystem({ node, connection, path, clock, powerTimeout, signal })
      }
      return Promise.resolve(new RedfishBmc({ ...caller, protocol, system }))
    },
    [Symbol.asyncDispose]: () => connections[Symbol.asyncDispose](),
  }
}

/** Milliseconds that ipmitool waits for the answer to its only datagram: `[ipmi]min_command_interval`. */
const IPMI_SILENCE = 5000

const unreachableDriver = ({ uuid, driver }: Readonly<NodeRecord>): UserError =>
  new UserError('bmc-refuses', `node ${uuid} has the driver ${driver}, whose machines are not reached elsewhere`, {
    remedy: 'use the driver redfish, idrac or ipmi',
  })

/** `[redfish]connection_cache_size` */
const MAX_BMC_CONNECTIONS = 1000

/** Connections to Redfish services by account, so that a session serves all calls of a node; the latest used last. */
class RedfishConnections implements AsyncDisposable {
  readonly #options: RemoteBmcsOptions
  readonly #byAccount = new Map<string, RedfishConnection>()
  readonly #transports = new Map<string, HttpTransport>()

  constructor(options: RemoteBmcsOptions) {
    this.#options = options
  }

  async of(account: RedfishAccount, node: string): Promise<RedfishConnection> {
    const transport = await this.#transportFor(account.trust, node)
    const key = sha256Hex(JSON.stringify(account))
    const connection = this.#byAccount.get(key) ?? new RedfishConnection(account, transport)
    this.#byAccount.delete(key)
    this.#byAccount.set(key, connection)
    const [oldest] = this.#byAccount
    if (oldest && this.#byAccount.size > MAX_BMC_CONNECTIONS) {
      this.#byAccount.delete(oldest[0])
      void oldest[1].close()
    }
    return connection
  }

  async #transportFor(trust: RedfishAccount['trust'], node: string): Promise<HttpTransport> {
    const { clock, answerTimeout } = this.#options
    const ca = typeof trust === 'object' ? await certificatesAt(trust.path, node, clock) : undefined
    const key = ca === undefined ? String(trust) : sha256Hex(ca)
    const known = this.#transports.get(key)
    if (known) return known
    const made = new HttpTransport({
      clock,
      largestAnswer: MAX_BMC_DOCUMENT_BYTES,
      tls: { insecure: trust === 'any', ...defined({ ca }) },
      ...defined({ timeoutMs: answerTimeout }),
    })
    this.#transports.set(key, made)
    return made
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([...this.#byAccount.values()].map((connection) => connection.close()))
    this.#byAccount.clear()
    await Promise.all([...this.#transports.values()].map((transport) => transport[Symbol.asyncDispose]()))
    this.#transports.clear()
  }
}

/** The certificates of a file, or of all files of a folder. */
function certificatesAt(path: string, node: string, clock: Clock): Promise<string> {
  return withClockHeld(clock, `reading ${path}`, async () => {
    try {
      const names = (await stat(path)).isDirectory() ? (await readdir(path)).map((name) => join(path, name)) : [path]
      return (await Promise.all(names.map((name) => readFile(name, 'utf8')))).join('\n')
    } catch {
      throw invalidTrust(path, node)
    }
  })
}
