import { createHash } from 'node:crypto'
import { open } from 'node:fs/promises'
import {
  digestOfFile,
  FetchFailure,
  FILE_URL_PATHS,
  fileOfUrl,
  FileUrlRefused,
  HttpClient,
  isFileUrl,
  withoutPasswords,
  type FileAnswer,
  type HttpThrough,
  type ProxySettings,
} from '../../../base/bytes/index.js'
import { defined, withClockHeld, seconds, type Clock } from '../../../base/runtime/index.js'
import {
  checkContainerImage,
  identifyImage,
  type ContainerRequest,
  type IdentifiedImage,
} from '../containers/container-image.js'
import { registryAccess, type RegistryRules } from '../containers/registry-access.js'
import { UPSTREAM_CONF } from './conductor-conf.js'
import {
  checkDigest,
  checkDownloadAlgorithm,
  expectedDigest,
  type ChecksumRules,
  type ExpectedDigest,
  type ImageChecksum,
} from './image-checksum.js'

/** Image at a URL, as far as Ironic checks it before an agent gets the URL. */
export interface FoundImage {
  /** URL after redirects. */
  url: string
  /** Format of a file; null for an image behind http. */
  format: 'raw' | 'qcow2' | null
  /** Digest of a file in hex, when requested. */
  sha256: string | null
  /** Members for `instance_info`, of an image in a container registry. */
  container?: IdentifiedImage
}

interface FindImageOptions {
  digest: boolean
  /** Checksum to compare an image with that the conductor copies or downloads itself. */
  checksum?: ImageChecksum
  /** Uuid of the node that it is for. */
  node: string
  /** How the image is chosen, if it is in a container registry. */
  container?: ContainerRequest
  signal: AbortSignal
}

/** Checks an image. The message of a rejection is what Ironic says of an image that it cannot use. */
export type FindImage = (url: string, options: FindImageOptions) => Promise<FoundImage>

/** Upstream's `[DEFAULT]webserver_connection_timeout`. */
const WEBSERVER_TIMEOUT = seconds(60)
const QCOW2 = 'QFI\xfb'

export interface ImageFinding {
  /** Sees the requests for a node. */
  through?: (node: string) => HttpThrough
  /** Proxies to the servers of images. */
  proxies?: ProxySettings | undefined
  /** Folders whose files may be images. */
  allowedPaths?: readonly string[]
  /** Rules for checksums; the defaults of Ironic. */
  checksums?: ChecksumRules
  /** How registries are asked; the defaults of Ironic. */
  registries?: RegistryRules
}

/** Checks images behind http(s) with HEAD, as Ironic does, and files of this host. */
export const findImages =
  (
    clock: Clock,
    {
      through,
      proxies,
      allowedPaths = FILE_URL_PATHS,
      checksums = UPSTREAM_CONF,
      registries = UPSTREAM_CONF,
    }: ImageFinding = {},
  ): FindImage =>
  async (url, { digest, checksum, node, signal, container }) => {
    const server = { clock, proxies, through: through?.(node), signal }
    if (container) return findInRegistry(container, server, registries)
    // The agent checks the image in any case.
    const expected =
      checksum && !checksums.disableFileChecksum
        ? await expectedDigest(checksum, url, checksums, (list) => fetchChecksumFile(list, server))
        : undefined
    if (isFileUrl(url))
      return withClockHeld(clock, `looking at the image ${withoutPasswords(url)}`, () =>
        findFile(url, { digest, allowedPaths, clock, signal, ...defined({ expected }) }),
      )
    if (expected) checkDownloadAlgorithm(expected, checksums)
    const found = await askImageServer(url, server)
    if (expected) checkDigest(expected, await digestOfDownload(found.url, expected.algorithm, server))
    return found
  }

