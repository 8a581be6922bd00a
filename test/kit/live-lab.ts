import { createHash } from 'node:crypto'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  createStagedLab,
  installCoreos,
  type StagedLab,
  type StagedNode,
  type StagedLabOptions,
} from '../../lab/index.js'
import type { JsonObject } from '../../base/wire/index.js'
import { configdrive, imageServer } from './deployed.js'
import { smallImage } from './images/rehearsal-image.js'
import { isoImage, liveFiles } from './images/live-iso.js'
import { qcow2Image } from '../../machine/making/qcow2-image.js'

const sha256 = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex')

/** A live ISO, and disk images on a server, for labs whose machines boot what is served. */
export async function liveServers() {
  const folder = await mkdtemp(join(tmpdir(), 'ironstage-test-'))
  const iso = join(folder, 'coreos-live.iso')
  await writeFile(iso, isoImage(liveFiles()))
  const raw = await smallImage()
  const files: Record<string, Buffer> = { '/disk.raw': raw, '/disk.qcow2': qcow2Image(raw, { compressed: true }) }
  const server = await imageServer(files)
  return {
    iso,
    folder,
    files,
    server,
    lab: ({
      byDefault = true,
      ...more
    }: Partial<StagedLabOptions> & { byDefault?: boolean } = {}): Promise<StagedLab> =>
      createStagedLab({ liveImages: { files: [{ architecture: 'x86_64', iso }], byDefault }, ...more }),
    /** An instance of one of the images, with its checksum. */
    instance: (path: string): JsonObject => ({
      image_source: server.url(path),
      image_os_hash_algo: 'sha256',
      image_os_hash_value: sha256(files[path]!),
    }),
    [Symbol.asyncDispose]: async () => {
      await server[Symbol.asyncDispose]()
      await rm(folder, { recursive: true, force: true })
    },
  }
}

/** A node that deploys through `install_coreos`. */
export const coreosNode = (lab: StagedLab, fields: JsonObject): Promise<StagedNode> =>
  lab.enroll({ fields, deploySteps: [installCoreos()], configdrive })
