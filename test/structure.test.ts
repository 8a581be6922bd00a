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
).flatMap(({ types }) =>
  types === undefined ? [] : [types.replace('./dist/types/', 'public/').replace('.d.ts', '.ts')],
)

/** CONTRIBUTING's table: the rooms in their order, without `test/`. */
const rooms = [...readFileSync(join(root, 'CONTRIBUTING.md'), 'utf8').matchAll(/^\| `([\w/-]+)\/` +\|/gm)]
  .map(([, room]) => room!)
  .filter((room) => room !== 'test')

/** Rooms that a room may import: those in its `tsconfig.json`. */
function allowedIn(room: string): string[] {
  const { references = [] } = JSON.parse(readFileSync(join(root, room, 'tsconfig.json'), 'utf8')) as {
    references?: { path: string }[]
  }
  return references.map(({ path }) => join(room, path))
}

const files = sourceFiles(root)
const graph = new Map(files.map((file) => [file, importsOf(root, file)]))
const isSource = (file: string): boolean => !file.endsWith('.test.ts') && rooms.includes(roomOf(file))

test('the table names every room', () => {
  const built = JSON.parse(readFileSync(join(root, 'tsconfig.json'), 'utf8')) as { references: { path: string }[] }
  expect([...rooms].sort()).toEqual(built.references.map(({ path }) => path.slice(2)).sort())
})

test.each(rooms.map((room, index) => ({ room, above: rooms.slice(0, index) })))(
  '$room may import only rooms above it in the table',
  ({ room, above }) => {
    expect(allowedIn(room).filter((other) => !above.includes(other))).toEqual([])
  },
)

test.each(rooms)('%s imports only rooms that its tsconfig.json names, by their doors', (room) => {
  const doors = allowedIn(room).flatMap((other) => (other === 'public' ? PACKAGE_ENTRIES : `${other}/index.ts`))
  const refused = files
    .filter((file) => roomOf(file) === room && isSource(file))
    .flatMap((file) => graph.get(file)!.map((target) => [file, target] as const))
    .filter(([, target]) => roomOf(target) !== room && !doors.includes(target))
  expect(refused).toEqual([])
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
