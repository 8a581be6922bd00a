import { gunzipSync } from 'node:zlib'
import { dataUrlBytes, type SpecConfig, type SpecResource } from '../../../../../ignition/index.js'
import type { RootTree } from '../../../../../machine/index.js'
import type { MachineConfig } from '../../../kube/kinds/machine-config-kinds.js'
import { SYSTEMD } from '../machine-config-names.js'
import { ignitionOf } from '../rendered-config.js'

/** A file as a configuration wants it. */
export interface WantedFile {
  path: string
  bytes: Uint8Array
  mode: number
}

/** `defaultFilePermissions` of the daemon. */
const FILE_MODE = 0o644

/** The files and units of a configuration, by their paths; the last of one path wins. */
export function configFilesOf({ spec }: MachineConfig): Map<string, WantedFile> {
  const { storage, systemd }: SpecConfig = ignitionOf(spec)
  const files = new Map<string, WantedFile>()
  const add = (path: string, bytes: Uint8Array, mode = FILE_MODE) => void files.set(path, { path, bytes, mode })
  for (const { path, contents, mode } of storage?.files ?? [])
    if (path !== undefined) add(path, decodeFileBytes(contents), mode)
  for (const { name, contents, dropins = [] } of systemd?.units ?? []) {
    if (contents !== undefined) add(`${SYSTEMD}/${name}`, Buffer.from(contents))
    for (const dropin of dropins)
      if (dropin.contents !== undefined) add(`${SYSTEMD}/${name}.d/${dropin.name}`, Buffer.from(dropin.contents))
  }
  return files
}

/** Contents of a file; configurations have them as data URLs, since the daemon fetches nothing. */
function decodeFileBytes({ source = '', compression }: SpecResource = {}): Uint8Array {
  const bytes = dataUrlBytes(source === '' ? 'data:,' : source) ?? new Uint8Array()
  return compression === 'gzip' ? gunzipSync(bytes) : bytes
}

/**
 * Difference between the disk and a configuration in a sentence; undefined without one
 * (pkg/daemon/daemon.go validateOnDiskStateImpl, on_disk_validation.go of machine-config-operator 7ff337a).
 */
export function onDiskProblem(config: MachineConfig, tree: RootTree, bootedImage: string | null): string | undefined {
  const { osImageURL = '' } = config.spec
  if (osImageURL !== '' && osImageURL !== bootedImage)
    return `expected target osImageURL ${JSON.stringify(osImageURL)}, have ${JSON.stringify(bootedImage ?? '')}`
  for (const wanted of configFilesOf(config).values()) {
    const problem = fileProblem(wanted, tree)
    if (problem !== undefined) return problem
  }
  return undefined
}

function fileProblem({ path, bytes, mode }: WantedFile, tree: RootTree): string | undefined {
  const quoted = JSON.stringify(path)
  const found = tree.lstat(path)
  if (!found) return `could not stat file ${quoted}: lstat ${path}: no such file or directory`
  if (found.kind !== 'file' || found.mode !== mode)
    return `mode mismatch for file: ${quoted}; expected: ${goMode(mode)}; received: ${goMode(found.mode)}`
  return Buffer.from(found.bytes).equals(bytes) ? undefined : `content mismatch for file ${quoted}`
}

/** A mode as Go prints it: `-rw-r--r--/420/0644`. */
function goMode(mode: number): string {
  const bits = [...'rwxrwxrwx'].map((letter, index) => (mode & (0o400 >> index) ? letter : '-')).join('')
  return `-${bits}/${mode}/0${mode.toString(8)}`
}
