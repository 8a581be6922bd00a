import { createHash } from 'node:crypto'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { versionedIso } from '../images/versioned-images.js'

/** Fills a folder as machine-os-images has it: the live ISO of a version with its digest beside it. */
export async function machineOsFolder(parent: string, version: string, { isDamaged = false } = {}): Promise<string> {
  const folder = join(parent, isDamaged ? `${version}-damaged` : version)
  await mkdir(folder, { recursive: true })
  const iso = versionedIso(version)
  const sha256 = createHash('sha256').update(iso).digest('hex')
  if (isDamaged) iso[iso.length - 1]! ^= 1
  await writeFile(join(folder, 'coreos-x86_64.iso'), iso)
  await writeFile(join(folder, 'coreos-x86_64.iso.sha256'), sha256)
  return folder
}
