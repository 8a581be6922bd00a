import { mkdir, mkdtemp, readFile, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { zipSync } from 'fflate'
import { importDump, writeImport, type ImportedDump } from '../../../apps/bmc-dumps/index.js'
import { readOneMachine } from '../../../apps/cli/options/hardware-file.js'
import type { MachineHardware } from '../../../machine/index.js'
import { FleetProcess } from '../fleet/fleet-process.js'

/** Dumps with the structure of public ones, reduced to what a deployment touches; all values are made up. */
export const DUMPED_FACES = {
  idrac9: { base: 'idrac9', system: 'System.Embedded.1', hasVirtualMedia: true },
  ilo5: { base: 'ilo5', system: '1', hasVirtualMedia: true },
  ilo6: { base: 'ilo6', system: '1', hasVirtualMedia: true },
  xcc: { base: 'xcc', system: '1', hasVirtualMedia: true },
  'supermicro-x13': { base: 'supermicro-x13', system: '1', hasVirtualMedia: true },
  'ami-dgx': { base: 'nvidia-dgx', system: 'DGX', hasVirtualMedia: false },
  'openbmc-gb200': { base: 'nvidia-gb200', system: 'System_0', hasVirtualMedia: true },
  'dmtf-rackmount': { base: 'standard', system: '437FAKE38R2', hasVirtualMedia: true },
} as const

export type DumpedFace = keyof typeof DUMPED_FACES

export const dumpedFaces = Object.keys(DUMPED_FACES) as DumpedFace[]

/** Forms in which dumps come. */
export type DumpForm = 'tree' | 'tree with headers' | 'short form' | 'flat' | 'zip'

interface FaceFile {
  resources: Record<string, Record<string, unknown>>
  headers: Record<string, Record<string, string>>
}

const FIXTURES = fileURLToPath(new URL('../../fixtures/bmc-dumps/', import.meta.url))

/** The resources of a face by their paths, and the headers of their answers. */
export const faceFile = async (face: DumpedFace): Promise<FaceFile> =>
  JSON.parse(await readFile(join(FIXTURES, `${face}.json`), 'utf8')) as FaceFile

/** A new temporary folder. */
export const dumpFolder = (): Promise<string> => mkdtemp(join(tmpdir(), 'ironstage-dump-'))

/** The files of a face, by their paths. */
function filesOf({ resources, headers }: FaceFile, form: DumpForm): Record<string, string> {
  const files: Record<string, string> = {}
  for (const [path, document] of Object.entries(resources)) {
    const text = JSON.stringify(document, null, 4)
    if (form === 'flat') {
      files[`${path.replaceAll('/', '_')}.json`] = text
      continue
    }
    const folder = form === 'short form' ? path.replace(/^\/redfish\/v1\/?/, '') : path.slice(1)
    files[join(folder, 'index.json')] = text
    if (form !== 'tree' && form !== 'short form')
      files[join(folder, 'headers.json')] = JSON.stringify({ GET: headers[path] })
  }
  return files
}

/** Writes a face as a dump into a temporary folder. @returns folder, or zip */
export async function writtenFace(
  face: DumpedFace,
  form: DumpForm = 'tree with headers',
  change: (file: FaceFile) => void = () => {},
): Promise<string> {
  const file = await faceFile(face)
  change(file)
  const folder = await dumpFolder()
  const files = filesOf(file, form)
  if (form === 'zip') {
    const zip = join(folder, `${face}.zip`)
    const bytes = Object.fromEntries(Object.entries(files).map(([path, text]) => [path, Buffer.from(text)]))
    await writeFile(zip, zipSync(bytes))
    return zip
  }
  const dump = join(folder, face)
  for (const [path, text] of Object.entries(files)) {
    await mkdir(join(dump, path, '..'), { recursive: true })
    await writeFile(join(dump, path), text)
  }
  return dump
}

/** A machine that was made of a face. */
export interface ImportedFace {
  readonly imported: ImportedDump
  /** Hardware file, for `--hardware`. */
  readonly file: string
  readonly hardware: MachineHardware
}

/** Imports a face, or another dump, as `ironstage bmc import` does. */
export async function importedFace(
  dump: string,
  { system, keepsIdentities = false }: { system?: string; keepsIdentities?: boolean } = {},
): Promise<ImportedFace> {
  const imported = await importDump(dump, { system, keepsIdentities })
  const folder = join(await dumpFolder(), 'machine')
  await writeImport(imported, folder)
  const file = join(folder, 'hardware.yaml')
  return { imported, file, hardware: await readOneMachine(file) }
}

/**
 * Starts `ironstage fleet` with machines that were made of a face, for an Ironic elsewhere. Their accounts are admin and the
 * password.
 */
export async function fleetOfFace(
  face: DumpedFace,
  { count = 1, password, argv = [] }: { count?: number; password: string; argv?: readonly string[] },
): Promise<FleetProcess> {
  const { file } = await importedFace(await writtenFace(face))
  const passwordFile = join(await dumpFolder(), 'password')
  await writeFile(passwordFile, password, { mode: 0o600 })
  const options = ['--count', String(count), '--hardware', file, '--password-file', passwordFile]
  return FleetProcess.start([...options, '--redfish-port', '0', ...argv])
}
