import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { withClockHeld, UserError, type Clock } from '../../base/runtime/index.js'
import { STREAM_KIND, type StreamMetadata } from '../metadata/stream-metadata.js'
import { ERRORS } from '../errors.js'

/** Version of CoreOS: on RHEL 9 or 10. It is part of all file names, as in the cluster's container image. */
export type OsVersion = '9' | '10'
export const OS_VERSIONS: readonly OsVersion[] = ['9', '10']

export const prefixOf = (version: OsVersion): string => (version === '9' ? 'coreos' : `coreos${version}`)
/** Name of its stream, as the label `coreos.openshift.io/stream` of a host has it. */
export const streamNameOf = (version: OsVersion): string => `rhel-${version}`
export const streamFile = (version: OsVersion): string => `${prefixOf(version)}-stream.json`

/** Beginning of the names under which Ironic's images are served. */
export const AGENT_LINK = 'ironic-python-agent'

/** A live ISO in a folder, with its published digest. */
export interface StoredIso {
  version: OsVersion
  architecture: string
  /** Common start of its files' names, such as `coreos-x86_64`. */
  name: string
  path: string
  sha256: string
}

/** The live ISOs in a folder. */
export async function storedIsos(folder: string, clock: Clock): Promise<StoredIso[]> {
  const names = await withClockHeld(clock, `reading ${folder}`, () =>
    readdir(folder).catch((cause: unknown) => {
      throw new UserError('machine-os-folder', `the folder ${folder} cannot be read`, {
        cause,
        kind: 'usage',
        remedy: ERRORS['machine-os-folder'].remedy,
      })
    }),
  )
  const isos: StoredIso[] = []
  for (const file of names.sort()) {
    const [, number = '', architecture] = /^coreos(10)?-([a-z0-9_]+)\.iso$/.exec(file) ?? []
    if (architecture === undefined) continue
    const path = join(folder, file)
    const sha256 = await stampOf(`${path}.sha256`, clock)
    if (sha256 === null)
      throw new UserError('machine-os-stamp', `${path} has no digest beside it`, {
        remedy: `write the published digest to ${file}.sha256, or build the folder again`,
      })
    isos.push({ version: number === '10' ? '10' : '9', architecture, name: file.slice(0, -4), path, sha256 })
  }
  return isos
}

/** Digest in a file that contains nothing else; null when the file is missing or has another form. */
export async function stampOf(path: string, clock: Clock): Promise<string | null> {
  const text = await withClockHeld(clock, `reading ${path}`, () => readFile(path, 'utf8').catch(() => ''))
  const [digest] = /^[0-9a-f]{64}$/.exec(text.trim()) ?? []
  return digest ?? null
}

/** @throws UserError `machine-os-version` when the folder has no stream metadata of that version */
export async function shippedStream(folder: string, version: OsVersion, clock: Clock): Promise<StreamMetadata> {
  const path = join(folder, streamFile(version))
  const text = await withClockHeld(clock, `reading ${path}`, () => readFile(path, 'utf8').catch(() => null))
  if (text !== null) return STREAM_KIND.read(text, path)
  throw new UserError(
    'machine-os-version',
    `CoreOS version ${version} is not bundled in this image (missing ${path})`,
    {
      remedy: 'choose an available version with --coreos-version',
      kind: 'usage',
    },
  )
}
