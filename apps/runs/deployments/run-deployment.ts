import { IPA_PACE } from '../../../agent/index.js'
import type { IgnitionConfig } from '../../../ignition/index.js'
import { checkMetalImage, withHardware, type CheckedImage, type MachineHardware } from '../../../machine/index.js'
import { defined, seconds, systemClock, UserError, randomUuid } from '../../../base/runtime/index.js'
import { HttpTransport, IronicClient, type ClientTls, type Transport } from '../../../base/wire/index.js'
import { readBack, type DeploymentReport } from './deployment-report.js'
import type { DeploymentRequest } from './deployment-request.js'
import { checkedIgnition } from './checked-ignition.js'
import { WaitReports, waitsFor } from './first-boot-wait.js'
import { makeDiskFile } from './disk-file.js'
import type { ImageCacheRequest } from '../../../lab/index.js'
import { fetchBy, LabClient, machineBehind, type MachineReport } from '../../../control/index.js'
import { REHEARSAL_IMAGE } from '../../../lab/index.js'
import { REALISTIC_MACHINES } from '../../../lab/index.js'
import { composeStage } from '../../../lab/index.js'
import { DEPLOYMENT_POLL_INTERVAL, DeploymentRun, WHOLE_JOURNAL, type DeploymentPhases } from './deployment-run.js'

export interface DeploymentOptions extends DeploymentRequest {
  /** File or http(s) URL of a metal image; default the rehearsal image. */
  image?: string
  /** Expected SHA-256 of the bytes of an image from a URL, in hex. */
  imageSha256?: string
  /** The machine's disk. */
  disk: { file: string; size: number; overwrite: boolean }
  /** URL of a running ironstage; by default one is started for this deployment only. */
  ironicUrl?: string
  /** Credentials for that ironstage. */
  access?: { headers?: Readonly<Record<string, string>>; tls?: ClientTls }
  /** Account of the BMCs there, when one was set. */
  bmcAccount?: { username: string; password: string }
  /** Hardware of the simulated machine. Its first disk is `disk`, which is installed to. */
  hardware?: MachineHardware
  realistic?: boolean
  /** Image cache, and options for downloads. */
  images?: ImageCacheRequest
}

const isUrl = (image: string): boolean => /^https?:\/\//.test(image)

/**
 * Deploys one simulated machine as a client of Ironic's API over HTTP, from enrollment to the first boot, and reads its
 * disk back.
 *
 * @throws UserError for invalid input, before anything is started; for a failed deployment, with Ironic's `last_error`
 *   in the message
 */
