import { IPA_PACE } from '../agent/index.js'
import { parseIgnition, type IgnitionConfig } from '../ignition/index.js'
import { checkImage, defaultMachineSpec, type CheckedImage, type MachineSpec } from '../machine/index.js'
import { seconds, UserError, uuid, type Clock, type Logger, type Random } from '../runtime/index.js'
import type { HardwareManager } from '../steps/index.js'
import {
  ConnectionFailed,
  HttpTransport,
  IronicClient,
  IronicRefused,
  type ApiNode,
  type ClientTls,
  type ProvisionState,
  type Transport,
} from '../wire/index.js'
import { installCoreos } from './create-lab.js'
import type { DeploymentEvent, StageName } from './deployment-events.js'
import { readBack, type DeploymentReport } from './deployment-report.js'
import { makeDiskFile } from './disk-file.js'
import { machineBehind, type LabMachine } from './lab-api.js'
import { REHEARSAL_IMAGE } from './paths.js'
import { REALISTIC_MACHINES } from './realistic.js'
import { stage } from './stage.js'

export interface DeploymentOptions {
  /** Bytes of an Ignition config. */
  ignition: Uint8Array
  /** File or http(s) URL of a metal image; the rehearsal image without. */
  image?: string
  appendKargs?: readonly string[]
  deleteKargs?: readonly string[]
  /** The machine's disk. */
  disk: { file: string; size: number; overwrite: boolean }
  /** An ironstage that runs elsewhere; without, one is started for this deployment, and gone with it. */
  ironicUrl?: string
  /** How to be let in there. */
  access?: { headers?: Readonly<Record<string, string>>; tls?: ClientTls }
  realistic?: boolean
  /** What the machine's agent offers; the standard managers unless told otherwise. */
  managers?: readonly HardwareManager[]
  clock: Clock
  random: Random
  logger: Logger
  signal: AbortSignal
  onEvent: (event: DeploymentEvent) => void
}

const isUrl = (image: string): boolean => /^https?:\/\//.test(image)

/** Between two looks at a node that is being worked on, in milliseconds of real time. */
const POLL = 15

/**
 * Takes one machine from nothing to a booted system, as a client of Ironic's API over HTTP, and reads its disk back.
 *
 * @throws UserError for input that cannot be used, before anything is started; for a deployment that failed, with
 *   Ironic's `last_error` in the message
 */
export async function runDeployment(options: DeploymentOptions): Promise<DeploymentReport> {
  const { image = REHEARSAL_IMAGE, disk, clock } = options
  const config = parseIgnition(options.ignition)
  const checked = isUrl(image) ? null : await checkImage(image, clock)
  if (options.ironicUrl !== undefined) return deployThere(options, options.ironicUrl, config)
  if (checked) refuseSmallDisk(checked, disk.size)
  await makeDiskFile(disk.file, disk.size, disk.overwrite)
  return deployHere(options, config, image)
}

function refuseSmallDisk({ path, size }: CheckedImage, available: number): void {
  if (size > available)
    throw new UserError(
      'disk-too-small',
      `the image ${path} needs a disk of ${size} bytes, and this one has ${available}`,
      {
        remedy: 'give a larger --disk-size',
        kind: 'usage',
      },
    )
}

/** In an ironstage of its own, on a machine with the one disk that was asked for. */
async function deployHere(
  options: DeploymentOptions,
  config: IgnitionConfig,
  image: string,
): Promise<DeploymentReport> {
  const { clock, random, logger, disk, realistic = false, onEvent } = options
  await using own = await stage({
    ...{ clock, random, logger, network: { host: '127.0.0.1', port: 0 } },
    liveImage: isUrl(image) ? REHEARSAL_IMAGE : image,
    ...(options.managers ? { managers: options.managers } : {}),
    ...(realistic ? { machinePace: REALISTIC_MACHINES, agentPace: IPA_PACE, agentTls: true } : {}),
    onEvent: (event) => {
      if (event.kind === 'progress') onEvent({ event: 'progress', step: event.step, ...event.progress })
    },
  })
  const spec: MachineSpec = {
    ...own.spec(1),
    disks: [{ ...defaultMachineSpec(1).disks[0]!, size: disk.size, backing: { kind: 'file', file: disk.file } }],
  }
  const way = new Way({ ...options, client: own.client, transport: own.transport, url: own.url, config })
  // Without a hint an agent passes over disks of less than 4 GiB.
  const properties = {
    capabilities: `boot_mode:${spec.firmware}`,
    cpu_arch: spec.architecture,
    root_device: { serial: spec.disks[0]!.serial },
  }
  return await way.go(() => own.enroll(spec, { properties }))
}

