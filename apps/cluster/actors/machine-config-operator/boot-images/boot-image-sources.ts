import { bootImageFor, BUILD_META, compareVersions, STREAM_KIND } from '../../../../../coreos/index.js'
import { UserError } from '../../../../../base/runtime/index.js'
import type { KubeClient } from '../../../kube/kube-client.js'
import type { BareMetalProviderSpec, MachineSet } from '../../../kube/kinds/machine-kinds.js'
import type { ContainerPuller } from '../../../site/site-releases.js'
import { BOOT_IMAGES } from '../machine-config-names.js'

/** An image that machines are installed from. */
export interface OfferedImage {
  version: string
  url: string
  /** SHA-256, hex. */
  checksum: string
}

/** Version of the boot image by the account of one place. */
export interface BootImagePlace {
  /** `coreos-bootimages`, `release payload`, `machine set NAME`. */
  place: string
  version: string
}

/** `None` pins the boot image of a machine set: in a real cluster a selection mode of the MachineConfiguration object. */
export const UPDATES = 'machineconfiguration.openshift.io/boot-image-updates'
/** The image and the method that a managed machine set had last: what an image that is set too early is replaced by. */
export const APPROVED = 'machineconfiguration.openshift.io/approved-boot-image'
/** Version of that image. */
export const BOOT_IMAGE_VERSION = 'machineconfiguration.openshift.io/boot-image-version'

const ARCHITECTURE_LABELS = 'capacity.cluster-autoscaler.kubernetes.io/labels'

/** Architecture of a machine set's computers (machine-config-operator 7ff337a pkg/controller/bootimage/helpers.go). */
export function machineSetArchitecture({ metadata }: MachineSet): string {
  const labels = metadata.annotations?.[ARCHITECTURE_LABELS] ?? ''
  const named = /(?:^|,)kubernetes\.io\/arch=([^,]+)/.exec(labels)?.[1] ?? 'amd64'
  return { amd64: 'x86_64', arm64: 'aarch64' }[named] ?? named
}

export const providerSpecOf = ({ spec }: MachineSet): BareMetalProviderSpec =>
  spec.template.spec.providerSpec.value ?? {}

/** The metal image of the release that the ConfigMap of the installer names. */
export async function offeredImage(kube: KubeClient, architecture: string): Promise<OfferedImage | undefined> {
  const text = (await kube.find('ConfigMap', BOOT_IMAGES))?.data?.['stream']
  if (text === undefined || text === '') return undefined
  try {
    const stream = STREAM_KIND.read(text, 'data.stream in coreos-bootimages')
    const found = bootImageFor(stream, architecture, 'metal')
    const disk = found.kind === 'files' ? found.files.disk : undefined
    if (found.kind !== 'files' || !disk) return undefined
    return { version: found.release, url: disk.location, checksum: disk.sha256 }
  } catch (error) {
    if (error instanceof UserError) return undefined
    throw error
  }
}

/** Version of the build that the release payload's bootimage.json describes; undefined without one. */
export async function payloadVersion(
  registry: ContainerPuller,
  image: string,
  signal: AbortSignal,
): Promise<string | undefined> {
  const { payload } = await registry.pull(image, signal)
  if (payload?.bootimage === undefined) return undefined
  try {
    return BUILD_META.read(payload.bootimage, 'bootimage.json')['ostree-version']
  } catch (error) {
    if (error instanceof UserError) return 'no readable bootimage.json'
    throw error
  }
}

const VERSION_IN_URL = /\d{2,}(?:\.\d+){2,3}(?:-\d+)?|\d+\.\d+\.20\d{6}(?:\d{4})?[-.]\d+/g

/** Version of the image that a machine set installs; undefined when nothing says it. */
export function versionOfSet(set: MachineSet, known: readonly OfferedImage[]): string | undefined {
  const { url = '', checksum = '' } = providerSpecOf(set).image ?? {}
  const same = known.find((image) => image.url === url || image.checksum === checksum)
  if (same) return same.version
  const { [APPROVED]: approved, [BOOT_IMAGE_VERSION]: version } = set.metadata.annotations ?? {}
  const isApproved = approved !== undefined && approved.includes(JSON.stringify(url))
  return (isApproved ? version : undefined) ?? url.match(VERSION_IN_URL)?.at(-1)
}

/** Whether an image is older than another; not when one of them is of another family. */
export function isOlder(version: string, than: string): boolean {
  try {
    return compareVersions(version, than) < 0
  } catch (error) {
    if (error instanceof UserError) return false
    throw error
  }
}

/** One sentence for places that do not say the same; undefined when they do. */
export function skewOf(places: readonly BootImagePlace[]): string | undefined {
  if (places.every(({ version }) => version === places[0]!.version)) return undefined
  return `boot images differ: ${places.map(({ place, version }) => `${place} has ${version}`).join(', ')}`
}