async function findInRegistry(
  container: ContainerRequest,
  server: ImageCheckOptions,
  rules: RegistryRules,
): Promise<FoundImage> {
  const access = await registryAccess(server, rules)
  const found = await identifyImage(container, access)
  const { image_url: url, oci_image_manifest_url: manifest } = found
  // Upstream goes on with the address of a manifest that it has not got.
  if (typeof manifest !== 'string') throw new Error("'NoneType' object has no attribute 'startswith'")
  await checkContainerImage(manifest, container.account, access)
  return { url: String(url), format: null, sha256: null, container: found }
}

const describeImageProblem = (url: string, reason: string): string =>
  `Validation of image href ${withoutPasswords(url)} failed, reason: ${reason}`

interface ImageCheckOptions {
  clock: Clock
  proxies: ProxySettings | undefined
  through: HttpThrough | undefined
  signal: AbortSignal
}

async function askImageServer(url: string, options: ImageCheckOptions): Promise<FoundImage> {
  const { clock, proxies, through, signal } = options
  const limits = { connect: WEBSERVER_TIMEOUT, header: WEBSERVER_TIMEOUT }
  const http = new HttpClient({ clock, redirects: 30, limits, ...defined({ proxies, through }) })
  const answer = await http.get({ url, method: 'HEAD', signal }).catch((error: unknown) => {
    throw error instanceof FetchFailure ? new Error(describeImageProblem(url, error.message)) : error
  })
  await answer.close()
  const { status } = answer
  if (status !== 200)
    throw new Error(describeImageProblem(url, `Got HTTP code ${status} instead of 200 in response to HEAD request.`))
  return { url: answer.redirected ? answer.url : url, format: null, sha256: null }
}

/** Large enough for the lists of all releases of a distribution. */
const MAX_CHECKSUM_FILE = 2 ** 22

async function fetchChecksumFile(url: string, server: ImageCheckOptions): Promise<string> {
  const answer = await download(url, server)
  return (await answer.bytes(MAX_CHECKSUM_FILE)).toString()
}

async function digestOfDownload(url: string, algorithm: string, server: ImageCheckOptions): Promise<string> {
  const answer = await download(url, server)
  const hash = createHash(algorithm)
  for await (const part of answer.body) hash.update(part)
  return hash.digest('hex')
}

/** @throws Error in Ironic's words (common/image_service.py HttpImageService) */
async function download(url: string, options: ImageCheckOptions): Promise<FileAnswer> {
  const { clock, proxies, through, signal } = options
  const limits = { connect: WEBSERVER_TIMEOUT, header: WEBSERVER_TIMEOUT }
  const http = new HttpClient({ clock, redirects: 30, limits, ...defined({ proxies, through }) })
  const answer = await http.get({ url, signal }).catch((error: unknown) => {
    if (!(error instanceof FetchFailure)) throw error
    throw new Error(`Failed to download image ${withoutPasswords(url)}, reason: ${error.message}`)
  })
  if (answer.status === 200) return answer
  await answer.close()
  const reason = `Got HTTP code ${answer.status} instead of 200 in response to GET request.`
  throw new Error(describeImageProblem(url, reason))
}

interface FileFinding {
  digest: boolean
  expected?: ExpectedDigest
  allowedPaths: readonly string[]
  clock: Clock
  signal: AbortSignal
}

async function findFile(
  url: string,
  { digest, expected, allowedPaths, clock, signal }: FileFinding,
): Promise<FoundImage> {
  const path = await fileOfUrl(url, allowedPaths).catch((error: unknown) => {
    throw error instanceof FileUrlRefused ? new Error(describeImageProblem(url, error.message)) : error
  })
  await using file = await open(path)
  const { buffer, bytesRead } = await file.read(Buffer.alloc(4), 0, 4, 0)
  if (expected) checkDigest(expected, await digestOfFile(path, clock, { algorithm: expected.algorithm, signal }))
  const format = buffer.toString('latin1', 0, bytesRead) === QCOW2 ? 'qcow2' : 'raw'
  return { url, format, sha256: digest ? await digestOfFile(path, clock, { signal }) : null }
}
