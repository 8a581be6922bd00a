import type { Conductor, Ironic, IronicState } from '../../ironic-mock/index.js'
import { Mutex } from '../../base/runtime/index.js'
import type { Dispatch } from '../../base/wire/index.js'
import type { CurrentDatabase } from './stage-database.js'
import type { ApiSwitch } from './api-switch.js'
import type { ReservationGate } from './reservation-gate.js'

/** The Ironic of a stage as a process that can be stopped, while machines, their agents and the clock go on. */
export interface IronicProcess {
  readonly isRunning: boolean
  /**
   * Stops the conductor and its API, which answers 503 from then on. Without its database every node is lost, as with the
   * pod of OpenShift's metal3, which keeps it in an emptyDir: machines stay on, and their agents get 404 later.
   */
  stop(options: { keepsDatabase: boolean }): Promise<void>
  start(): Promise<void>
}

interface ProcessParts {
  /** Starts a conductor on the current database, with the memory of an earlier one; its API. */
  start: (from?: IronicState) => Promise<{ ironic: Ironic; dispatch: Dispatch }>
  apiSwitch: ApiSwitch
  database: CurrentDatabase
  reservations: ReservationGate
}

/** Starts and stops the Ironic of a stage. */
export class StagedIronic implements IronicProcess, AsyncDisposable {
  readonly #parts: ProcessParts
  readonly #switching = new Mutex()
  #current: Ironic | undefined
  #conductor!: Conductor

  constructor(parts: ProcessParts) {
    this.#parts = parts
  }

  get isRunning(): boolean {
    return this.#current !== undefined
  }

  /** The conductor that runs, or ran last; set by {@link begin}. */
  get conductor(): Conductor {
    return this.#conductor
  }

  /** The Ironic that runs. */
  get current(): Ironic | undefined {
    return this.#current
  }

  /** Starts the conductor without opening the API to anyone. */
  async begin(from?: IronicState): Promise<Dispatch> {
    const { ironic, dispatch } = await this.#parts.start(from)
    this.#current = ironic
    this.#conductor = ironic.conductor
    return dispatch
  }

  start(): Promise<void> {
    return this.#switching.run(async () => {
      if (!this.#current) this.#parts.apiSwitch.open(await this.begin())
    })
  }

  stop({ keepsDatabase }: { keepsDatabase: boolean }): Promise<void> {
    return this.#switching.run(async () => {
      const { apiSwitch, database, reservations } = this.#parts
      if (!keepsDatabase) database.checkOwn()
      apiSwitch.shut()
      await this[Symbol.asyncDispose]()
      if (keepsDatabase) return
      await database.lose()
      reservations.forget()
    })
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const stopping = this.#current
    this.#current = undefined
    await stopping?.[Symbol.asyncDispose]()
  }
}