export async function runDeployment(options: DeploymentOptions): Promise<DeploymentReport> {
  const { image = REHEARSAL_IMAGE, disk, clock } = options
  const config = checkedIgnition(options.ignition, options.checkIgnition ?? true, options.logger)
  const checked = isUrl(image)
    ? null
    : await checkMetalImage(image, clock, options.ironicUrl === undefined ? { disk: disk.size } : {})
  if (options.ironicUrl !== undefined) return deployWithRunningLab(options, options.ironicUrl, config)
  if (checked) refuseSmallDisk(checked, disk.size)
  await makeDiskFile(disk.file, disk.size, disk.overwrite)
  return deployWithOwnLab(options, config, image)
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

/** Deploys in a new ironstage, on a machine with the requested disk. */
async function deployWithOwnLab(
  options: DeploymentOptions,
  config: IgnitionConfig,
  image: string,
): Promise<DeploymentReport> {
  const { clock, random, logger, disk, realistic = false, onEvent } = options
  await using own = await composeStage({
    clock,
    random,
    logger,
    network: { host: '127.0.0.1', port: 0 },
    ...defined({ journal: options.onDetails ? WHOLE_JOURNAL : undefined }),
    metalImage: isUrl(image) ? REHEARSAL_IMAGE : image,
    ...defined({ managers: options.managers, imageCache: options.images }),
    ...(realistic ? { machinePace: REALISTIC_MACHINES, agentPace: IPA_PACE, agentTls: true } : {}),
    onEvent: (event) => {
      if (event.kind === 'progress') onEvent({ event: 'progress', step: event.step, ...event.progress })
    },
  })
  const [installed, ...more] = options.hardware?.disks ?? []
  const disks = [{ ...installed, size: disk.size }, ...more]
  const made = withHardware(own.spec(1), { ...options.hardware, disks })
  const [first, ...others] = made.disks
  const spec = { ...made, disks: [{ ...first!, backing: { kind: 'file' as const, file: disk.file } }, ...others] }
  const { client, transport, url } = own
  const control = new LabClient(url, { fetch: fetchBy(transport), headers: own.headers })
  const run = new DeploymentRun({ ...options, ...urlOption(options.image), client, control, url, config })
  // Without a root-device hint the agent ignores disks of less than 4 GiB.
  const properties = {
    capabilities: `boot_mode:${spec.firmware}`,
    cpu_arch: spec.architecture,
    root_device: { serial: spec.disks[0]!.serial },
  }
  return await run.run({
    enroll: () => own.enroll(spec, { properties }),
    inspect: true,
    clean: true,
    finish: finishAfterBoot({ ...options, transport, url, config }),
  })
}

/** Deploys in a running ironstage, which creates a machine for a node with an unknown BMC address. */
async function deployWithRunningLab(
  options: DeploymentOptions,
  url: string,
  config: IgnitionConfig,
): Promise<DeploymentReport> {
  const { clock, random, signal, access: { headers = {}, tls = {} } = {} } = options
  const { username, password } = options.bmcAccount ?? { username: 'admin', password: 'password' }
  await using http = new HttpTransport({ clock, tls })
  const transport: Transport = { send: (request) => http.send({ signal, ...request }) }
  const client = new IronicClient({ transport, endpoint: url, clock, headers })
  const name = `rehearsal-${randomUuid(random).slice(0, 8)}`
  const control = new LabClient(url, { fetch: fetchBy(transport), headers })
  const run = new DeploymentRun({ ...options, ...urlOption(options.image), client, control, url, config })
  const enroll = async () => {
    const node = await client.createNode({
      name,
      driver: 'redfish',
      deploy_interface: 'custom-agent',
      inspect_interface: 'agent',
      driver_info: { redfish_address: `http://${name}`, redfish_username: username, redfish_password: password },
      properties: { capabilities: 'boot_mode:uefi', cpu_arch: 'x86_64' },
    })
    const [a, b, c] = random.bytes(3)
    const address = ['52', '54', '00', ...[a!, b!, c!].map((byte) => byte.toString(16).padStart(2, '0'))].join(':')
    await client.createPort({ node_uuid: node.uuid, address, pxe_enabled: true })
    return node.uuid
  }
  return await run
    .run({
      enroll,
      inspect: true,
      clean: true,
      finish: finishAfterBoot({ ...options, transport, url, config }),
    })
    .catch((error: unknown) => {
      throw isRefusedAccount(error) ? otherAccount(error, username, url) : error
    })
}

const isRefusedAccount = (error: unknown): error is UserError =>
  error instanceof UserError && /returned code 401\b/.test(error.message)

const otherAccount = (error: UserError, username: string, url: string): UserError =>
  new UserError(error.code, error.message, {
    cause: error.cause,
    remedy: `the BMCs of ${url} refuse ${username} with this password: give the --bmc-user and --bmc-password that its ironstage up was started with`,
  })

const urlOption = (image: string | undefined) => (image !== undefined && isUrl(image) ? { imageUrl: image } : {})

interface FinishOptions extends DeploymentOptions {
  transport: Transport
  url: string
  config: IgnitionConfig
}

/** Waits for the machine's first boot and reads its disk back. */
const finishAfterBoot =
  (parts: FinishOptions): DeploymentPhases['finish'] =>
  async (run, uuid, hostname) => {
    const { machine, cause } = await run.stage('first boot', () => waitForFirstBoot(parts, uuid))
    const file = machine.disks[0]?.file
    if (!file) throw new UserError('no-disk-file', `the disk of ${machine.id} is not a file, so it cannot be read back`)
    const { config, appendKargs = [], deleteKargs = [], clock, image } = parts
    const checkedImage = image === undefined ? REHEARSAL_IMAGE : isUrl(image) ? null : image
    const requested = { ignition: config, hostname, appendKargs, deleteKargs, image: checkedImage }
    const firstBoot = machine.firstBoot ?? { didNotHappen: cause }
    return readBack(file, hostname, requested, firstBoot, run.seconds, clock)
  }

/** Waits for the machine's first boot. A node is active in Ironic as soon as it is switched on, even if it cannot boot. */
async function waitForFirstBoot(
  { transport, url, clock, signal, access, onEvent }: FinishOptions,
  uuid: string,
): Promise<{ machine: MachineReport; cause: string | null }> {
  const limit = clock.now() + seconds(600)
  const control = new LabClient(url, { fetch: fetchBy(transport), ...defined({ headers: access?.headers }) })
  const wall = systemClock()
  const reports = new WaitReports(wall.elapsed())
  for (;;) {
    const machine = await machineBehind(transport, url, uuid, access?.headers)
    if (machine.firstBoot || machine.boot?.outcome === 'no bootable device') return { machine, cause: null }
    const waited = reports.due(wall.elapsed())
    const isLate = clock.now() > limit
    if (waited !== null || isLate) {
      const { journal } = await control.systemJournal(uuid)
      const cause = waitsFor(journal)
      if (isLate) return { machine, cause }
      onEvent({ event: 'waiting', stage: 'first boot', seconds: waited ?? 0, for: cause })
    }
    await clock.sleep(DEPLOYMENT_POLL_INTERVAL * clock.speed, { signal })
  }
}
