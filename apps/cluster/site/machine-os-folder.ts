import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { prefixOf, streamFile, type OsVersion, type StreamMetadata } from '../../../coreos/index.js'
import { makeFolder } from '../../../base/runtime/index.js'

/** A live ISO as machine-os-images has it. */
export interface ShippedIso {
  os: OsVersion
  architecture: string
  iso: Uint8Array
  /** The published digest of the ISO. */
  sha256: string
  stream: StreamMetadata
}

/** Fills a folder as the container machine-os-images has it: ISOs, their digests and their streams' metadata. */
export async function writeMachineOs(folder: string, isos: readonly ShippedIso[]): Promise<void> {
  await makeFolder(folder)
  for (const { os, architecture, iso, sha256, stream } of isos) {
    const path = join(folder, `${prefixOf(os)}-${architecture}.iso`)
    await writeFile(path, iso)
    await writeFile(`${path}.sha256`, sha256)
    await writeFile(join(folder, streamFile(os)), JSON.stringify(stream))
  }
}
