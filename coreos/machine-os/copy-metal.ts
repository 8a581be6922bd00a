import { readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { withClockHeld, replaceLink } from '../../base/runtime/index.js'
import { copyIso, type CopyOptions } from './copy-iso.js'
import { copyPxe } from './copy-pxe.js'
import { AGENT_LINK, shippedStream, storedIsos, streamNameOf, type OsVersion } from './image-content.js'

export interface CopyMetalOptions extends CopyOptions {
  /** `pxe`: files that are served unchanged for network boots. `image-build`: files from which an image is built for each machine. */
  what?: 'all' | 'pxe' | 'image-build'
  /** CoreOS version that links without a stream in their names point to. */
  version?: OsVersion
  /** Architecture of the host, which also gets links without an architecture in their names. */
  architecture: string
}

const PXE_LINKS = { kernel: '-vmlinuz', initramfs: '-initrd.img', rootfs: '-rootfs.img' } as const
const BUILD_LINKS = { initramfs: '-initrd.img', iso: '.iso' } as const

/**
 * Fills the folder from which Ironic's images are served, and links the files under the names that Ironic uses, such as
 * `ironic-python-agent[-STREAM][_ARCH].iso`: without a stream those of one version, and by stream those of all
 * (openshift/machine-os-images, pull request 83).
 */
export async function copyMetal(options: CopyMetalOptions): Promise<void> {
  const { source, destination, what = 'all', version = '9', architecture, clock } = options
  await shippedStream(source, version, clock)
  const served = what !== 'image-build'
  const built = what !== 'pxe'
  await copyPxe({ ...options, initrdOnly: !served })
  if (built) await copyIso(options)
  const endings = { ...(served ? PXE_LINKS : {}), ...(built ? BUILD_LINKS : {}) }
  for (const iso of await storedIsos(source, clock)) {
    const streams = iso.version === version ? ['', `-${streamNameOf(iso.version)}`] : [`-${streamNameOf(iso.version)}`]
    const architectures = iso.architecture === architecture ? ['', `_${iso.architecture}`] : [`_${iso.architecture}`]
    for (const [kind, ending] of Object.entries(endings))
      for (const name of streams.flatMap((stream) => architectures.map((suffix) => `${stream}${suffix}`)))
        await link(`${iso.name}${ending}`, join(destination, `${AGENT_LINK}${name}.${kind}`))
  }
  // Last: a copy that fails leaves what is served as it was.
  if (!served) await removeServed(options)

  function link(target: string, path: string): Promise<void> {
    return withClockHeld(clock, `linking ${path}`, () => replaceLink(target, path))
  }
}

/** Removes files for network boots that an earlier call wrote. */
async function removeServed({ destination, clock }: CopyMetalOptions): Promise<void> {
  await withClockHeld(clock, `reading ${destination}`, async () => {
    for (const name of await readdir(destination))
      if (/^coreos(10)?-.*-(vmlinuz|rootfs\.img)$/.test(name)) await rm(join(destination, name), { force: true })
  })
}
