import type { IgnitionConfig } from '../../ignition/index.js'
import { UserError, type Clock } from '../../runtime/index.js'
import {
  ConnectionFailed,
  IronicRefused,
  type ApiNode,
  type IronicClient,
  type ProvisionState,
} from '../../wire/index.js'
import { installCoreos } from '../../lab/index.js'
import type { DeploymentEvent, StageName } from './deployment-events.js'
import type { DeploymentReport } from './deployment-report.js'

/** Between two looks at a node that is being worked on, in milliseconds of wall time. */
export const POLL = 15

export interface WayParts {
  client: IronicClient
  url: string
  config: IgnitionConfig
  /** Whether the step is to refuse a config that Ignition would refuse; true unless told otherwise. */
  checkIgnition?: boolean
  appendKargs?: readonly string[]
  deleteKargs?: readonly string[]
  /** What the step is to install, by URL; what the live system carries without. */
  imageUrl?: string
  /** What that must be. */
  imageSha256?: string
  clock: Clock
  signal: AbortSignal
  onEvent: (event: DeploymentEvent) => void
}

/** What is done on a way, apart from what every node goes through. */
export interface WayWork {
  enroll: () => Promise<string>
  /** Whether the machine is inspected and whether it is cleaned. */
  inspect: boolean
  clean: boolean
  /** The last look, with the node's uuid and its host name. */
  finish: (way: Way, uuid: string, hostname: string) => Promise<DeploymentReport>
}

/** One node's way, stage by stage, timed. */
export class Way {
  readonly #parts: WayParts
  readonly seconds: Partial<Record<StageName, number>> = {}

  constructor(parts: WayParts) {
    this.#parts = parts
  }

  async go({ enroll, inspect, clean, finish }: WayWork): Promise<DeploymentReport> {
    const { client, url, onEvent } = this.#parts
    const uuid = await this.stage('enroll', enroll)
    const { name } = await client.node(uuid)
    const hostname = name ?? uuid
    onEvent({ event: 'started', ironic_url: url, node: hostname, uuid })
    await this.stage('verify', () => this.#verb(uuid, 'manage', 'manageable'))
    if (inspect) await this.stage('inspect', () => this.#verb(uuid, 'inspect', 'manageable'))
    const provide = () => this.#verb(uuid, 'provide', 'available')
    await (clean ? this.stage('clean', provide) : provide())
    await this.stage('deploy', () => this.#deploy(uuid, hostname))
    return finish(this, uuid, hostname)
  }

  async stage<T>(stage: StageName, work: () => Promise<T>): Promise<T> {
    const { clock, onEvent, signal } = this.#parts
    const since = clock.elapsed()
    const took = () => Math.round(clock.elapsed() - since) / 1000
    signal.throwIfAborted()
    onEvent({ event: 'stage', stage, status: 'started' })
    try {
      const value = await work()
      this.seconds[stage] = took()
      onEvent({ event: 'stage', stage, status: 'done', seconds: took() })
      return value
    } catch (error) {
      onEvent({ event: 'stage', stage, status: 'failed', seconds: took() })
      throw this.#forPeople(error)
    }
  }

  /** What Ironic refuses and what does not answer is no defect of ours. */
  #forPeople(error: unknown): unknown {
    const { url } = this.#parts
    if (error instanceof IronicRefused)
      return new UserError('ironic-refused', `Ironic refused ${error.call} (${error.status}): ${error.message}`, {
        ...(error.status === 401 ? { remedy: 'set OS_AUTH_TYPE=http_basic, OS_USERNAME and OS_PASSWORD' } : {}),
      })
    if (error instanceof ConnectionFailed)
      return new UserError('ironic-unreachable', `no Ironic answers at ${url}`, {
        cause: error,
        remedy: 'start one with ironstage up, or correct --ironic-url',
      })
    return error
  }

  async #verb(
    uuid: string,
    verb: string,
    state: ProvisionState,
    more: Parameters<IronicClient['provision']>[2] = {},
  ): Promise<void> {
    const { client } = this.#parts
    await client.provision(uuid, verb, more)
    await this.#wait(uuid, state)
  }

  #wait(uuid: string, state: ProvisionState): Promise<ApiNode> {
    const { client, clock, onEvent, signal } = this.#parts
    return client.waitFor(uuid, [state], {
      every: POLL * clock.speed,
      signal,
      onState: ({ provision_state, power_state }) => onEvent({ event: 'state', provision_state, power_state }),
    })
  }

  async #deploy(uuid: string, hostname: string): Promise<void> {
    const { config, checkIgnition = true, imageUrl, imageSha256, appendKargs, deleteKargs } = this.#parts
    const step = installCoreos({
      ignition: config,
      hostname,
      ...(appendKargs?.length ? { append_karg: appendKargs } : {}),
      ...(deleteKargs?.length ? { delete_karg: deleteKargs } : {}),
      ...(imageUrl === undefined ? {} : { image_url: imageUrl }),
      ...(imageSha256 === undefined ? {} : { image_sha256: imageSha256 }),
      ...(checkIgnition ? {} : { check_ignition: false }),
    })
    await this.#verb(uuid, 'active', 'active', { deploy_steps: [step] })
  }
}
