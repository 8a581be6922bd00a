import { defined } from '../../base/runtime/index.js'
import type { MachineSpec, Machines } from '../../machine/index.js'
import { InProcessTransport, IronicClient, type Dispatch, type Transport } from '../../base/wire/index.js'
import type { BmcAccounts } from '../bmcs/bmc-accounts.js'
import type { BmcAccount } from '../../control/index.js'
import { enroll } from '../enroll.js'
import type { DeployRequest } from '../lab.js'
import type { Input } from '../snapshots/lab-input.js'
import { IN_PROCESS_URL, type Connections } from './connections.js'
import type { StageCore } from './stage-core.js'
import type { CurrentDatabase } from './stage-database.js'
import type { SnapshotStore } from './stage-keeper.js'
import type { WantedMachine } from './machine-specs.js'

interface EnrollmentState {
  /** Number of the last machine that was made by its number. */
  readonly number: number
  readonly deployments: ReadonlyMap<string, DeployRequest>
}

interface EnrollmentParts {
  machines: Machines
  database: CurrentDatabase
  accounts: BmcAccounts
  spec: (wanted: WantedMachine) => MachineSpec
  /** Conductor group of the stage's Ironic, which the nodes join. */
  group: string
}

/** Registers machines of a stage as nodes, and keeps the deployments that these were enrolled with. */
export class StageEnrollment implements SnapshotStore<EnrollmentState> {
  readonly #core: Pick<StageCore, 'clock' | 'probe'>
  readonly #connections: Connections
  readonly #parts: EnrollmentParts
  readonly #deployments = new Map<string, DeployRequest>()
  #number = 0

  constructor(core: Pick<StageCore, 'clock' | 'probe'>, connections: Connections, parts: EnrollmentParts) {
    this.#core = core
    this.#connections = connections
    this.#parts = parts
  }

  /** Enrolls machines while the API answers no other client yet: on a transport of their own. */
  async enrollFirst(machines: readonly { spec: WantedMachine; name: string }[], dispatch: Dispatch): Promise<void> {
    const early = new InProcessTransport()
    using _mounted = early.register(IN_PROCESS_URL, dispatch)
    const client = this.#client(early, IN_PROCESS_URL)
    for (const { spec, name } of machines) await this.#enrollBy(client, this.#parts.spec(spec), { name })
  }

  /** Enrolls a machine, by default the next one by number; returns the node's uuid. */
  async enroll({ spec, fields, deployment }: Omit<Input & { do: 'enroll' }, 'do'>): Promise<string> {
    const { transport, url } = this.#connections
    const client = this.#client(transport, url)
    const uuid = await this.#enrollBy(client, spec ?? this.#parts.spec(++this.#number), fields)
    if (deployment) this.#deployments.set(uuid, deployment)
    return uuid
  }

  /** The deployment that a node was enrolled with. */
  deploymentOf(uuid: string): DeployRequest {
    return this.#deployments.get(uuid) ?? {}
  }

  #client(transport: Transport, endpoint: string): IronicClient {
    const { clock, probe } = this.#core
    const { access, ownExchanges } = this.#connections
    const { headers } = access
    return new IronicClient({ transport: ownExchanges.client(transport, probe, clock), endpoint, headers, clock })
  }

  #enrollBy(client: IronicClient, spec: MachineSpec, fields: Record<string, unknown> | undefined): Promise<string> {
    const { machines, database, accounts, group } = this.#parts
    const account = (address: string) => accounts.of(address)
    const setAccount = (address: string, made: BmcAccount) => accounts.set(address, made)
    const ownGroup = defined({ conductor_group: group === '' ? undefined : group })
    const parts = { client, machines, store: database.watched, account, setAccount }
    return enroll(parts, spec, { ...ownGroup, ...fields })
  }

  take(): EnrollmentState {
    return { number: this.#number, deployments: new Map(this.#deployments) }
  }

  restore({ number, deployments }: EnrollmentState): void {
    this.#number = number
    this.#deployments.clear()
    for (const [uuid, deployment] of deployments) this.#deployments.set(uuid, deployment)
  }
}
