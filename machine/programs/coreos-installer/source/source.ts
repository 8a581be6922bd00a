import { fileSource, type ByteStream } from '../../../../base/bytes/index.js'
import { duringInstall, Failure } from '../installer-error.js'
import type { InstallerHost, InstallerProcess } from '../installer-host.js'
import type { Fetching } from './http.js'
import type { InstallOptions } from '../command-line/installer-options.js'
import { openSigned, openStream } from './installer-stream.js'

/** An opened image. */
export interface ImageSource {
  bytes: ByteStream
  /** `none`: no signature is needed. */
  signature: { kind: 'none' } | { kind: 'missing' } | { kind: 'found'; bytes: Uint8Array }
  /** File of this process, whose contents may be in the image cache. */
  path: string | undefined
}

/** Opens the image of the options with its signature, and prints its source. */
export async function openSource(
  { host, clock }: InstallerProcess,
  options: InstallOptions,
  sectorSize: number,
  fetching: Fetching,
): Promise<ImageSource> {
  const { imageFile, imageUrl } = options
  const { print } = fetching
  if (imageFile !== undefined) {
    print(`Copying image from ${imageFile}`)
    print(`Reading signature from ${imageFile}.sig`)
    const opened = await duringInstall('opening source image file', () => host.open(imageFile))
    return { ...opened, signature: await readSignature(host, `${imageFile}.sig`, print) }
  }
  if (imageUrl !== undefined) {
    const signatureUrl = new URL(imageUrl)
    signatureUrl.pathname += '.sig'
    print(`Downloading image from ${imageUrl}`)
    print(`Downloading signature from ${signatureUrl.href}`)
    return openSigned(imageUrl, signatureUrl.href, fetching)
  }
  const architecture = options.architecture ?? host.architecture
  const { metalImage } = host
  if (options.stream === undefined && metalImage !== null && architecture === host.architecture) {
    print(`Installing ${imageTitle(metalImage)} ${architecture} (512-byte sectors)`)
    const bytes = await duringInstall('opening osmet file', () => fileSource(metalImage, clock))
    return { bytes, signature: { kind: 'none' }, path: metalImage }
  }
  if (options.offline) throw new Failure('cannot perform offline install; metadata missing')
  if (![512, 4096].includes(sectorSize)) print(`Found non-standard sector size ${sectorSize} for ${options.destDevice}`)
  const format = sectorSize === 4096 ? '4k.raw.xz' : 'raw.xz'
  return openStream({ ...options, architecture, platform: 'metal', format }, fetching)
}

async function readSignature(
  { files }: InstallerHost,
  path: string,
  print: (line: string) => void,
): Promise<ImageSource['signature']> {
  if (!files.exists(path)) {
    print("Couldn't read signature file: No such file or directory (os error 2)")
    return { kind: 'missing' }
  }
  return { kind: 'found', bytes: await duringInstall('reading signature file', () => files.read(path)) }
}

/** Title of an image from its file name: `fedora-coreos-44.1-metal.x86_64.raw.xz` is Fedora CoreOS 44.1. */
function imageTitle(path: string): string {
  const stem = path
    .slice(path.lastIndexOf('/') + 1)
    .replace(/\.(raw|img|bin)?(\.(xz|gz|zst))?$/, '')
    .replace(/[.-](x86_64|aarch64|ppc64le|s390x)$/, '')
    .replace(/[.-]metal(4k)?$/, '')
  const words = stem.split(/[-_]/).filter((word) => word !== '')
  const names: Record<string, string> = { coreos: 'CoreOS', rhcos: 'RHEL CoreOS', scos: 'CentOS Stream CoreOS' }
  return words.map((word) => names[word] ?? word.charAt(0).toUpperCase() + word.slice(1)).join(' ') || 'CoreOS'
}
