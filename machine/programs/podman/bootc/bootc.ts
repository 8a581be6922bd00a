import { MIB, randomUuid } from '../../../../base/runtime/index.js'
import type { SimulatedDisk } from '../../../disk/block-device.js'
import { writeExt4 } from '../../../disk/ext4-image.js'
import { writeFat32 } from '../../../disk/fat-image.js'
import { LUKS_DATA_OFFSET, luksHeader } from '../../../disk/luks-header.js'
import type { RootFile, RootTree } from '../../../root/root-tree.js'
import { findBlockNode, mountPoints, type BlockNode } from '../../block/block-nodes.js'
import { Pacer } from '../../coreos-installer/pacer.js'
import { withArgv, type Process } from '../../machine-program.js'
import { efibootmgr } from '../../system/efibootmgr.js'
import type { StoredFiles, StoredImage } from '../image-storage.js'
import type { PodmanOptions } from '../podman-options.js'
import { BootcFailure, duringInstallation } from './bootc-failure.js'
import { containerFiles, withSystemFolders } from './container-files.js'
import { chosenSetup, installConfig } from './install-config.js'
import { BootcUsage, installOptions, type InstallToDisk } from './install-options.js'
import { partitionDisk, type BootcPartitions, type NewRange } from './partition-disk.js'
import { osRelease, physicalRoot } from './physical-root.js'

/** A container in which bootc runs. */
export interface BootcContainer {
  image: StoredImage
  /** Name of the image, with its tag or digest. */
  name: string
  files: StoredFiles
  /** Options of `podman run`. */
  options: PodmanOptions
  command: readonly string[]
}

/** The bootc of a container, as far as installations use it; resolves with its exit code. */
export async function runBootc(process: Process, container: BootcContainer): Promise<number> {
  const { stdout, stderr } = process
  const [, verb, target, ...argv] = container.command
  if (verb === '--version' || verb === '-V') {
    stdout('bootc 1.11.0\n')
    return 0
  }
  if (verb !== 'install' || target !== 'to-disk') {
    stderr(`ERROR ${[verb, target].filter(Boolean).join(' ') || 'bootc'} is not simulated; bootc install to-disk is\n`)
    return 1
  }
  try {
    await new Installation(process, container, installOptions(argv)).run()
    return 0
  } catch (error) {
    if (error instanceof BootcUsage) {
      stderr(`error: ${error.message}\n\nUsage: bootc install to-disk [OPTIONS] <DEVICE>\n`)
      return 2
    }
    if (!(error instanceof BootcFailure)) throw error
    stderr(`ERROR ${error.message}\n`)
    return 1
  }
}

/** Bytes in front of a filesystem's own that are zeroed before it is made. */
const WIPED_BYTES = 8 * MIB

/** Everything that the installation writes. */
interface PlannedRoot {
  container: RootTree
  holes: ReadonlyMap<RootFile, number>
  partitions: BootcPartitions
  isEncrypted: boolean
  kernelArguments: readonly string[]
}

class Installation {
  readonly #process: Process
  readonly #container: BootcContainer
  readonly #options: InstallToDisk

  constructor(process: Process, container: BootcContainer, options: InstallToDisk) {
    this.#process = process
    this.#container = container
    this.#options = options
  }