/** In an ironstage that runs already: a new node, whose BMC nobody has configured, gets a machine there. */
async function deployThere(options: DeploymentOptions, url: string, config: IgnitionConfig): Promise<DeploymentReport> {
  const { clock, random, access: { headers = {}, tls = {} } = {} } = options
  await using transport = new HttpTransport({ clock, tls })
  const client = new IronicClient({ transport, endpoint: url, clock, headers })
  const name = `rehearsal-${uuid(random).slice(0, 8)}`
  const way = new Way({ ...options, client, transport, url, config })
  return await way.go(async () => {
    const node = await client.createNode({
      ...{ name, driver: 'redfish', deploy_interface: 'custom-agent', inspect_interface: 'agent' },
      driver_info: { redfish_address: `http://${name}`, redfish_username: 'admin', redfish_password: 'password' },
      properties: { capabilities: 'boot_mode:uefi', cpu_arch: 'x86_64' },
    })
    const [a, b, c] = random.bytes(3)
    const address = ['52', '54', '00', ...[a!, b!, c!].map((byte) => byte.toString(16).padStart(2, '0'))].join(':')
    await client.createPort({ node_uuid: node.uuid, address, pxe_enabled: true })
    return node.uuid
  })
}

interface WayParts extends DeploymentOptions {
  client: IronicClient
  transport: Transport
  url: string
  config: IgnitionConfig
}

/** One node's way, stage by stage, timed. */
class Way {
  readonly #parts: WayParts
  readonly #seconds: Partial<Record<StageName, number>> = {}

  constructor(parts: WayParts) {
    this.#parts = parts
  }

  async go(enroll: () => Promise<string>): Promise<DeploymentReport> {
    const { client, url, onEvent, image } = this.#parts
    const uuid = await this.#stage('enroll', enroll)
    const { name } = await client.node(uuid)
    const hostname = name ?? uuid
    onEvent({ event: 'started', ironic_url: url, node: hostname, uuid })
    await this.#stage('verify', () => this.#verb(uuid, 'manage', 'manageable'))
    await this.#stage('inspect', () => this.#verb(uuid, 'inspect', 'manageable'))
    await this.#stage('clean', () => this.#verb(uuid, 'provide', 'available'))
    await this.#stage('deploy', () => this.#deploy(uuid, hostname))
    const machine = await this.#stage('first boot', () => this.#booted(uuid))
    const file = machine.disks[0]?.file
    if (!file) throw new UserError('no-disk-file', `the disk of ${machine.id} is not a file, so it cannot be read back`)
    const { config, appendKargs = [], deleteKargs = [], clock } = this.#parts
    const checkedImage = image === undefined ? REHEARSAL_IMAGE : isUrl(image) ? null : image
    const asked = { ignition: config, hostname, appendKargs, deleteKargs, image: checkedImage }
    return readBack(file, hostname, asked, machine.firstBoot ?? null, this.#seconds, clock)
  }

  async #stage<T>(stage: StageName, work: () => Promise<T>): Promise<T> {
    const { clock, onEvent, signal } = this.#parts
    const since = clock.elapsed()
    const took = () => Math.round(clock.elapsed() - since) / 1000
    signal.throwIfAborted()
    onEvent({ event: 'stage', stage, status: 'started' })
    try {
      const value = await work()
      this.#seconds[stage] = took()
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
    const { client, onEvent, signal } = this.#parts
    return client.waitFor(uuid, [state], {
      every: POLL,
      signal,
      onState: ({ provision_state, power_state }) => onEvent({ event: 'state', provision_state, power_state }),
    })
  }

  async #deploy(uuid: string, hostname: string): Promise<void> {
    const { config, image, appendKargs, deleteKargs } = this.#parts
    const step = installCoreos({
      ignition: config,
      hostname,
      ...(appendKargs?.length ? { append_karg: appendKargs } : {}),
      ...(deleteKargs?.length ? { delete_karg: deleteKargs } : {}),
      ...(image !== undefined && isUrl(image) ? { image_url: image } : {}),
    })
    await this.#verb(uuid, 'active', 'active', { deploy_steps: [step] })
  }

  /** Ironic calls a node active once it is switched on; whether it boots shows only at the machine. */
  async #booted(uuid: string): Promise<LabMachine> {
    const { transport, url, clock, signal, access } = this.#parts
    const limit = clock.now() + seconds(600)
    for (;;) {
      const machine = await machineBehind(transport, url, uuid, access?.headers)
      if (machine.firstBoot || machine.boot?.outcome === 'no bootable device' || clock.now() > limit) return machine
      await clock.sleep(POLL, { signal })
    }
  }
}
