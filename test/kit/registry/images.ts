import { gzipSync } from 'node:zlib'
import { systemClock, sharedAbort } from '../../../base/runtime/index.js'
import {
  Images,
  makeImage,
  parsePlace,
  putImage,
  blobDigestOf,
  type ImageAccess,
} from '../../../base/registry/index.js'
import { paxArchive } from '../../../base/bytes/index.js'
import type { RegistryServerHandle } from './registry-server.js'

export const { signal } = sharedAbort()
const limits = { connect: 3000, header: 2000, silence: 2000 }

export const images = (
  access: Omit<Partial<ImageAccess>, 'http'> & { http?: Partial<ImageAccess['http']> } = {},
): Images => new Images({ ...access, http: { clock: systemClock(), limits, ...access.http } }, signal)

/** Puts an image with files at a place, and returns its digest. */
export async function putFiles(
  place: string,
  files: Readonly<Record<string, string>>,
  {
    architectures = ['x86_64'],
    labels = {},
    with: client = images(),
  }: { architectures?: readonly string[]; labels?: Readonly<Record<string, string>>; with?: Images } = {},
): Promise<string> {
  const entries = Object.entries(files).map(([name, text]) => ({ name, content: Buffer.from(text) }))
  const made = makeImage({
    files: Object.fromEntries(architectures.map((architecture) => [architecture, entries])),
    labels,
    created: '2026-01-01T00:00:00Z',
    comment: 'a test',
  })
  const parsed = parsePlace(place)
  await putImage(made, { sink: client.sink(parsed), tag: parsed.tag ?? 'latest', signal })
  return made.digest
}

export interface TestLayer {
  /** Names ending in a slash are folders. */
  files?: Readonly<Record<string, string>>
  /** The layer's bytes, in place of an archive of the files. */
  bytes?: Uint8Array
  type?: string
}

/** Puts an image of several layers into a registry's own memory, in the format OCI. */
export function storeLayers(
  { repositories }: RegistryServerHandle,
  name: string,
  tag: string,
  layers: readonly TestLayer[],
  architecture = 'amd64',
): string {
  const blobs = new Map<string, Buffer>()
  const blob = (bytes: Uint8Array, mediaType: string) => {
    const digest = blobDigestOf(bytes)
    blobs.set(digest, Buffer.from(bytes))
    return { mediaType, digest, size: bytes.length }
  }
  const config = blob(
    Buffer.from(JSON.stringify({ architecture, os: 'linux', config: {} })),
    'application/vnd.oci.image.config.v1+json',
  )
  const all = layers.map(({ files = {}, bytes, type = 'application/vnd.oci.image.layer.v1.tar+gzip' }) =>
    blob(bytes ?? gzipSync(archiveOf(files)), type),
  )
  const mediaType = 'application/vnd.oci.image.manifest.v1+json'
  const manifest = Buffer.from(JSON.stringify({ schemaVersion: 2, mediaType, config, layers: all }))
  const digest = blobDigestOf(manifest)
  const known = repositories.get(name) ?? { blobs: new Map(), manifests: new Map(), tags: new Map() }
  for (const [one, bytes] of blobs) known.blobs.set(one, bytes)
  known.manifests.set(digest, { type: mediaType, bytes: manifest })
  known.tags.set(tag, digest)
  repositories.set(name, known)
  return digest
}

export const archiveOf = (files: Readonly<Record<string, string>>): Uint8Array =>
  paxArchive(
    Object.entries(files).map(([name, text]) => ({ name, content: Buffer.from(text) })),
    0,
  )

/** An archive with symbolic links, by path. */
export function linkArchive(links: Readonly<Record<string, string>>): Uint8Array {
  const archive = Buffer.from(archiveOf(Object.fromEntries(Object.keys(links).map((path) => [path, '']))))
  for (let at = 0; at < archive.length; at += 512) {
    const header = archive.subarray(at, at + 512)
    const name = header.toString('utf8', 0, 100).replace(/\0.*$/s, '')
    const target = links[name]
    if (target === undefined) continue
    header.write('2', 156)
    header.write(target, 157, 100)
    header.fill(' ', 148, 156)
    const sum = header.reduce((total, byte) => total + byte, 0)
    header.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148, 'latin1')
  }
  return archive
}
