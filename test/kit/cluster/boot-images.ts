import { imageServer } from '../deployed.js'
import { versionedImage } from '../images/versioned-images.js'
import type { Installation } from './operated-cluster.js'

/** A web server with metal images of these versions of CoreOS. */
export async function bootImageServer(versions: readonly string[]) {
  const files: Record<string, Uint8Array> = {}
  const server = await imageServer(files)
  const installations = new Map<string, Installation>()
  for (const version of versions) {
    const { bytes, sha256 } = await versionedImage(version)
    files[`/${version}/coreos-metal.raw`] = bytes
    const image = { url: server.url(`/${version}/coreos-metal.raw`), checksum: sha256, checksumType: 'sha256' }
    installations.set(version, { image, customDeploy: { method: 'install_coreos' } })
  }
  return {
    ...server,
    files,
    installation: (version: string): Installation => structuredClone(installations.get(version)!),
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  }
}

export type BootImageServer = Awaited<ReturnType<typeof bootImageServer>>

/** Stream metadata whose only metal image is that of an installation. */
export function streamOf({ image }: Installation, release: string): string {
  const disk = { location: image!.url!, sha256: image!.checksum! }
  return JSON.stringify({
    stream: 'rhel-9',
    metadata: { 'last-modified': '2026-01-01T00:00:00Z' },
    architectures: { x86_64: { artifacts: { metal: { release, formats: { raw: { disk } } } }, images: {} } },
  })
}
