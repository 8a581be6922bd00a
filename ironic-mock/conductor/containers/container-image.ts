import { withoutPasswords } from '../../../base/bytes/index.js'
import { isObject } from '../../../base/runtime/index.js'
import type { JsonObject } from '../../../base/wire/index.js'
import type { PullAccount } from './pull-account.js'
import { containerPlace, RegistryClient, type RegistryClientOptions, type RegistryDocument } from './registry-client.js'

/** An image in a container registry, and what Ironic chooses one of several by. */
export interface ContainerRequest {
  /** `oci://HOST/NAME`, with a tag, a digest, both or neither. */
  readonly href: string
  readonly account: PullAccount | undefined
  /** `image_download_source`: with `local` the conductor downloads it. */
  readonly downloadSource: string
  /** `properties.cpu_arch` of the node. */
  readonly architecture: string | undefined
}

/** Members that Ironic adds to `instance_info`; none where nothing fits. */
export type IdentifiedImage = Readonly<JsonObject>

type DiskType = 'raw' | 'qcow2' | 'bootc' | undefined

/** An entry of an index, or a manifest that is the only one. */
interface Candidate {
  readonly entry: RegistryDocument
  readonly diskType: DiskType
}

/**
 * Which of a registry's images a node gets, as ironic 39.0.0 chooses (common/image_service.py OciImageService
 * identify_specific_image). It asks the registry two to four times.
 *
 * @throws Error in Ironic's words
 */
export async function identifyImage(
  { href, account, downloadSource, architecture }: ContainerRequest,
  options: RegistryClientOptions,
): Promise<IdentifiedImage> {
  const place = containerPlace(href)
  const client = new RegistryClient(place, options)
  if (account !== undefined || options.authenticationFile !== null) await client.authenticate(account)
  if (place.digest !== undefined) return byDigest(client, href, place.digest)
  const entries = entriesOf(await client.index(), place.href)
  if (downloadSource === 'swift')
    throw new Error(
      'An image_download_source of swift is incompatible with retrieval of artifacts from an OCI container registry.',
    )
  for (const candidate of ranked(entries, downloadSource, architecture)) {
    const found = await identified(client, href, candidate)
    if (found) return found
  }
  return {}
}

/** Looks at the manifest once more, as Ironic does before an agent gets the address of the image. */
export async function checkContainerImage(
  manifest: string,
  account: PullAccount | undefined,
  options: RegistryClientOptions,
): Promise<void> {
  const { digest } = containerPlace(manifest)
  const client = new RegistryClient(containerPlace(manifest), options)
  if (account !== undefined || options.authenticationFile !== null) await client.authenticate(account)
  if (digest !== undefined) await client.manifest(checkedDigest(manifest, digest))
}

async function byDigest(client: RegistryClient, href: string, digest: string): Promise<IdentifiedImage> {
  const manifest = await client.manifest(checkedDigest(href, digest))
  const artifact = isArtifact(manifest)
  const blob = artifact ? textOf(layersOf(manifest)[0]?.['digest']) : digest
  return {
    oci_image_manifest_url: href,
    image_checksum: blob?.split(':')[1] ?? null,
    image_url: artifact && blob !== undefined ? client.blobUrl(blob) : href,
    // The format of an artifact is not said anywhere in its manifest.
    image_disk_format: artifact ? 'unknown' : 'bootc',
    image_request_authorization_secret: client.authorization,
  }
}

const DIGEST_DIGITS: Readonly<Record<string, number>> = { sha256: 64, sha512: 128 }

function checkedDigest(reference: string, digest: string): string {
  const href = withoutPasswords(reference)
  const [algorithm = '', value] = digest.toLowerCase().split(':')
  const failed = (reason: string) => new Error(`Validation of image href ${href} failed, reason: ${reason}`)
  if (value === undefined) throw failed('Lacking required digest value')
  const digits = DIGEST_DIGITS[algorithm]
  if (digits === undefined)
    throw new Error(
      `The requested image (${href}) was not specific. Please supply a full URL mapping to the manifest to be utilized for the file download.`,
    )
  if (value.length !== digits)
    throw failed('Manifest digest length incorrect and does not match the expected lenngth of the algorithm.')
  return digest
}

function entriesOf(index: RegistryDocument, href: string): RegistryDocument[] {
  const entries = documents(index['manifests'])
  if (entries.length > 0) return entries
  if (index['mediaType'] === 'application/vnd.oci.image.manifest.v1+json') return [index]
  throw new Error(`Invalid image href ${href}.`)
}

