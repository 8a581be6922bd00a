import { parse as parseToml } from 'smol-toml'
import { isObject } from '../../../../base/runtime/index.js'
import type { RootTree } from '../../../root/root-tree.js'
import { BootcFailure } from './bootc-failure.js'
import type { InstallToDisk } from './install-options.js'

/** Settings that the files `*.toml` of a container have for its installation. */
export interface InstallConfig {
  filesystem: string | undefined
  /** Block setups that are allowed, the default first. */
  block: readonly string[] | undefined
  kernelArguments: readonly string[]
}

/** bootc merges the files of these folders by their names; a file of /etc hides one of /usr/lib. */
const CONFIG_FOLDERS = ['/usr/lib/bootc/install', '/etc/bootc/install']

/** @returns null without any file */
export function installConfig(container: RootTree, architecture: string): InstallConfig | null {
  const paths = new Map<string, string>()
  for (const folder of CONFIG_FOLDERS)
    for (const name of container.list(folder)) if (name.endsWith('.toml')) paths.set(name, `${folder}/${name}`)
  const inOrder = [...paths].sort(([one], [other]) => (one < other ? -1 : 1))
  const tables = inOrder.flatMap(([, path]) => table(container, path, architecture) ?? [])
  const [first, ...others] = tables
  if (!first) return null
  return others.reduce(
    (merged, one) => ({
      filesystem: one.filesystem ?? merged.filesystem,
      block: one.block ?? merged.block,
      kernelArguments: [...merged.kernelArguments, ...one.kernelArguments],
    }),
    first,
  )
}

/** Undefined for a file without the table, or for another architecture. */
function table(container: RootTree, path: string, architecture: string): InstallConfig | undefined {
  const parsed = parsedToml(container.text(path), path)
  if (!isObject(parsed['install'])) return undefined
  const install = parsed['install']
  if (textsIn(install['match-architectures'])?.includes(architecture) === false) return undefined
  const root = memberOf(memberOf(install, 'filesystem'), 'root')
  const type = root['type'] ?? install['root-fs-type']
  return {
    filesystem: typeof type === 'string' ? type : undefined,
    block: textsIn(install['block']),
    kernelArguments: textsIn(install['kargs']) ?? [],
  }
}

function parsedToml(text: string, path: string): Record<string, unknown> {
  try {
    return parseToml(text)
  } catch (error) {
    const [first = ''] = error instanceof Error ? error.message.split('\n') : []
    throw new BootcFailure(`Parsing ${path}: ${first}`)
  }
}

function memberOf(value: Record<string, unknown>, name: string): Record<string, unknown> {
  const member = value[name]
  return isObject(member) ? member : {}
}

const textsIn = (value: unknown): string[] | undefined =>
  Array.isArray(value) ? value.filter((one): one is string => typeof one === 'string') : undefined

/** @throws BootcFailure as bootc has it (install/baseline.rs, install_create_rootfs) */
export function chosenSetup(
  config: InstallConfig | null,
  { blockSetup, filesystem }: InstallToDisk,
): { filesystem: string; blockSetup: 'direct' | 'tpm2-luks' } {
  const type = filesystem ?? config?.filesystem
  if (type === undefined) throw new BootcFailure('No root filesystem specified')
  // Without a config, what the command line says is not checked.
  const allowed = config ? (config.block ?? ['direct']) : [blockSetup ?? 'direct']
  const chosen = blockSetup ?? allowed[0]
  if (chosen === undefined) throw new BootcFailure('Empty block storage configuration in install configuration')
  const isEncrypted = chosen === 'tpm2-luks'
  if (!allowed.includes(chosen))
    throw new BootcFailure(`Block setup ${isEncrypted ? 'Tpm2Luks' : 'Direct'} is not enabled in installation config`)
  return { filesystem: type, blockSetup: isEncrypted ? 'tpm2-luks' : 'direct' }
}
