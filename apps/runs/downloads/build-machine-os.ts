import { rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import {
  documentText,
  liveFiles,
  prefixOf,
  streamFile,
  type OsVersion,
  type StreamMetadata,
} from '../../../coreos/index.js'
import { withClockHeld, makeFolder, writeResult } from '../../../base/runtime/index.js'
import { downloadArtifacts, fileName, type ArtifactDownloadOptions } from './downloads.js'

export interface MachineOsBuild extends ArtifactDownloadOptions {
  stream: StreamMetadata
  version: OsVersion
  architectures: readonly string[]
}

/**
 * Fills the folder from which the container image is built: stream metadata, and for each architecture its live ISO with
 * the published digest.
 *
 * @throws UserError as {@link downloadArtifacts} does; `stream-artifact` for an architecture that the stream lacks
 */
export async function buildMachineOs(options: MachineOsBuild): Promise<string[]> {
  const { stream, version, architectures, folder, clock } = options
  const isos = architectures.map((architecture) => [architecture, liveFiles(stream, architecture).iso] as const)
  await withClockHeld(clock, `making ${folder}`, () => makeFolder(folder))
  const paths: string[] = []
  // All of them are there before the first one replaces an ISO of an earlier build.
  for (const [, iso] of isos) await downloadArtifacts([iso], options)
  for (const [architecture, iso] of isos) {
    const path = join(folder, `${prefixOf(version)}-${architecture}.iso`)
    await withClockHeld(clock, `naming ${path}`, async () => {
      await rm(`${path}.sha256`, { force: true })
      await rename(join(folder, fileName(iso.location)), path)
      await writeFile(`${path}.sha256`, iso.sha256)
    })
    paths.push(path)
  }
  await withClockHeld(clock, `writing ${streamFile(version)}`, () =>
    writeResult(join(folder, streamFile(version)), documentText(stream)),
  )
  return paths
}