/** Formats that an agent or a conductor takes, the best first; applehv is raw as well. */
const FORMATS = {
  agent: ['raw', 'applehv', 'qcow2', 'qemu'],
  conductor: ['qcow2', 'qemu', 'raw', 'applehv'],
}

/** The entries of the node's architecture with a format that is known or none, the best first. */
function ranked(
  entries: readonly RegistryDocument[],
  downloadSource: string,
  architecture: string | undefined,
): Candidate[] {
  const formats = FORMATS[downloadSource === 'local' ? 'conductor' : 'agent']
  const rankOf = (format: string | undefined) => (format === undefined ? formats.length : formats.indexOf(format))
  return entries
    .filter((entry) => runsOn(entry, architecture))
    .map((entry) => ({ entry, format: textOf(members(entry['annotations'])['disktype']) || undefined }))
    .filter(({ format }) => rankOf(format) !== -1)
    .sort((one, other) => rankOf(one.format) - rankOf(other.format))
    .map(({ entry, format }) => ({ entry, diskType: diskTypeOf(format, entry) }))
}

function diskTypeOf(format: string | undefined, entry: RegistryDocument): DiskType {
  if (format !== undefined) return format === 'raw' || format === 'applehv' ? 'raw' : 'qcow2'
  return isArtifact(entry) ? undefined : 'bootc'
}

/** Names of an architecture, by Ironic and in registries. */
const ARCHITECTURES = [
  ['x86_64', 'amd64'],
  ['aarch64', 'arm64'],
]

function runsOn(entry: RegistryDocument, wanted: string | undefined): boolean {
  const own = textOf(members(entry['platform'])['architecture'])
  if (!wanted || !own) return true
  return own === wanted || ARCHITECTURES.some((names) => names.includes(own) && names.includes(wanted))
}

async function identified(
  client: RegistryClient,
  href: string,
  { entry, diskType }: Candidate,
): Promise<IdentifiedImage | undefined> {
  const digest = textOf(entry['digest']) ?? textOf(entry['dockerContentDigest'])
  const own = layersOf(entry)
  if (own.length === 0 && digest === undefined) throw new Error("'NoneType' object has no attribute 'split'")
  const layers = own.length > 0 ? own : layersOf(await client.manifest(digest!))
  // Several layers are a container's, not an image of a disk.
  if (layers.length !== 1 && diskType !== 'bootc') return undefined
  const [layer = {}] = layers
  const blob = textOf(layer['digest']) ?? ''
  const isBootc = diskType === 'bootc'
  const mediaType = isBootc ? undefined : textOf(layer['mediaType'])
  return {
    image_url: isBootc ? href : client.blobUrl(blob),
    image_size: isBootc ? sizeOf(entry, layers) : (layer['size'] ?? null),
    image_filename: isBootc ? null : (members(layer['annotations'])['org.opencontainers.image.title'] ?? null),
    image_checksum: (isBootc ? (digest ?? '') : blob).split(':')[1] ?? null,
    image_container_manifest_digest: digest ?? null,
    image_media_type: mediaType ?? null,
    image_compression_type: compressionOf(mediaType),
    image_disk_format: diskType ?? null,
    image_request_authorization_secret: client.authorization,
    oci_image_manifest_url: digest === undefined ? null : `${withoutTag(href)}@${digest}`,
  }
}

function withoutTag(href: string): string {
  const { host, repository } = containerPlace(href)
  return `oci://${host}${repository}`
}

function compressionOf(mediaType: string | undefined): 'zstd' | 'gzip' | null {
  if (mediaType?.endsWith('zstd')) return 'zstd'
  return mediaType?.endsWith('gzip') ? 'gzip' : null
}

/** An artifact says its type, or has an empty config. */
const isArtifact = (manifest: RegistryDocument): boolean =>
  Boolean(manifest['artifactType']) || members(manifest['config'])['mediaType'] === 'application/vnd.oci.empty.v1+json'

const sizeOf = (entry: RegistryDocument, layers: readonly RegistryDocument[]): number =>
  [members(entry['config']), ...layers].reduce((sum, { size }) => sum + (typeof size === 'number' ? size : 0), 0)

const layersOf = (manifest: RegistryDocument): RegistryDocument[] => documents(manifest['layers'])
const documents = (list: unknown): RegistryDocument[] => (Array.isArray(list) ? list.filter(isObject) : [])
const members = (value: unknown): RegistryDocument => (isObject(value) ? value : {})
const textOf = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined)
