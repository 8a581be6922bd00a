import { createHash } from 'node:crypto'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { withBootVolume } from '../../../machine/disk/boot-volume.js'
import { openFileDisk } from '../../../machine/index.js'
import { readLayout } from '../../../machine/disk/partitions.js'
import { systemClock } from '../../../runtime/index.js'
import { isoImage, LIVE_KARGS, liveFiles } from './live-iso.js'
import { smallImage } from './rehearsal-image.js'

/** A live ISO of a version of CoreOS, as its kernel arguments say. */
export function versionedIso(version: string): Buffer {
  const kargs = LIVE_KARGS.replace('fake-coreos-99', `fedora-coreos-${version}`)
  const longer = kargs.length - LIVE_KARGS.length
  const files = Object.entries(liveFiles()).map(([path, bytes]): [string, Buffer] => {
    const text = bytes.toString('latin1')
    if (!text.includes(LIVE_KARGS)) return [path, bytes]
    if (path === 'coreos/kargs.json') return [path, Buffer.from(text.replace(LIVE_KARGS, kargs), 'latin1')]
    return [path, Buffer.from(text.replace(`${LIVE_KARGS}\n${'#'.repeat(longer)}`, `${kargs}\n`), 'latin1')]
  })
  return isoImage(Object.fromEntries(files), `fedora-coreos-${version}`)
}

/** A metal image of a version of CoreOS, as its boot loader's entry says; with its SHA-256. */
export async function versionedImage(version: string): Promise<{ bytes: Buffer; sha256: string }> {
  const clock = systemClock()
  const folder = await mkdtemp(join(tmpdir(), 'ironstage-image-'))
  try {
    const path = join(folder, 'image.raw')
    await writeFile(path, await smallImage())
    const device = await openFileDisk({ path, name: 'image', sectorSize: 512, clock })
    try {
      const { partitions } = await readLayout(device)
      const { offset } = partitions.find(({ filesystem }) => filesystem?.label === 'boot')!
      await withBootVolume(device, offset, clock, async (volume) => {
        const entry = '/loader/entries/ostree-1-fedora-coreos.conf'
        const text = (await volume.read(entry)).toString()
        await volume.write(entry, Buffer.from(text.replace(/^title .*$/m, `title Fedora CoreOS ${version} (ostree:0)`)))
      })
      await device.flush()
    } finally {
      await device[Symbol.asyncDispose]()
    }
    const bytes = await readFile(path)
    return { bytes, sha256: createHash('sha256').update(bytes).digest('hex') }
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}
