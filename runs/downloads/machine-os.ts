import { mkdir, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { documentText, liveFiles, prefixOf, streamFile, type OsVersion, type Stream } from '../../coreos/index.js'
import { held } from '../../runtime/index.js'
import { downloadArtifacts, fileName, type DownloadOptions } from './downloads.js'

export interface MachineOsBuild extends DownloadOptions {
  stream: Stream
  version: OsVersion
  architectures: readonly string[]
}

/**
 * Fills the folder that a container image is made of: stream metadata, and for each architecture the live ISO that it
 * names, with its published digest.
 *
 * @throws UserError as {@link downloadArtifacts}; `stream-artifact` for an architecture that there is none of
 */
export async function buildMachineOs(options: MachineOsBuild): Promise<string[]> {
  const { stream, version, architectures, folder, clock } = options
  const isos = architectures.map((architecture) => [architecture, liveFiles(stream, architecture).iso] as const)
  await held(clock, `making ${folder}`, () => mkdir(folder, { recursive: true }))
  const made: string[] = []
  for (const [architecture, iso] of isos) {
    const path = join(folder, `${prefixOf(version)}-${architecture}.iso`)
    await held(clock, `removing the digest of ${path}`, () => rm(`${path}.sha256`, { force: true }))
    await downloadArtifacts([iso], options)
    await held(clock, `naming ${path}`, async () => {
      await rename(join(folder, fileName(iso.location)), path)
      await writeFile(`${path}.sha256`, iso.sha256)
    })
    made.push(path)
  }
  await held(clock, `writing ${streamFile(version)}`, () =>
    writeFile(join(folder, streamFile(version)), documentText(stream)),
  )
  return made
}
