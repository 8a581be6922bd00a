import { PROMPT_PACE } from '../../../agent/index.js'
import { checkMetalImage, ImageDigests } from '../../../machine/index.js'
import { defined, Mutex, openInScope, UserError, randomUuid, type Random } from '../../../base/runtime/index.js'
import type { IronicClient } from '../../../base/wire/index.js'
import { readPartitions } from '../../../steps/index.js'
import { withBootNonce } from './boot-nonce.js'
import { clearDiskAfterReboot } from './clear-after-reboot.js'
import { readBack, type DeploymentReport } from './deployment-report.js'
import type { DeploymentRequest } from './deployment-request.js'
import { checkedIgnition } from './checked-ignition.js'
import { REHEARSAL_IMAGE } from '../../../lab/index.js'
import { stagedFile } from '../../../lab/index.js'
import { openRealAgent, type RealAgent } from '../agents/real-agent.js'
import type { RealTarget } from '../targets/real-target.js'
import { serveImage } from './served-image.js'
import { reportAfterReboot, chosenDisk, waitForReboot } from './real-first-boot.js'
import { composeStage } from '../../../lab/index.js'
import { fetchBy, LabClient } from '../../../control/index.js'
import { DeploymentRun, WHOLE_JOURNAL } from './deployment-run.js'
import { NodeSearch } from './node-search.js'
import { ERRORS } from '../errors.js'

export interface RealDeploymentOptions extends DeploymentRequest {
  on: RealTarget
  /**
   * File of this host or http(s) URL of a metal image. Default: the rehearsal image, or on a machine behind SSH the image
   * in its live system.
   */
  image?: string
  /** Expected SHA-256 of the bytes of an image from a URL, in hex. */
  imageSha256?: string
  /**
   * Wait until the machine has booted the installed system, and verify that it is the installed one. Needs SSH and the
   * permission to reboot.
   */
  verifyBoot?: boolean
}

/** Provision states in which the agent starts, and those in which it keeps running. */
const AGENT_STARTS = /^(wait call-back|clean wait)$/
const AGENT_RUNS = /^(wait call-back|deploying|clean wait|cleaning)$/

/**
 * Installs CoreOS on a real machine, with an Ironic started for it. The node has no BMC: Ironic only records a power
 * state, and nothing switches the machine.
 *
 * @throws UserError for invalid input, before anything is written; for a failed deployment, with Ironic's `last_error`
 *   in the message
 */
export async function runRealDeployment(options: RealDeploymentOptions): Promise<DeploymentReport> {
  const { clock, random, logger, managers, verifyBoot = false } = options
  const ignition = checkedIgnition(options.ignition, options.checkIgnition ?? true, logger)
  const reboots = rebootsOf(options)
  const { installerFails } = options.on.target
  if (installerFails) throw installerFails
  const { config, nonce } = verifyBoot ? withBootNonce(ignition, random) : { config: ignition, nonce: null }
  await using image = await openImage(options)
  const { on } = image
  await using own = await composeStage({
    clock,
    random,
    logger,
    network: { host: '127.0.0.1', port: 0 },
    ...defined({ journal: options.onDetails ? WHOLE_JOURNAL : undefined, managers }),
  })
  const clean = on.target.has('cleaning')
  const agentFailure = new AbortController()
  const signal = AbortSignal.any([options.signal, agentFailure.signal])
  await using agents = new NodeAgent({ ...options, on }, own.url, reboots, (why) => agentFailure.abort(why))
  own.events.listen((event) => {
    if (event.kind === 'node') agents.follow(event.node)
  })
  const run = new DeploymentRun({
    ...options,
    signal,
    client: own.client,
    control: new LabClient(own.url, { fetch: fetchBy(own.transport), headers: own.headers }),
    url: own.url,
    config,
    ...defined({ imageUrl: image.url ?? undefined }),
  })
  const before = on.ssh && { identity: on.ssh.shell.identity, hostKey: on.ssh.shell.hostKey }
  const disk = await chosenDisk(on)
  await using digests = image.file !== null && on.file !== null ? new ImageDigests(image.file, clock) : undefined
  const { appendKargs = [], deleteKargs = [] } = options
  const running = run.run({
    enroll: () => enrollRealNode(own.client, on, { reboots, clean, random }),
    inspect: false,
    clean,
    finish: async (_, __, hostname) => {
      const requested = { ignition: config, hostname, appendKargs, deleteKargs, image: image.file }
      if (on.file !== null)
        return readBack(on.file, hostname, { ...requested, ...defined({ digests }) }, undefined, run.seconds, clock)
      if (!reboots) return reportFromTarget(on, hostname, run.seconds)
      const verified = await run.stage('first boot', () =>
        waitForReboot(options, before!, disk, { ...requested, nonce }),
      )
      return reportAfterReboot(on, hostname, run.seconds, verified)
    },
  })
  const named = running.then((report) => ({ ...report, ...writtenBy(on) }))
  return await named.catch(async (error: unknown) => {
    if (run.seconds.deploy === undefined && !options.signal.aborted) await clearDiskAfterReboot(on, logger)
    throw error
  })
}

