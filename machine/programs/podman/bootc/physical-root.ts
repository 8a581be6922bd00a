import { sha256Hex } from '../../../../base/bytes/index.js'
import { deploymentChecksum } from '../../../os/deployments.js'
import { ROOT_KEYS_FILE } from '../../../os/root-keys-file.js'
import {
  newDirectory,
  newFile,
  newLink,
  parentFolderOf,
  RootTree,
  type RootDirectory,
  type RootNode,
} from '../../../root/root-tree.js'
import { BootcFailure } from './bootc-failure.js'

/** Everything that bootc writes besides the container's own files. */
export interface PhysicalRootOptions {
  container: RootTree
  /** With its tag: `quay.io/fedora/fedora-bootc:42`. */
  image: string
  /** Digest of the manifest, `sha256:...`. */
  digest: string
  version: string
  /** Kernel arguments before that of ostree. */
  kernelArguments: readonly string[]
  /** UUID of a filesystem for /boot; null where it is in the root filesystem. */
  bootUuid: string | null
  rootKeys: string | null
}

export interface PhysicalRoot {
  root: RootTree
  /** The boot filesystem; null where it is in the root filesystem. */
  boot: RootTree | null
  title: string
}

const STATEROOT = '/ostree/deploy/default'

/**
 * The root filesystem that `bootc install` leaves: a deployment of the container as ostree keeps it, its /var, kernel and
 * boot loader entry.
 *
 * @throws BootcFailure for a container without a kernel
 */
export function physicalRoot(options: PhysicalRootOptions): PhysicalRoot {
  const { container, image, digest, version } = options
  const kernel = kernelOf(container)
  const checksum = deploymentChecksum(digest)
  const root = new RootTree()
  const deployment = `${STATEROOT}/deploy/${checksum}.0`
  const origin = `[origin]\ncontainer-image-reference=ostree-unverified-registry:${image}\n`
  putFile(root, `${deployment}.origin`, origin)
  putFile(root, '/ostree/repo/config', '[core]\nrepo_version=1\nmode=bare\n[sysroot]\nbootloader=none\nreadonly=true\n')
  const aleph = { digest, image: `docker://${image}`, kernel: kernel.release, version, 'target-image': image }
  putFile(root, '/.bootc-aleph.json', JSON.stringify(aleph))
  putDeployment(root, deployment, options)
  const bootChecksum = sha256Hex(`boot ${digest}`)
  root.mkdirs('/ostree/boot.1/default')
  root.mkdirs(`/ostree/boot.1/default/${bootChecksum}`)
  root.put(`/ostree/boot.1/default/${bootChecksum}/0`, newLink(`../../../deploy/default/deploy/${checksum}.0`))
  const boot = options.bootUuid === null ? root : new RootTree()
  const folder = options.bootUuid === null ? '/boot' : ''
  root.mkdirs('/boot')
  const title = `${prettyName(container)} (ostree:0)`
  putKernel(boot, `${folder}/ostree/default-${bootChecksum}`, kernel)
  root.mkdirs('/boot/efi')
  const entry = loaderEntry({ ...options, title, kernel, bootChecksum, folder })
  putFile(boot, `${folder}/loader.1/entries/ostree-1.conf`, entry)
  boot.put(`${folder}/loader`, newLink('loader.1'))
  return { root, boot: options.bootUuid === null ? null : boot, title }
}

/** The container's files but its /var, which is the state of the system and not of a deployment. */
function putDeployment(root: RootTree, deployment: string, options: PhysicalRootOptions): void {
  const { container, bootUuid, rootKeys } = options
  const above = root.mkdirs(parentFolderOf(deployment))
  const own: RootDirectory = { ...container.root, entries: new Map(container.root.entries) }
  above.entries.set(deployment.split('/').at(-1)!, own)
  const state = container.lstat('/var')
  root.mkdirs(STATEROOT).entries.set('var', state?.kind === 'directory' ? state : newDirectory())
  own.entries.set('var', newDirectory())
  const etc = container.lstat('/etc')
  const entries = etc?.kind === 'directory' ? etc.entries : new Map<string, RootNode>()
  const ownEtc: RootDirectory = { ...newDirectory(), entries: new Map(entries) }
  own.entries.set('etc', ownEtc)
  // systemd takes this for a first boot (machine-id(5)).
  putFile(root, `${deployment}/etc/machine-id`, 'uninitialized\n')
  if (bootUuid !== null) putFile(root, `${deployment}/etc/fstab`, `UUID=${bootUuid} /boot auto ro 0 0\n`)
  if (rootKeys === null) return
  const home = container.lstat('/root')
  const path = home?.kind === 'link' ? home.target.replace(/^\/+/, '') : 'root'
  const line = `f~ /${path}/.ssh/authorized_keys 600 root root - ${Buffer.from(rootKeys).toString('base64')}\n`
  putFile(root, `${deployment}${ROOT_KEYS_FILE}`, line)
}

interface Kernel {
  release: string
  vmlinuz: RootNode
  initramfs: RootNode | undefined
}

function kernelOf(container: RootTree): Kernel {
  const modules = '/usr/lib/modules'
  for (const release of container.list(modules)) {
    const vmlinuz = container.lstat(`${modules}/${release}/vmlinuz`)
    if (vmlinuz?.kind === 'file')
      return { release, vmlinuz, initramfs: container.lstat(`${modules}/${release}/initramfs.img`) }
  }
  throw new BootcFailure(
    'Creating ostree deployment: Performing deployment: Failed to find kernel in /usr/lib/modules, /usr/lib/ostree-boot or /boot',
  )
}

function putKernel(boot: RootTree, folder: string, { release, vmlinuz, initramfs }: Kernel): void {
  boot.mkdirs(folder)
  boot.put(`${folder}/vmlinuz-${release}`, vmlinuz)
  if (initramfs) boot.put(`${folder}/initramfs-${release}.img`, initramfs)
}

interface EntryOptions extends PhysicalRootOptions {
  title: string
  kernel: Kernel
  bootChecksum: string
  folder: string
}

/** The comment is ironstage's: ostree's own entries do not say from which image they are. */
function loaderEntry({ title, image, digest, kernelArguments, kernel, bootChecksum, folder }: EntryOptions): string {
  const path = `${folder}/ostree/default-${bootChecksum}`
  const options = [...kernelArguments, `ostree=/ostree/boot.1/default/${bootChecksum}/0`]
  return [
    `# ${withDigest(image, digest)}`,
    `title ${title}`,
    'version 1',
    `options ${options.join(' ')}`,
    `linux ${path}/vmlinuz-${kernel.release}`,
    ...(kernel.initramfs ? [`initrd ${path}/initramfs-${kernel.release}.img`] : []),
    '',
  ].join('\n')
}

/** `quay.io/a/b@sha256:...` of a name with a tag or a digest. */
const withDigest = (image: string, digest: string): string => `${image.replace(/(?:@[^/]*|:[^/:]*)$/, '')}@${digest}`

function putFile(tree: RootTree, path: string, text: string): void {
  tree.mkdirs(parentFolderOf(path))
  tree.put(path, newFile(Buffer.from(text)))
}

/** A field of os-release(5). */
export function osRelease(container: RootTree, key: string): string | undefined {
  const text = container.text('/usr/lib/os-release') || container.text('/etc/os-release')
  return new RegExp(`^${key}=(["']?)(.*)\\1$`, 'm').exec(text)?.[2]
}

const prettyName = (container: RootTree): string =>
  osRelease(container, 'PRETTY_NAME') ?? osRelease(container, 'NAME') ?? 'Linux'
