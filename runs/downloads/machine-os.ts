import { rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { documentText, liveFiles, prefixOf, streamFile, type OsVersion, type Stream } from '../../coreos/index.js'
import { held, makeFolder } from '../../runtime/index.js'
import { downloadArtifacts, fileName, type DownloadOptions } from './downloads.js'

export interface MachineOsBuild extends DownloadOptions {
  stream: Stream
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
  await held(clock, `making ${folder}`, () => makeFolder(folder))
  const paths: string[] = []
  for (const [architecture, iso] of isos) {
    const path = join(folder, `${prefixOf(version)}-${architecture}.iso`)
    await held(clock, `removing the digest of ${path}`, () => rm(`${path}.sha256`, { force: true }))
    await downloadArtifacts([iso], options)
    await held(clock, `naming ${path}`, async () => {
      await rename(join(folder, fileName(iso.location)), path)
      await writeFile(`${path}.sha256`, iso.sha256)
    })
    paths.push(path)
  }
  await held(clock, `writing ${streamFile(version)}`, () =>
    writeFile(join(folder, streamFile(version)), documentText(stream)),
  )
  return paths
}
