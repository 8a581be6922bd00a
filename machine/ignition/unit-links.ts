import { parentFolderOf, newLink, type RootTree } from '../root/root-tree.js'

const UNITS = '/etc/systemd/system'
const FOLDERS = [UNITS, '/usr/lib/systemd/system']

/** Links that start a unit with others, or give it another name. */
function* linksOf(tree: RootTree, unit: string): Generator<string> {
  for (const name of tree.list(UNITS)) {
    const path = `${UNITS}/${name}`
    const node = tree.lstat(path)
    if (
      node?.kind === 'directory' &&
      /\.(wants|requires)$/.test(name) &&
      tree.lstat(`${path}/${unit}`)?.kind === 'link'
    )
      yield `${path}/${unit}`
    if (node?.kind === 'link' && name !== unit && node.target.endsWith(`/${unit}`)) yield path
  }
}

const unitFile = (tree: RootTree, unit: string): string | undefined =>
  FOLDERS.map((folder) => `${folder}/${unit}`).find((path) => tree.stat(path)?.kind === 'file')

const isMasked = (tree: RootTree, unit: string): boolean => {
  const node = tree.lstat(`${UNITS}/${unit}`)
  return node?.kind === 'link' && node.target === '/dev/null'
}

/** True if `systemctl is-enabled` succeeds for a unit with a file that is not masked: it is enabled or static. */
export function isEnabledUnit(tree: RootTree, unit: string): boolean {
  const path = unitFile(tree, unit)
  if (path === undefined || isMasked(tree, unit)) return false
  return !/^\[Install\]/m.test(tree.text(path)) || !linksOf(tree, unit).next().done
}

export function disableUnit(tree: RootTree, unit: string): void {
  for (const path of [...linksOf(tree, unit)]) {
    tree.remove(path)
    const folder = parentFolderOf(path)
    if (folder !== UNITS && tree.list(folder).length === 0) tree.remove(folder)
  }
}

/** Makes the links of a unit's `[Install]` section. False when the unit has no file or no such section. */
export function enableUnit(tree: RootTree, name: string, instance?: string): boolean {
  const path = unitFile(tree, name)
  if (path === undefined || isMasked(tree, name)) return false
  const unit = instance === undefined ? name : name.replace('@', `@${instance}`)
  const install = /^\[Install\]\s*$([^[]*)/m.exec(tree.text(path))?.[1] ?? ''
  let enabled = false
  for (const [, key, value] of install.matchAll(/^(WantedBy|RequiredBy|Alias)\s*=\s*(.*)$/gm))
    for (const other of value!.trim().split(/\s+/).filter(Boolean)) {
      const folder = key === 'Alias' ? UNITS : `${UNITS}/${other}.${key === 'WantedBy' ? 'wants' : 'requires'}`
      tree.mkdirs(folder)
      tree.put(key === 'Alias' ? `${folder}/${other}` : `${folder}/${unit}`, newLink(path))
      enabled = true
    }
  return enabled
}
