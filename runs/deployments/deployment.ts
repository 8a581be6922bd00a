import { IPA_PACE } from '../../agent/index.js'
import type { IgnitionConfig } from '../../ignition/index.js'
import { checkImage, withHardware, type CheckedImage, type MachineHardware } from '../../machine/index.js'
import { seconds, UserError, uuid } from '../../runtime/index.js'
import { HttpTransport, IronicClient, type ClientTls, type Transport } from '../../wire/index.js'
import { readBack, type DeploymentReport } from './deployment-report.js'
import type { DeploymentRequest } from './deployment-request.js'
import { givenIgnition } from './given-ignition.js'
import { makeDiskFile } from './disk-file.js'
import type { ImageCacheRequest } from '../../lab/index.js'
import { machineBehind, type MachineReport } from '../../lab/index.js'
import { REHEARSAL_IMAGE } from '../../lab/index.js'
import { REALISTIC_MACHINES } from '../../lab/index.js'
import { stage } from '../../lab/index.js'
import { POLL, Way, type WayWork } from './way.js'

export interface DeploymentOptions extends DeploymentRequest {
  /** File or http(s) URL of a metal image; the rehearsal image without. */
  image?: string
  /** What an image from a URL must be: the SHA-256 of what is served, hex. */
  imageSha256?: string
  /** The machine's disk. */
  disk: { file: string; size: number; overwrite: boolean }
  /** An ironstage that runs elsewhere; without, one is started for this deployment, and gone with it. */
  ironicUrl?: string
  /** How to be let in there. */
  access?: { headers?: Readonly<Record<string, string>>; tls?: ClientTls }
  /** The account of the BMCs there, when they have been given one. */
  bmcAccount?: { username: string; password: string }
  /** What the simulated machine is made of; `disk` is its first disk, the one that is installed to. */
  hardware?: MachineHardware
  realistic?: boolean
  /** Where images from URLs are kept, and how they are fetched. */
  images?: ImageCacheRequest
}

const isUrl = (image: string): boolean => /^https?:\/\//.test(image)

/**
 * Takes one machine from nothing to a booted system, as a client of Ironic's API over HTTP, and reads its disk back.
 *
 * @throws UserError for input that cannot be used, before anything is started; for a deployment that failed, with
 *   Ironic's `last_error` in the message
 */
export async function runDeployment(options: DeploymentOptions): Promise<DeploymentReport> {
  const { image = REHEARSAL_IMAGE, disk, clock } = options
  const config = givenIgnition(options.ignition, options.checkIgnition ?? true, options.logger)
  const checked = isUrl(image)
    ? null
    : await checkImage(image, clock, options.ironicUrl === undefined ? disk.size : Infinity)
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
    ...(options.images ? { imageCache: options.images } : {}),
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
  const way = new Way({ ...options, ...installs(options.image), client, url, config })
  // Without a hint an agent passes over disks of less than 4 GiB.
  const properties = {
    capabilities: `boot_mode:${spec.firmware}`,
    cpu_arch: spec.architecture,
    root_device: { serial: spec.disks[0]!.serial },
  }
  return await way.go({
    enroll: () => own.enroll(spec, { properties }),
    ...{ inspect: true, clean: true },
    finish: finishing({ ...options, transport, url, config }),
  })
}

/** In an ironstage that runs already: a new node, whose BMC nobody has configured, gets a machine there. */
async function deployThere(options: DeploymentOptions, url: string, config: IgnitionConfig): Promise<DeploymentReport> {
  const { clock, random, signal, access: { headers = {}, tls = {} } = {} } = options
  const { username, password } = options.bmcAccount ?? { username: 'admin', password: 'password' }
  await using http = new HttpTransport({ clock, tls })
  const transport: Transport = { send: (request) => http.send({ signal, ...request }) }
  const client = new IronicClient({ transport, endpoint: url, clock, headers })
  const name = `rehearsal-${uuid(random).slice(0, 8)}`
  const way = new Way({ ...options, ...installs(options.image), client, url, config })
  const enroll = async () => {
    const node = await client.createNode({
      ...{ name, driver: 'redfish', deploy_interface: 'custom-agent', inspect_interface: 'agent' },
      driver_info: { redfish_address: `http://${name}`, redfish_username: username, redfish_password: password },
      properties: { capabilities: 'boot_mode:uefi', cpu_arch: 'x86_64' },
    })
    const [a, b, c] = random.bytes(3)
    const address = ['52', '54', '00', ...[a!, b!, c!].map((byte) => byte.toString(16).padStart(2, '0'))].join(':')
    await client.createPort({ node_uuid: node.uuid, address, pxe_enabled: true })
    return node.uuid
  }
  return await way
    .go({
      enroll,
      ...{ inspect: true, clean: true },
      finish: finishing({ ...options, transport, url, config }),
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

const installs = (image: string | undefined) => (image !== undefined && isUrl(image) ? { imageUrl: image } : {})

interface Finishing extends DeploymentOptions {
  transport: Transport
  url: string
  config: IgnitionConfig
}

/** Waits for the machine's first boot and reads its disk back. */
const finishing =
  (parts: Finishing): WayWork['finish'] =>
  async (way, uuid, hostname) => {
    const machine = await way.stage('first boot', () => booted(parts, uuid))
    const file = machine.disks[0]?.file
    if (!file) throw new UserError('no-disk-file', `the disk of ${machine.id} is not a file, so it cannot be read back`)
    const { config, appendKargs = [], deleteKargs = [], clock, image } = parts
    const checkedImage = image === undefined ? REHEARSAL_IMAGE : isUrl(image) ? null : image
    const asked = { ignition: config, hostname, appendKargs, deleteKargs, image: checkedImage }
    return readBack(file, hostname, asked, machine.firstBoot ?? null, way.seconds, clock)
  }

/** Ironic calls a node active once it is switched on; whether it boots shows only at the machine. */
async function booted({ transport, url, clock, signal, access }: Finishing, uuid: string): Promise<MachineReport> {
  const limit = clock.now() + seconds(600)
  for (;;) {
    const machine = await machineBehind(transport, url, uuid, access?.headers)
    if (machine.firstBoot || machine.boot?.outcome === 'no bootable device' || clock.now() > limit) return machine
    await clock.sleep(POLL * clock.speed, { signal })
  }
}
