import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { SLOW_TESTS } from '../vitest.fast.config.js'
import { importCircles, importsOf, roomOf, sourceFiles } from './kit/source-tree.js'

const root = fileURLToPath(new URL('..', import.meta.url))
const MAX_IMPORT_CIRCLE = 3

/** The doors of public/: an entry of the package each. */
const PACKAGE_ENTRIES = Object.values(
  (JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { exports: Record<string, { types?: string }> })
    .exports,
).flatMap(({ types }) => (types === undefined ? [] : [types.replace('./dist/', '').replace('.d.ts', '.ts')]))

/** CONTRIBUTING's table: the rooms in their order, and the rooms that each may import. */
const rooms: [room: string, allowed: string[]][] = []
for (const line of readFileSync(join(root, 'CONTRIBUTING.md'), 'utf8').split('\n')) {
  const [, room, imports] = /^\| `([\w-]+)\/`\s*\|.*\| ([^|]+?)\s*\|$/.exec(line) ?? []
  if (!room || !imports || room === 'test') continue
  const above = rooms.map(([name]) => name)
  rooms.push([room, imports === 'all above' ? above : imports === '-' ? [] : imports.split(', ')])
}

const files = sourceFiles(root)
const graph = new Map(files.map((file) => [file, importsOf(root, file)]))
const isSource = (file: string): boolean => !file.endsWith('.test.ts') && rooms.some(([room]) => room === roomOf(file))

test('a room of the table imports only rooms above it', () => {
  expect(rooms.length).toBeGreaterThan(10)
  for (const [index, [room, allowed]] of rooms.entries()) {
    const above = rooms.slice(0, index).map(([name]) => name)
    expect({ room, below: allowed.filter((other) => !above.includes(other)) }).toEqual({ room, below: [] })
  }
})

test.each(rooms)('%s imports only the rooms that the table names, by their doors', (room, allowed) => {
  const doors = allowed.flatMap((other) => (other === 'public' ? PACKAGE_ENTRIES : `${other}/index.ts`))
  const refused = files
    .filter((file) => roomOf(file) === room && isSource(file))
    .flatMap((file) => graph.get(file)!.map((target) => [file, target] as const))
    .filter(([, target]) => roomOf(target) !== room && !doors.includes(target))
  expect(refused).toEqual([])
})

test.each(rooms)('the compiler knows what %s may import', (room, allowed) => {
  const { references = [] } = JSON.parse(readFileSync(join(root, room, 'tsconfig.json'), 'utf8')) as {
    references?: { path: string }[]
  }
  expect(references.map(({ path }) => path.slice(3))).toEqual(allowed)
})

test(`no circle of imports has more than ${MAX_IMPORT_CIRCLE} files`, () => {
  expect(importCircles(graph).filter((circle) => circle.length > MAX_IMPORT_CIRCLE)).toEqual([])
})

test('the fast run leaves out only files and folders that exist', () => {
  const tests = files.filter((file) => file.endsWith('.test.ts'))
  expect(
    SLOW_TESTS.filter((path) => !tests.some((file) => (path.endsWith('/') ? file.startsWith(path) : file === path))),
  ).toEqual([])
})
