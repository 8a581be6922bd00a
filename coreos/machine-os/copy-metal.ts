import { readdir, rename, rm, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { held } from '../../runtime/index.js'
import { copyIso, type CopyOptions } from './copy-iso.js'
import { copyPxe } from './copy-pxe.js'
import { prefixOf, shippedStream, storedIsos, type OsVersion } from './image-content.js'

export interface CopyMetalOptions extends CopyOptions {
  /** All; what is served as it is for network boots; or what images are made of for each machine. */
  what?: 'all' | 'pxe' | 'image-build'
  /** Which CoreOS the links lead to. */
  version?: OsVersion
  /** Of the host, whose links have no architecture in their name too. */
  architecture: string
}

const PXE_LINKS = { kernel: '-vmlinuz', initramfs: '-initrd.img', rootfs: '-rootfs.img' } as const
const BUILD_LINKS = { initramfs: '-initrd.img', iso: '.iso' } as const

/**
 * Puts everything into a folder that Ironic's images are served from, with links by which it is found:
 * `ironic-python-agent[_ARCH].iso` and the like. Links are only made to what is there.
 */
export async function copyMetal(options: CopyMetalOptions): Promise<void> {
  const { source, destination, what = 'all', version = '9', architecture, clock } = options
  await shippedStream(source, version, clock)
  const [served, built] = [what !== 'image-build', what !== 'pxe']
  await copyPxe({ ...options, initrdOnly: !served })
  if (!served) await removeServed(options)
  if (built) await copyIso(options)
  const suffixes = { ...(served ? PXE_LINKS : {}), ...(built ? BUILD_LINKS : {}) }
  for (const iso of await storedIsos(source, clock)) {
    if (iso.version !== version) continue
    for (const [kind, suffix] of Object.entries(suffixes))
      for (const of of iso.architecture === architecture ? ['', `_${architecture}`] : [`_${iso.architecture}`])
        await link(
          `${prefixOf(version)}-${iso.architecture}${suffix}`,
          join(destination, `ironic-python-agent${of}.${kind}`),
        )
  }

  /** A link is never missing: who serves the folder may ask at any time. */
  async function link(target: string, path: string): Promise<void> {
    await held(clock, `linking ${path}`, async () => {
      await rm(`${path}.new`, { force: true })
      await symlink(target, `${path}.new`)
      await rename(`${path}.new`, path)
    })
  }
}

/** Of an earlier call for more. */
async function removeServed({ destination, clock }: CopyMetalOptions): Promise<void> {
  await held(clock, `reading ${destination}`, async () => {
    for (const name of await readdir(destination))
      if (/^coreos(10)?-.*-(vmlinuz|rootfs\.img)$/.test(name)) await rm(join(destination, name), { force: true })
  })
}
