import { createHash } from 'node:crypto'
import { newFile, type RootTree } from '../root/root-tree.js'
import { folderOf } from '../root/root-tree.js'

/** A bootable version of the OS on a machine's disk, as ostree keeps them. */
export interface OsDeployment {
  /** Of the commit, 64 hex digits. */
  checksum: string
  version: string
  /** The container image that it came from, by digest; null for what the disk image brought. */
  image: string | null
  /** What the image adds to the base: paths below /usr. */
  files: readonly string[]
}

/** On its way from what the disk image brought to the node image that the cluster wants. */
export interface Pivot {
  image: string
  attempts: number
  lastError: string | null
  state: 'pulling' | 'staged' | 'done'
}

export interface OsState {
  booted: OsDeployment
  /** Takes over at the next boot. */
  staged: OsDeployment | null
  /** What ran before. */
  rollback: OsDeployment | null
  pivot: Pivot | null
  /** Digests of image layers that need not be fetched again. */
  layers: readonly string[]
}

const NAME = 'fedora-coreos'

/** What `rpm-ostree status --json` says, as far as deployments go. */
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
            osname: NAME,
            id: `${NAME}-${deployment.checksum}.0`,
            ...{ checksum: deployment.checksum, version: deployment.version },
            ...{ booted: is.booted ?? false, staged: is.staged ?? false },
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

/** The deployment that a disk image brought: its version stands in the boot loader's entry. */
export function baseDeployment(title: string, kernelArguments: readonly string[]): OsDeployment {
  const version = /\d+(?:\.[\w-]+)+/.exec(title)?.[0] ?? 'unknown'
  const path = kernelArguments.find((argument) => argument.startsWith('ostree='))
  const checksum = /[0-9a-f]{64}/.exec(path ?? '')?.[0] ?? createHash('sha256').update(title).digest('hex')
  return { checksum, version, image: null, files: [] }
}

const OS_RELEASE = '/usr/lib/os-release'

/** The files of the deployment that runs take the place of those of the one before. */
export function deployFiles(tree: RootTree, before: OsDeployment | null, now: OsDeployment): void {
  for (const path of before?.files ?? []) tree.remove(path)
  for (const path of now.files) {
    tree.mkdirs(folderOf(path))
    tree.put(path, newFile(new Uint8Array(), { mode: path.includes('/bin/') ? 0o755 : 0o644 }))
  }
  tree.put(OS_RELEASE, newFile(Buffer.from(`NAME="CoreOS"\nID=${NAME}\nVERSION="${now.version}"\n`)))
}
