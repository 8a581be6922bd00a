import { cp, mkdtemp, symlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('../../', import.meta.url))

/** A copy of the sources, to be changed and tested; its packages and its build are those of the original. */
export async function sourceCopy(): Promise<string> {
  const tree = await mkdtemp(join(tmpdir(), 'ironstage-copy-'))
  const left = new Set(['node_modules', 'dist', '.git', 'bench'])
  await cp(root, tree, {
    recursive: true,
    filter: (source) => !left.has(source.slice(root.length).split('/')[0]!),
  })
  for (const name of ['node_modules', 'dist']) await symlink(join(root, name), join(tree, name))
  return tree
}