  /** bootc 1.11, install.rs install_to_disk. */
  async run(): Promise<void> {
    const { stdout, inside, random, signal } = this.#process
    const { name, image, files } = this.#container
    await duringInstallation('Installing to disk', async () => {
      const node = await this.#device()
      this.#checkContainer()
      stdout(`Installing image: docker://${name}\nDigest: ${image.digest}\n`)
      const { tree: container, holes } = containerFiles(files.nodes)
      withSystemFolders(container)
      const config = installConfig(container, inside.spec.architecture)
      const rootKeys = await this.#rootKeys()
      const { partitions, isEncrypted } = await duringInstallation('Creating rootfs', async () => {
        const { blockSetup, filesystem } = chosenSetup(config, this.#options)
        await this.#wipe(node)
        this.#describe(node, blockSetup)
        const encrypted = blockSetup === 'tpm2-luks'
        const { architecture } = inside.spec
        const wanted = { isEncrypted: encrypted, rootMib: this.#options.rootSize }
        stdout('Initializing partitions\n')
        const made = await partitionDisk(node.device, architecture, wanted, random)
        stdout(`Creating root filesystem (${filesystem}) on device ${node.name}\n`)
        return { partitions: made, isEncrypted: encrypted }
      })
      signal.throwIfAborted()
      const kernelArguments = [...(config?.kernelArguments ?? []), ...this.#options.kernelArguments]
      const planned = { container, holes, partitions, isEncrypted, kernelArguments }
      stdout('Initializing ostree layout\nDeploying container image\n')
      await this.#writeRoot(node.device, planned, rootKeys)
      await this.#writeEsp(node.device, partitions.esp, container)
      stdout('Running bootupctl to install bootloader\n')
      await node.device.flush()
      await this.#addFirmwareEntry(node, partitions.esp, container)
      stdout('Trimming root\nFinalizing filesystem root\nInstallation complete!\n')
    })
  }

  /** Only a whole disk can be partitioned. */
  async #device(): Promise<BlockNode> {
    const { inside } = this.#process
    const { device } = this.#options
    const node = await findBlockNode(inside, device)
    if (!node) {
      const isFile = inside.files.exists(device)
      throw new BootcFailure(
        isFile ? `Not a block device: ${device}` : `Querying ${device}: No such file or directory (os error 2)`,
      )
    }
    return node
  }

  #checkContainer(): void {
    const { options } = this.#container
    if (options.value('--pid') !== 'host')
      throw new BootcFailure('This command must be run with the podman --pid=host flag')
    if (options.value('--privileged') === undefined)
      throw new BootcFailure('Querying root privilege: Missing required privileges; run in a privileged container')
    const volumes = options.values('-v', '--volume').map((volume) => volume.split(':')[1])
    for (const folder of ['/dev', '/var/lib/containers'])
      if (!volumes.includes(folder)) throw new BootcFailure(`Ensuring mirrored host mount ${folder}: not mounted`)
  }

  async #rootKeys(): Promise<string | null> {
    const { inside } = this.#process
    const { rootKeys } = this.#options
    if (rootKeys === undefined) return null
    const volumes = this.#container.options.values('-v', '--volume').map((volume) => volume.split(':'))
    const isSeen = volumes.some(([from, to]) => from === to && rootKeys.startsWith(`${to ?? ''}/`))
    if (!isSeen || !inside.files.exists(rootKeys))
      throw new BootcFailure(`Reading ${rootKeys}: No such file or directory (os error 2)`)
    return Promise.resolve(Buffer.from(inside.files.read(rootKeys)).toString())
  }

  async #wipe(node: BlockNode): Promise<void> {
    const { inside, stdout } = this.#process
    const { device } = this.#options
    const partitions = 'partitions' in node ? (node.partitions as readonly BlockNode[]) : undefined
    if (node.kind === 'part' || !partitions)
      throw new BootcFailure(
        'Failed to run sfdisk: Task Initializing partitions failed: ExitStatus(unix_wait_status(256))',
      )
    for (const one of [node, ...partitions])
      if (mountPoints(inside, one).length > 0) throw new BootcFailure(`Device /dev/${one.name} is mounted`)
    if (!this.#options.wipe && partitions.length > 0)
      throw new BootcFailure(
        `Detected existing partitions on ${device}; use e.g. \`wipefs\` or --wipe if you intend to overwrite`,
      )
    for (const { name, offset, length } of partitions) {
      stdout(`Wiping /dev/${name}\n`)
      await node.device.discard(offset, Math.min(length, WIPED_BYTES))
    }
    stdout(`Wiping ${device}\n`)
    await node.device.discard(0, MIB)
    await node.device.discard(Math.max(0, node.length - MIB), MIB)
  }

