import { fileSource, memorySource, type ByteSource } from '../../disk/byte-source.js'
import type { Process } from '../program.js'
import { during, Failure } from './failure.js'
import { fetchAll, openUrl, type Fetching } from './http.js'
import type { InstallOptions } from './options.js'

/** An image ready to be read. */
export interface ImageSource {
  bytes: ByteSource
  /** `none`: nobody signed it and none is needed. */
  signature: { kind: 'none' } | { kind: 'missing' } | { kind: 'found'; bytes: Uint8Array }
  /** A file of this host, whose contents may be had from the shelf. */
  path: string | undefined
}

/** Finds the image as the options say, telling where from, and its signature. */
export async function openSource(process: Process, options: InstallOptions, fetching: Fetching): Promise<ImageSource> {
  const { inside, clock } = process
  const { imageFile, imageUrl } = options
  const print = fetching.print
  if (imageFile !== undefined) {
    print(`Copying image from ${imageFile}`)
    print(`Reading signature from ${imageFile}.sig`)
    const bytes = await during('opening source image file', () => inside.files.read(imageFile))
    return { bytes: memorySource(bytes), signature: readSignature(process, `${imageFile}.sig`, print), path: undefined }
  }
  if (imageUrl !== undefined) return downloaded(imageUrl, fetching)
  if (options.stream === undefined && inside.spec.liveImage !== null && matches(process, options)) {
    const path = inside.spec.liveImage
    print(`Installing ${imageTitle(path)} ${options.architecture ?? inside.spec.architecture} (512-byte sectors)`)
    const bytes = await during('opening osmet file', () => fileSource(path, clock))
    return { bytes, signature: { kind: 'none' }, path }
  }
  if (options.offline) throw new Failure('cannot perform offline install; metadata missing')
  throw new Failure(
    'fetching stream metadata',
    new Failure('CoreOS streams are not rehearsed; give --image-url, --image-file or --offline'),
  )
}

const matches = (process: Process, options: InstallOptions): boolean =>
  (options.architecture ?? process.inside.spec.architecture) === process.inside.spec.architecture

function readSignature(process: Process, path: string, print: (line: string) => void): ImageSource['signature'] {
  if (process.inside.files.exists(path)) return { kind: 'found', bytes: process.inside.files.read(path) }
  print("Couldn't read signature file: No such file or directory (os error 2)")
  return { kind: 'missing' }
}

async function downloaded(url: string, fetching: Fetching): Promise<ImageSource> {
  const signatureUrl = new URL(url)
  signatureUrl.pathname += '.sig'
  fetching.print(`Downloading image from ${url}`)
  fetching.print(`Downloading signature from ${signatureUrl.href}`)
  let signature: ImageSource['signature']
  try {
    signature = { kind: 'found', bytes: await fetchAll(signatureUrl.href, fetching) }
  } catch (error) {
    if (fetching.signal.aborted) throw error
    fetching.print('Failed to fetch signature: fetching signature URL')
    signature = { kind: 'missing' }
  }
  const bytes = await during('fetching image URL', () => openUrl(url, fetching))
  return { bytes, signature, path: undefined }
}

/** What an image calls itself, from its file name: `fedora-coreos-44.1-metal.x86_64.raw.xz` is Fedora CoreOS 44.1. */
export function imageTitle(path: string): string {
  const stem = path
    .slice(path.lastIndexOf('/') + 1)
    .replace(/\.(raw|img|bin)?(\.(xz|gz|zst))?$/, '')
    .replace(/[.-](x86_64|aarch64|ppc64le|s390x)$/, '')
    .replace(/[.-]metal(4k)?$/, '')
  const words = stem.split(/[-_]/).filter((word) => word !== '')
  const names: Record<string, string> = { coreos: 'CoreOS', rhcos: 'RHEL CoreOS', scos: 'CentOS Stream CoreOS' }
  return words.map((word) => names[word] ?? word.charAt(0).toUpperCase() + word.slice(1)).join(' ') || 'CoreOS'
}
