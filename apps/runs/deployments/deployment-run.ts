import type { IgnitionConfig } from '../../../ignition/index.js'
import { defined, errorChain, UserError, type Clock, type Logger } from '../../../base/runtime/index.js'
import {
  ConnectionFailed,
  IronicRefused,
  type ApiNode,
  type IronicClient,
  type ProvisionState,
} from '../../../base/wire/index.js'
import { installCoreos } from '../../../lab/index.js'
import { nodeDetails, type NodeDetails } from '../../../report/index.js'
import type { LabClient } from '../../../control/index.js'
import type { DeploymentEvent, StageName } from './deployment-events.js'
import type { DeploymentReport } from './deployment-report.js'
import { ERRORS } from '../errors.js'

/** Time between two requests for a node's state, in milliseconds of wall time. */
export const DEPLOYMENT_POLL_INTERVAL = 15

/** Room for the polls of a deployment of half an hour, so that its beginning is in the report. */
export const WHOLE_JOURNAL = { capacity: 200_000 }

export interface DeploymentRunOptions {
  client: IronicClient
  url: string
  config: IgnitionConfig
  /** True if the step refuses a config that Ignition would refuse; default true. */
  checkIgnition?: boolean
  appendKargs?: readonly string[]
  deleteKargs?: readonly string[]
  /** URL of the image to install; default the image in the live system. */
  imageUrl?: string
  /** Expected SHA-256 of that image. */
  imageSha256?: string
  clock: Clock
  signal: AbortSignal
  onEvent: (event: DeploymentEvent) => void
  onDetails?: (details: NodeDetails) => void
  /** Client of the control API beside the Ironic, for {@link onDetails}. */
  control: LabClient
  logger: Logger
}

/** A network namespace begins with its loopback interface down. */
const LOOPBACK_REMEDY = 'switch the loopback interface on: ip link set lo up'

const isLoopbackDown = (error: unknown, url: string): boolean =>
  new URL(url).hostname === '127.0.0.1' && errorChain(error).some((line) => line.includes('ENETUNREACH'))

/** Phases in which deployments differ. */
export interface DeploymentPhases {
  enroll: () => Promise<string>
  /** Work before the deployment: inspection, cleaning. */
  inspect: boolean
  clean: boolean
  /** Makes the report, from the node's uuid and host name. */
  finish: (run: DeploymentRun, uuid: string, hostname: string) => Promise<DeploymentReport>
}

/** Deployment of one node, stage by stage, with the time that each stage took. */
export class DeploymentRun {
  readonly #parts: DeploymentRunOptions
  readonly seconds: Partial<Record<StageName, number>> = {}

  constructor(parts: DeploymentRunOptions) {
    this.#parts = parts
  }

  async run({ enroll, inspect, clean, finish }: DeploymentPhases): Promise<DeploymentReport> {
    const uuid = await this.stage('enroll', enroll)
    try {
      return await this.#deployNode(uuid, { inspect, clean, finish })
    } finally {
      await this.#collect(uuid)
    }
  }

  async #deployNode(
    uuid: string,
    { inspect, clean, finish }: Omit<DeploymentPhases, 'enroll'>,
  ): Promise<DeploymentReport> {
    const { client, url, onEvent } = this.#parts
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

  /** Collects what happened. A lab that does not answer any more costs the report, not the deployment. */
  async #collect(uuid: string): Promise<void> {
    const { onDetails, control, logger } = this.#parts
    if (!onDetails) return
    try {
      onDetails(await nodeDetails(control, uuid))
    } catch (error) {
      logger('warn', `what happened to the node is not in the report: ${errorChain(error).join(': ')}`, { error })
    }
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
      throw this.#asUserError(error)
    }
  }

  /** Turns refusals of Ironic and failed connections into user errors, since they are not defects of ironstage. */
  #asUserError(error: unknown): unknown {
    const { url } = this.#parts
    if (error instanceof IronicRefused)
      return new UserError(
        'ironic-refused',
        `Ironic refused ${error.call} (${error.status}): ${error.message}`,
        defined({
          remedy: error.status === 401 ? 'set OS_AUTH_TYPE=http_basic, OS_USERNAME and OS_PASSWORD' : undefined,
        }),
      )
    if (error instanceof ConnectionFailed)
      return new UserError('ironic-unreachable', `no Ironic answers at ${url}`, {
        cause: error,
        remedy: isLoopbackDown(error, url) ? LOOPBACK_REMEDY : ERRORS['ironic-unreachable'].remedy,
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
      every: DEPLOYMENT_POLL_INTERVAL * clock.speed,
      signal,
      onState: ({ provision_state, power_state }) => onEvent({ event: 'state', provision_state, power_state }),
    })
  }

  async #deploy(uuid: string, hostname: string): Promise<void> {
    const { config, checkIgnition = true, imageUrl, imageSha256, appendKargs, deleteKargs } = this.#parts
    const step = installCoreos({
      ignition: config,
      hostname,
      ...defined({
        append_karg: appendKargs?.length ? appendKargs : undefined,
        delete_karg: deleteKargs?.length ? deleteKargs : undefined,
        image_url: imageUrl,
        image_sha256: imageSha256,
        check_ignition: checkIgnition ? undefined : false,
      }),
    })
    await this.#verb(uuid, 'active', 'active', { deploy_steps: [step] })
  }
}
