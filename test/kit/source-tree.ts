import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join, relative, resolve, sep } from 'node:path'

const SKIPPED = new Set(['node_modules', 'dist', 'fixtures', '.git'])

/** Files of the project in TypeScript, below a folder, as paths from its root. */
export function sourceFiles(root: string, folder = '.'): string[] {
  return readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name)
    if (entry.isDirectory()) return SKIPPED.has(entry.name) ? [] : sourceFiles(root, path)
    return /\.tsx?$/.test(entry.name) ? [path] : []
  })
}

/** Files that a file imports, types included, as paths from the root of the project; packages are left out. */
export function importsOf(root: string, file: string): string[] {
  const text = readFileSync(join(root, file), 'utf8')
  return [...text.matchAll(/(?:from|import\(|^import)\s*'(\.[^']+)'/gm)].map(([, path]) => {
    const source = resolve(root, file, '..', path!.replace(/\.js$/, '.ts'))
    return relative(root, existsSync(`${source}x`) ? `${source}x` : source)
  })
}

/** Groups of two or more files that import each other, directly or by others, largest first (Tarjan's algorithm). */
export function importCircles(graph: ReadonlyMap<string, readonly string[]>): string[][] {
  const order = new Map<string, number>()
  const lowest = new Map<string, number>()
  const open: string[] = []
  const circles: string[][] = []
  const visit = (file: string): void => {
    order.set(file, order.size)
    lowest.set(file, order.get(file)!)
    open.push(file)
    for (const next of graph.get(file) ?? []) {
      if (!order.has(next)) visit(next)
      if (open.includes(next)) lowest.set(file, Math.min(lowest.get(file)!, lowest.get(next)!))
    }
    if (lowest.get(file) !== order.get(file)) return
    const circle = open.splice(open.indexOf(file))
    if (circle.length > 1) circles.push(circle.sort())
  }
  for (const file of graph.keys()) if (!order.has(file)) visit(file)
  return circles.sort((a, b) => b.length - a.length)
}

/** Folders of rooms. Any other folder of the root is a room. */
const FLOORS = new Set(['base', 'bmc', 'apps'])

/** The room of a file, such as `steps` or `base/wire`. */
export function roomOf(file: string): string {
  const folders = file.split(sep)
  return folders.slice(0, FLOORS.has(folders[0]!) ? 2 : 1).join('/')
}
