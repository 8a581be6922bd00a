/** Documents of a release, from where it is: a folder, an OCI layout, a registry. */
export interface ReleaseFiles {
  /** For messages. */
  readonly name: string
  /** Advice for a release without boot image metadata. */
  readonly remedy: string
  /** The `coreos-bootimages` ConfigMap; null without one. */
  bootImages(): Promise<ReleaseText | null>
  /**
   * `bootimage.json` by architecture.
   *
   * @param isNeeded whether large images may be searched for it
   */
  builds(isNeeded: boolean): Promise<readonly (ReleaseText & { architecture: string })[]>
}

export interface ReleaseText {
  /** For messages. */
  name: string
  text: string
}

/** The component whose image has the operating system, and in it {@link BOOT_IMAGE}. */
export const CONTENT = 'machine-os-content'
export const BOOT_IMAGE = 'bootimage.json'
/** Folder of a release image with everything that the cluster-version operator applies. */
export const MANIFESTS = 'release-manifests'
/** The file that `oc adm release new` makes of the installer's manifest. */
export const CONFIG_MAP_FILE = '0000_50_installer_coreos-bootimages.yaml'
export const CONFIG_MAP = `${MANIFESTS}/${CONFIG_MAP_FILE}`