/** Installer and confinement of a target, for the report. */
const writtenBy = ({ target, installer }: RealTarget) => ({
  confinement: target.confinement,
  ...defined({ installer: installer ?? undefined }),
})

/** The image of a deployment as its target reaches it. */
interface ReachableImage extends AsyncDisposable {
  /** Null for the image in the live system. */
  readonly url: string | null
  /** Null for an image that is no file of this host. */
  readonly file: string | null
  /** The target, which stages the file by itself where it can. */
  readonly on: RealTarget
}

/** @throws UserError for a file that is no metal image, or is larger than the disk */
function openImage(options: RealDeploymentOptions): Promise<ReachableImage> {
  const { on, clock, random, logger } = options
  return openInScope(async (scope) => {
    const file = options.image ?? (on.ssh ? null : REHEARSAL_IMAGE)
    const close = { [Symbol.asyncDispose]: () => scope[Symbol.asyncDispose]() }
    if (file === null || /^https?:\/\//.test(file)) return { url: file, file: null, on, ...close }
    const { size } = await checkMetalImage(file, clock, { keep: false })
    refuseLarge(file, size, options)
    const { url } = scope.use(await serveImage(file, { clock, random, logger }))
    if (!on.ssh) return { url, file, on, ...close }
    const { put, shell } = on.ssh
    if (put) return { url, file, on: stagingByCopy(on, { url, file }, put), ...close }
    const forwarded = scope.use(await shell.forward(Number(new URL(url).port)))
    return { url: withPort(url, forwarded.port), file, on, ...close }
  })
}

function refuseLarge(file: string, size: number, { on: { disk }, onEvent }: RealDeploymentOptions): void {
  onEvent({ event: 'disk', path: disk.path, size: disk.size, model: disk.model })
  if (size <= disk.size) return
  throw new UserError('disk-too-small', `the image ${file} needs ${size} bytes, and ${disk.path} has ${disk.size}`, {
    kind: 'usage',
    remedy: 'choose a larger disk; nothing was written',
  })
}

async function enrollRealNode(
  client: IronicClient,
  on: RealTarget,
  { reboots, clean, random }: { reboots: boolean; clean: boolean; random: Random },
): Promise<string> {
  const { uuid } = await client.createNode({
    uuid: randomUuid(random),
    name: 'real',
    deploy_interface: 'custom-agent',
    inspect_interface: 'no-inspect',
    ...(reboots ? REBOOT_BY_AGENT : NO_POWER_CONTROL),
    properties: { root_device: { name: on.disk.path }, cpu_arch: 'x86_64' },
    automated_clean: clean,
  })
  // Ironic's generic boot interfaces require a port, and an Ironic elsewhere would find no node without one.
  await client.createPort({ node_uuid: uuid, address: await readFirstMac(on, random) })
  return uuid
}

/** Copies the file behind a URL to the target, instead of streaming it. */
function stagingByCopy(
  on: RealTarget,
  { url, file }: { url: string; file: string },
  put: NonNullable<NonNullable<RealTarget['ssh']>['put']>,
): RealTarget {
  return { ...on, target: { ...on.target, stage: stagedFile(on.target.stage, { url, file }, put) } }
}

/** Ironic ends with its recorded power state, and never asks the agent to switch the machine off. */
const NO_POWER_CONTROL = {
  driver: 'fake-hardware',
  power_interface: 'fake',
  driver_info: { deploy_forces_oob_reboot: true },
}
/** Ironic's settings for a machine without a BMC: its agent reboots it, and it is never switched off. */
const REBOOT_BY_AGENT = { driver: 'manual-management', power_interface: 'agent', disable_power_off: true }

function rebootsOf({ on, verifyBoot = false }: RealDeploymentOptions): boolean {
  const usage = (message: string, remedy: string) => new UserError('verify-boot', message, { kind: 'usage', remedy })
  if (verifyBoot && !on.ssh) throw usage('--verify-boot is for a machine behind SSH', 'leave it out')
  if (verifyBoot && !on.target.has('reboot'))
    throw usage('--verify-boot reboots the machine, which was not allowed', 'use --allow reboot')
  const reboots = on.ssh !== undefined && on.target.has('reboot')
  if (reboots && on.target.has('cleaning'))
    throw usage(
      'a machine without a BMC is rebooted after cleaning, and then is no longer in the system that we are logged in to',
      'allow either cleaning or reboot',
    )
  return reboots
}

/** MAC address of the machine's first NIC; a generated one for a machine without a NIC. */
async function readFirstMac({ target: { executor } }: RealTarget, random: Random): Promise<string> {
  const folder = '/sys/class/net'
  for (const name of await executor.files.list(folder).catch(() => [])) {
    const bytes = await executor.files.read(`${folder}/${name}/address`).catch(() => new Uint8Array())
    const address = Buffer.from(bytes).toString('utf8').trim()
    if (/^[0-9a-f]{2}(:[0-9a-f]{2}){5}$/.test(address) && address !== '00:00:00:00:00:00') return address
  }
  return ['02', ...[...random.bytes(5)].map((byte) => byte.toString(16).padStart(2, '0'))].join(':')
}

function withPort(url: string, port: number): string {
  const there = new URL(url)
  there.port = String(port)
  return there.href
}

/** Starts the agent when Ironic expects the ramdisk to boot, and stops it when Ironic has finished with it. */
class NodeAgent implements AsyncDisposable {
  readonly #options: RealDeploymentOptions
  readonly #ironicUrl: string
  readonly #lock = new Mutex()
  #agent: RealAgent | undefined
  #wanted = false
  #starts = 0
  readonly #search: NodeSearch

  /**
   * @param keepRunning an agent that reboots its machine must outlive Ironic's work on the node
   * @param onFailure called with the reason for which there will be no agent
   */
  constructor(
    options: RealDeploymentOptions,
    ironicUrl: string,
    private readonly keepRunning: boolean,
    private readonly onFailure: (why: UserError) => void,
  ) {
    this.#options = options
    this.#ironicUrl = ironicUrl
    this.#search = new NodeSearch({ clock: options.clock, logger: options.logger, onFailure })
  }

  follow({ uuid: nodeUuid, provision_state: state }: { uuid: string; provision_state: string }): void {
    const wanted = (this.#wanted ? AGENT_RUNS : AGENT_STARTS).test(state)
    if (wanted === this.#wanted || (this.#wanted && this.keepRunning)) return
    this.#wanted = wanted
    void this.#lock
      .run(() => this.#switch(nodeUuid, wanted))
      .catch((cause: unknown) => {
        this.onFailure(
          new UserError('no-agent', 'the agent does not start', { cause, remedy: ERRORS['no-agent'].remedy }),
        )
      })
  }

  async #switch(nodeUuid: string, wanted: boolean): Promise<void> {
    await this.#agent?.[Symbol.asyncDispose]()
    this.#agent = undefined
    this.#search.restart()
    if (!wanted) return
    const { on, managers, clock, random, logger, onEvent } = this.#options
    this.#agent = await openRealAgent({
      on,
      start: this.#starts++,
      serves: { ironicUrl: this.#ironicUrl, nodeUuid },
      pace: PROMPT_PACE,
      clock,
      random,
      logger,
      ...defined({ managers }),
      onSearch: (search) => this.#search.tried(search),
      onProgress: (progress) => {
        const { step } = progress
        if (progress.kind === 'stage') onEvent({ event: 'progress', step, stage: progress.name })
        else if (progress.kind === 'percent') onEvent({ event: 'progress', step, percent: progress.value })
        else onEvent({ event: 'progress', step, line: progress.text })
      },
    })
  }

  [Symbol.asyncDispose](): Promise<void> {
    this.#wanted = false
    return this.#lock.run(() => this.#switch('', false))
  }
}

/** Report from the target's own programs. The step itself has compared the disk's contents with the request. */
async function reportFromTarget(
  on: RealTarget,
  node: string,
  seconds: DeploymentReport['seconds'],
): Promise<DeploymentReport> {
  const { path, size } = on.disk
  const { type, partitions } = await readPartitions(on.target, path)
  const boot = partitions.find(({ label }) => label === 'boot')
  const checks = [
    {
      what: 'partition table',
      ok: type === 'gpt',
      found: type === null ? 'none' : `${type}, ${partitions.length} partitions`,
    },
    { what: 'boot filesystem', ok: boot !== undefined, found: boot === undefined ? 'none' : boot.name },
    { what: 'Ignition config and kernel arguments', ok: true, found: 'read back by install_coreos' },
  ]
  return {
    node,
    disk: { file: path, size, table: type, guid: null },
    partitions: partitions.map(({ number, partitionLabel, filesystem, label }) => ({
      number: number ?? 0,
      name: partitionLabel,
      filesystem,
      label,
      offset: 0,
      length: 0,
    })),
    ignition: null,
    kernel_arguments: [],
    seconds,
    checks,
    ok: checks.every(({ ok }) => ok),
  }
}
