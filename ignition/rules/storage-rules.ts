import type { ConfigPath, Findings } from '../findings.js'
import type { SpecConfig, SpecDirectory, SpecFile, SpecLink, SpecOwner, SpecStorage } from '../spec/config-types.js'
import { atLeast, type SpecVersion } from '../spec/spec-versions.js'
import { cleanPath, pathFault } from './path-rules.js'

export function checkFile(file: SpecFile, at: ConfigPath, found: Findings, version: SpecVersion): void {
  found.error([...at, 'path'], pathFault(file.path))
  checkMode(file.mode, at, found, version)
  found.error(
    [...at, 'overwrite'],
    file.overwrite === true && file.contents?.source === undefined
      ? 'overwrite must be false if source is unspecified'
      : null,
  )
}

export function checkDirectory(directory: SpecDirectory, at: ConfigPath, found: Findings, version: SpecVersion): void {
  found.error([...at, 'path'], pathFault(directory.path))
  checkMode(directory.mode, at, found, version)
}

export function checkLink({ path }: SpecLink, at: ConfigPath, found: Findings): void {
  found.error([...at, 'path'], pathFault(path))
}

export const SPECIAL_BITS = 0o7000

function checkMode(mode: number | undefined, at: ConfigPath, found: Findings, version: SpecVersion): void {
  if (mode === undefined) return
  found.error([...at, 'mode'], mode < 0 || mode > 0o7777 ? 'illegal file mode' : null)
  if (!atLeast(version, '3.6.0') && (mode & SPECIAL_BITS) !== 0)
    found.warning(
      [...at, 'mode'],
      'setuid/setgid/sticky bits are not supported or functional in spec versions older than 3.6.0',
    )
}

export function checkOwner({ id, name }: SpecOwner, at: ConfigPath, found: Findings): void {
  found.error(at, id !== undefined && name ? 'cannot set both id and name' : null)
}

/** Checks storage for entries that conflict with each other. */
export function checkStorage(storage: SpecStorage, at: ConfigPath, found: Findings, version: SpecVersion): void {
  const { directories = [], files = [], links = [] } = storage
  const linked = counted(links)
  const existing = counted(directories)
  const below = (path: string | undefined, where: ConfigPath, what: string) => {
    for (let times = above(path ?? '', linked); times > 0; times--)
      found.error(where, `${what} path includes link in config`)
  }
  for (const [index, { path }] of directories.entries()) below(path, [...at, 'directories', index], 'directory')
  for (const [index, { path }] of files.entries()) below(path, [...at, 'files', index], 'file')
  for (const [index, link] of links.entries()) {
    below(link.path, [...at, 'links', index], 'link')
    checkTarget(link, existing, [...at, 'links', index], found, version)
  }
  checkWipes(storage, at, found)
}

/** How often each path occurs. */
interface Counted {
  times: ReadonlyMap<string, number>
  lengths: ReadonlySet<number>
}

function counted(nodes: readonly { path?: string }[]): Counted {
  const times = new Map<string, number>()
  for (const { path = '' } of nodes) times.set(path, (times.get(path) ?? 0) + 1)
  return { times, lengths: new Set([...times.keys()].map((path) => path.length)) }
}

/** Number of counted paths above a path. Looks up each parent instead of every pair, since configs can have thousands. */
function above(path: string, { times, lengths }: Counted): number {
  let sum = 0
  for (let slash = path.indexOf('/'); slash >= 0; slash = path.indexOf('/', slash + 1))
    if (lengths.has(slash)) sum += times.get(path.slice(0, slash)) ?? 0
  return sum
}

function checkTarget(
  { path = '', target = '', hard, user, group }: SpecLink,
  directories: Counted,
  at: ConfigPath,
  found: Findings,
  version: SpecVersion,
): void {
  if (target === '' && atLeast(version, '3.3.0')) {
    found.error([...at, 'target'], 'link target is required')
    return
  }
  if (hard !== true) return
  // Upstream resolves a relative target against the link's own path instead of its directory.
  const joined = target.startsWith('/') ? target : [path, target].filter((part) => part !== '').join('/')
  const absolute = joined && cleanPath(joined)
  for (let times = directories.times.get(absolute) ?? 0; times > 0; times--)
    found.error(at, 'hard link target is a directory')
  for (const [who, owner] of [
    ['user', user],
    ['group', group],
  ] as const)
    for (const key of ['id', 'name'] as const)
      if (owner?.[key] !== undefined) found.warning([...at, who, key], 'user/group ignored for hard link')
}

function checkWipes({ disks = [], filesystems = [] }: SpecStorage, at: ConfigPath, found: Findings): void {
  const byDevice = new Map(disks.map((disk) => [disk.device ?? '', disk]))
  for (const [index, { device = '', wipeFilesystem }] of filesystems.entries()) {
    const disk = byDevice.get(device)
    if (!disk) continue
    const where = [...at, 'filesystems', index, 'device']
    if (disk.partitions?.length) found.warning(where, 'filesystem overwrites partitioned device')
    else if (wipeFilesystem !== true && disk.wipeTable === true)
      found.warning(where, 'device matches disk with wipeTable enabled; filesystem will be wiped')
  }
}

const UNIT_FOLDER_PREFIX = '/etc/systemd/system/'

/** Refuses files, directories and links at a path that a unit or drop-in with contents is written to. */
export function checkUnitPaths({ systemd, storage }: SpecConfig, at: ConfigPath, found: Findings): void {
  const taken = new Set<string>()
  for (const { name = '', contents, dropins } of systemd?.units ?? []) {
    if (contents) taken.add(`${UNIT_FOLDER_PREFIX}${name}`)
    for (const dropin of dropins ?? [])
      if (dropin.contents) taken.add(`${UNIT_FOLDER_PREFIX}${name}.d/${dropin.name ?? ''}`)
  }
  for (const list of ['files', 'directories', 'links'] as const)
    for (const [index, { path = '' }] of (storage?.[list] ?? []).entries())
      if (taken.has(path))
        found.error([...at, 'storage', list, index, 'path'], 'path conflicts with systemd unit or dropin')
}
