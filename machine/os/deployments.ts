import { sha256Hex } from '../../base/bytes/index.js'
import { newFile, type RootTree } from '../root/root-tree.js'
import { parentFolderOf } from '../root/root-tree.js'

/** A bootable version of the OS on a machine's disk, as ostree keeps them. */
export interface OsDeployment {
  /** Checksum of the commit, 64 hex digits. */
  checksum: string
  version: string
  /** The container image that it came from, by digest; null for the deployment of the disk image. */
  image: string | null
  /** Paths below /usr that the image adds to the base. */
  files: readonly string[]
}

/** Progress of the update from the disk image's OS to the cluster's node image. */
export interface Pivot {
  image: string
  attempts: number
  lastError: string | null
  state: 'pulling' | 'staged' | 'done'
}

export interface OsState {
  booted: OsDeployment
  /** The deployment of the next boot. */
  staged: OsDeployment | null
  /** The deployment that was booted before. */
  rollback: OsDeployment | null
  pivot: Pivot | null
  /** Digests of image layers that need not be fetched again. */
  layers: readonly string[]
  /** Version of the disk image: the layer of a base of this version is there from the start. */
  base?: string
}

const OS_NAME = 'fedora-coreos'

/** The deployments in `rpm-ostree status --json`. */
export interface RpmOstreeStatus {
  deployments: {
    osname: string
    id: string
    checksum: string
    version: string
    booted: boolean
    staged: boolean
    'container-image-reference': string | null
    'container-image-reference-digest': string | null
  }[]
  transaction: null
}

export function rpmOstreeStatus({ booted, staged, rollback }: OsState): RpmOstreeStatus {
  const shown = (deployment: OsDeployment | null, is: { booted?: boolean; staged?: boolean }) =>
    deployment
      ? [
          {
            osname: OS_NAME,
            id: `${OS_NAME}-${deployment.checksum}.0`,
            checksum: deployment.checksum,
            version: deployment.version,
            booted: is.booted ?? false,
            staged: is.staged ?? false,
            'container-image-reference': deployment.image && `ostree-unverified-registry:${deployment.image}`,
            'container-image-reference-digest': deployment.image?.split('@')[1] ?? null,
          },
        ]
      : []
  return {
    deployments: [...shown(staged, { staged: true }), ...shown(booted, { booted: true }), ...shown(rollback, {})],
    transaction: null,
  }
}

/** The deployment of a disk image, with the version from the title of the boot loader's entry. */
export function baseDeployment(title: string, kernelArguments: readonly string[]): OsDeployment {
  const version = /\d+(?:\.[\w-]+)+/.exec(title)?.[0] ?? 'unknown'
  const path = kernelArguments.find((argument) => argument.startsWith('ostree='))
  const checksum = /[0-9a-f]{64}/.exec(path ?? '')?.[0] ?? sha256Hex(title)
  return { checksum, version, image: null, files: [] }
}

/** Checksum of the commit of a container image. @param digest `sha256:...` */
export const deploymentChecksum = (digest: string): string => sha256Hex(`ostree ${digest.replace('sha256:', '')}`)

/** Title of a deployment's boot entry. */
export const titleOf = ({ version }: OsDeployment): string => `CoreOS node ${version} (ostree:0)`

const OS_RELEASE = '/usr/lib/os-release'

/** Replaces the files of one deployment by those of another. */
export function deployFiles(tree: RootTree, before: OsDeployment | null, now: OsDeployment): void {
  for (const path of before?.files ?? []) tree.remove(path)
  for (const path of now.files) {
    tree.mkdirs(parentFolderOf(path))
    tree.put(path, newFile(new Uint8Array(), { mode: path.includes('/bin/') ? 0o755 : 0o644 }))
  }
  tree.put(OS_RELEASE, newFile(Buffer.from(`NAME="CoreOS"\nID=${OS_NAME}\nVERSION="${now.version}"\n`)))
}
