import { createHash } from 'node:crypto'
import { COREOS_SYSTEMS, smallLiveImage, systemOfVersion } from '../../../coreos/index.js'
import { metalImage } from '../../../machine/index.js'
import { systemClock, temporaryFolder } from '../../../base/runtime/index.js'
import { smallImage } from './rehearsal-image.js'

/** A live ISO of a version of CoreOS. */
export const versionedIso = (version: string): Buffer =>
  smallLiveImage({ name: systemOfVersion(version), version, architecture: 'x86_64' }).iso

/** A metal image of a version of CoreOS, as its boot loader's entry says; with its SHA-256. */
export async function versionedImage(version: string): Promise<{ bytes: Buffer; sha256: string }> {
  await using folder = await temporaryFolder()
  const bytes = await metalImage({
    base: await smallImage(),
    title: `${COREOS_SYSTEMS[systemOfVersion(version)].title} ${version}`,
    architecture: 'x86_64',
    folder: folder.path,
    clock: systemClock(),
  })
  return { bytes, sha256: createHash('sha256').update(bytes).digest('hex') }
}