  #describe({ disk, length }: BlockNode, setup: string): void {
    const { stdout } = this.#process
    stdout(`Block setup: ${setup}\n       Size: ${length}\n     Serial: ${disk.serial || '<unknown>'}\n`)
    stdout(`      Model: ${disk.model || '<unknown>'}\n`)
  }

  async #writeRoot(device: SimulatedDisk, planned: PlannedRoot, rootKeys: string | null): Promise<void> {
    const { random, clock, pace, signal } = this.#process
    const { name, image, files } = this.#container
    const { container, holes, partitions, isEncrypted } = planned
    const rootUuid = randomUuid(random)
    const luksUuid = randomUuid(random)
    const bootUuid = partitions.boot ? randomUuid(random) : null
    const kernelArguments = [
      ...(isEncrypted ? [`luks.uuid=${luksUuid}`, 'luks.options=tpm2-device=auto,headless=true'] : []),
      `root=UUID=${rootUuid}`,
      'rw',
      ...(bootUuid === null ? [] : [`boot=UUID=${bootUuid}`]),
      ...planned.kernelArguments,
    ]
    const version = image.labels['org.opencontainers.image.version'] ?? osRelease(container, 'VERSION_ID') ?? ''
    const { digest } = image
    const made = physicalRoot({ container, image: name, digest, version, kernelArguments, bootUuid, rootKeys })
    const time = Math.floor(clock.now() / 1000)
    const { root } = partitions
    const skipped = isEncrypted ? LUKS_DATA_OFFSET : 0
    await device.discard(root.offset, Math.min(root.length, WIPED_BYTES))
    if (isEncrypted) await device.write(root.offset, luksHeader(luksUuid))
    const range = { offset: root.offset + skipped, length: root.length - skipped }
    await writeExt4(device, range, { label: 'root', uuid: rootUuid, time, tree: made.root, holes })
    if (partitions.boot && made.boot && bootUuid !== null)
      await writeExt4(device, partitions.boot, { label: 'boot', uuid: bootUuid, time, tree: made.boot, holes })
    const bytes = files.nodes.reduce((sum, { size }) => sum + size, 0)
    await new Pacer(clock, pace.writeRate, signal).written(bytes)
  }

  async #writeEsp(device: SimulatedDisk, esp: NewRange, container: RootTree): Promise<void> {
    const { random, inside } = this.#process
    await device.discard(esp.offset, Math.min(esp.length, WIPED_BYTES))
    const suffix = inside.spec.architecture === 'x86_64' ? 'X64' : 'AA64'
    // Programs of firmware begin so.
    const bytes = Buffer.from('MZ')
    const files = [
      { path: ['EFI', 'BOOT', `BOOT${suffix}.EFI`], bytes },
      { path: ['EFI', vendorOf(container).toUpperCase(), `SHIM${suffix}.EFI`], bytes },
    ]
    const serial = Buffer.from(random.bytes(4)).readUInt32LE(0)
    await writeFat32(device, esp, { label: 'EFI-SYSTEM', serial, files })
  }

  /** bootupd's --update-firmware. */
  async #addFirmwareEntry(node: BlockNode, esp: NewRange, container: RootTree): Promise<void> {
    const { inside } = this.#process
    if (inside.spec.firmware !== 'uefi') return
    const suffix = inside.spec.architecture === 'x86_64' ? 'x64' : 'aa64'
    const label = osRelease(container, 'NAME') ?? 'Linux'
    const loader = `\\EFI\\${vendorOf(container)}\\shim${suffix}.efi`
    for (const { number } of inside.efi.entries.filter((entry) => entry.label === label))
      await efibootmgr(withArgv(this.#process, ['efibootmgr', '--quiet', '-b', number, '-B']))
    const part = String(esp.number)
    const argv = [
      '--quiet',
      '--create',
      '--disk',
      `/dev/${node.name}`,
      '--part',
      part,
      '--label',
      label,
      '--loader',
      loader,
    ]
    await efibootmgr(withArgv(this.#process, ['efibootmgr', ...argv]))
  }
}

/** The folder of a system's boot loader: eight characters at most, as FAT has them. */
const vendorOf = (container: RootTree): string =>
  (osRelease(container, 'ID') ?? 'linux').replace(/[^a-z\d]/gi, '').slice(0, 8) || 'linux'
