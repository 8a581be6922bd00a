import { UserError, type Clock } from '../../../base/runtime/index.js'
import type { NodeRecord } from '../../../base/wire/index.js'
import { BmcError } from '../../../ironic-mock/index.js'
import type { RedfishConnection, RedfishResource } from './redfish-connection.js'
import { linkIn, linksIn, objectIn, textIn } from './redfish-json.js'

export interface RedfishSystemOptions {
  readonly node: Readonly<NodeRecord>
  readonly connection: RedfishConnection
  /** Path of the system; undefined takes the only one. */
  readonly path: string | undefined
  readonly clock: Clock
  /** Milliseconds in which a machine has to change its power. */
  readonly powerTimeout: number
  /** Aborted when the caller waits for no answer any more. */
  readonly signal: AbortSignal | undefined
}

/** Power of a machine as Ironic reads it (ironic 39.0.0 drivers/modules/redfish/power.py). */
const POWERS: Readonly<Record<string, 'power on' | 'power off'>> = {
  On: 'power on',
  PoweringOn: 'power on',
  Off: 'power off',
  PoweringOff: 'power off',
}

/** The computer system of a node behind its Redfish service. Nothing is kept between two calls: BMCs change by themselves. */
export class RedfishSystem {
  readonly options: RedfishSystemOptions

  constructor(options: RedfishSystemOptions) {
    this.options = options
  }

  get uuid(): string {
    return this.options.node.uuid
  }

  get connection(): RedfishConnection {
    return this.options.connection
  }

  /** @throws BmcError; UserError `bmc-refuses` where the service has several systems and the node names none */
  async read(): Promise<RedfishResource> {
    const path = this.options.path ?? (await this.#onlySystem())
    const system = await this.get(path)
    if (textIn(system.document, 'Id') === undefined)
      throw new BmcError('incomplete', 'the BMC answered with another document')
    return system
  }

  get(path: string): Promise<RedfishResource> {
    return this.connection.get(path, this.options.signal)
  }

  /** The documents of a collection; none without a link to it. */
  async members(collection: string | undefined): Promise<readonly RedfishResource[]> {
    if (collection === undefined) return []
    const { document } = await this.get(collection)
    const found: RedfishResource[] = []
    for (const path of linksIn(document, 'Members')) found.push(await this.get(path))
    return found
  }

  /** The managers of the system, the first of which is its BMC. */
  async managers({ document }: RedfishResource): Promise<readonly RedfishResource[]> {
    const found: RedfishResource[] = []
    for (const path of linksIn(objectIn(document, 'Links'), 'ManagedBy')) found.push(await this.get(path))
    return found
  }

  patch({ path, headers, document }: RedfishResource, change: Readonly<Record<string, unknown>>): Promise<unknown> {
    const etag = headers['etag'] ?? textIn(document, '@odata.etag')
    return this.connection.patch(path, { ...change }, etag, this.options.signal)
  }

  /** Number of systems that the service has. */
  async countSystems(): Promise<number> {
    const { document } = await this.get(await this.#collection())
    return linksIn(document, 'Members').length
  }

  async #onlySystem(): Promise<string> {
    const { document } = await this.get(await this.#collection())
    const [only, ...others] = linksIn(document, 'Members')
    if (only !== undefined && others.length === 0) return only
    throw new UserError(
      'bmc-refuses',
      'Failed at determining default for "ComputerSystem": System count is not exactly one',
    )
  }

  async #collection(): Promise<string> {
    const root = await this.connection.root()
    const collection = linkIn(root, 'Systems')
    if (collection !== undefined) return collection
    throw missingAttribute('Systems/@odata.id', this.connection.account.root)
  }
}

/** Power in the document of a system; undefined where it says none. */
export const powerIn = ({ document }: RedfishResource): 'power on' | 'power off' | undefined =>
  POWERS[textIn(document, 'PowerState') ?? '']

/** Sushy's sentence for a resource that lacks what is needed of it. */
export const missingAttribute = (attribute: string, path: string): UserError =>
  new UserError('bmc-refuses', `The attribute ${attribute} is missing from the resource ${path}`)

/** Sushy's sentence for a resource without an action. */
export const missingAction = (action: string, path: string): UserError =>
  new UserError('bmc-refuses', `The action ${action} is missing from the resource ${path}`)

/** Sushy's sentence for a value that a service does not list. */
export const invalidValue = (parameter: string, value: string, valid: readonly string[]): string =>
  `The parameter "${parameter}" value "${value}" is invalid. Valid values are: ${valid.join(', ')}`
