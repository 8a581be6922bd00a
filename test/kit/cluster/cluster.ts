import { refuseDowngrade } from '../../../coreos/index.js'
import { UserError } from '../../../runtime/index.js'
import type { IronicClient, JsonObject, RequestedStep } from '../../../wire/index.js'
import { installCoreos } from '../../../lab/create-lab.js'

/** The image that machines of a cluster are installed from. */
export type BootImage =
  /** A metal image that coreos-installer writes. */
  | { kind: 'coreos'; version: string; url: string; sha256: string }
  /** A disk image that Ironic has written as it is, as clusters had it that were installed before. */
  | { kind: 'qcow2'; version: string; url: string; sha256: string }

/** The parts of a cluster release. */
export interface ClusterRelease {
  /** The version of the cluster: `4.13.0`. */
  version: string
  bootImage: BootImage
  /** Pullspec of the node image, by digest; null where nodes stay what their boot image brings. */
  nodeImage: string | null
}

export type ClusterRole = 'bootstrap' | 'control plane' | 'worker'

/** Two places that should say the same, and do not. */
export interface ImageDrift {
  image: string
  places: { place: string; version: string }[]
}

/**
 * The release that a cluster is at, and what its machines are installed from: a boot image is replaced only once an
 * upgrade is complete, and never by an older one than the cluster was installed with.
 */
export class Cluster {
  readonly #installed: ClusterRelease
  #current: ClusterRelease
  #upgrade: ClusterRelease | null = null
  #bootImage: BootImage
  /** Whether machine sets keep their boot image in an upgrade. */
  readonly #pinned: boolean

  /** @param options.pinned keeps the boot image that it was installed with, as existing clusters do */
  constructor(release: ClusterRelease, options: { pinned?: boolean } = {}) {
    this.#installed = this.#current = release
    this.#bootImage = release.bootImage
    this.#pinned = options.pinned ?? false
  }

  get release(): ClusterRelease {
    return this.#current
  }

  get upgradingTo(): ClusterRelease | null {
    return this.#upgrade
  }

  /** The image for new machines. */
  get bootImage(): BootImage {
    return this.#bootImage
  }

  /** @throws UserError `version-downgrade` for a release older than the one that it was installed with; `upgrade-under-way` */
  beginUpgrade(release: ClusterRelease): void {
    if (this.#upgrade)
      throw new UserError('upgrade-under-way', `the upgrade to ${this.#upgrade.version} is not complete`)
    if (release.bootImage.kind === this.#installed.bootImage.kind && !this.#pinned)
      refuseDowngrade({ initial: this.#installed.bootImage.version, wanted: release.bootImage.version })
    this.#upgrade = release
  }

  /** Every node runs the new release: from now on new machines are installed from its boot image. */
  completeUpgrade(): void {
    if (!this.#upgrade) throw new UserError('no-upgrade', 'no upgrade is under way')
    this.#current = this.#upgrade
    this.#upgrade = null
    if (!this.#pinned) this.#bootImage = this.#current.bootImage
  }

  /**
   * Makes a boot image the one of new machines.
   *
   * @throws UserError `boot-image-withheld` while an upgrade is under way
   */
  updateBootImage(image: BootImage): void {
    if (this.#upgrade)
      throw new UserError(
        'boot-image-withheld',
        `the boot image ${image.version} is withheld: the upgrade to ${this.#upgrade.version} is not complete`,
        { remedy: 'complete the upgrade first: a new machine must not be newer than the cluster that it joins' },
      )
    refuseDowngrade({ initial: this.#installed.bootImage.version, wanted: image.version })
    this.#bootImage = image
  }

  /** Differences between the boot images of the installer, the release and the cluster. */
  drift(sources: Readonly<Record<string, string>>): ImageDrift[] {
    const places = [
      { place: 'machine sets', version: this.#bootImage.version },
      ...Object.entries(sources).map(([place, version]) => ({ place, version })),
    ]
    return places.some(({ version }) => version !== places[0]!.version) ? [{ image: 'boot image', places }] : []
  }

  /** How a machine is asked to be provisioned now: the fields to patch the node with, and the request. */
  provisioning(role: ClusterRole, image: BootImage = this.#bootImage): ProvisioningRequest {
    const ignition = this.#ignitionFor(role)
    const configdrive = { meta_data: {}, network_data: {}, user_data: JSON.stringify(ignition) }
    // Also for coreos-installer, which could be told by its arguments: Ironic rebuilds no node without one.
    const instance_info = {
      ...{ image_source: image.url, image_os_hash_algo: 'sha256', image_os_hash_value: image.sha256 },
    }
    switch (image.kind) {
      case 'coreos':
        return {
          fields: { deploy_interface: 'custom-agent', instance_info },
          deploySteps: [installCoreos()],
          configdrive,
        }
      case 'qcow2':
        return { fields: { deploy_interface: 'direct', instance_info }, configdrive }
    }
  }

  #ignitionFor(role: ClusterRole): object {
    const image = this.#current.nodeImage
    const config = { ignition: { version: '3.4.0' } }
    if (image === null) return config
    const [path, text] =
      role === 'bootstrap'
        ? ['/etc/pivot/image-pullspec', `${image}\n`]
        : ['/etc/ignition-machine-config-encapsulated.json', JSON.stringify({ spec: { osImageURL: image } })]
    const source = `data:,${encodeURIComponent(text)}`
    return { ...config, storage: { files: [{ path, mode: 0o644, contents: { source } }] } }
  }
}

export interface ProvisioningRequest {
  fields: JsonObject
  deploySteps?: RequestedStep[]
  configdrive: JsonObject
}

/** Has a node provisioned as a cluster's operator does; `rebuild` re-provisions one that is in use, in place. */
export async function provisionNode(
  client: Pick<IronicClient, 'patchNode' | 'provision'>,
  uuid: string,
  { fields, deploySteps, configdrive }: ProvisioningRequest,
  target: 'active' | 'rebuild' = 'active',
): Promise<void> {
  await client.patchNode(
    uuid,
    Object.entries(fields).map(([name, value]) => ({ op: 'add' as const, path: `/${name}`, value })),
  )
  await client.provision(uuid, target, { configdrive, ...(deploySteps ? { deploy_steps: deploySteps } : {}) })
}
