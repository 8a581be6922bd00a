import { readdirSync, readFileSync } from 'node:fs'
import { join, relative, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'

const root = fileURLToPath(new URL('..', import.meta.url))

/** The design: which rooms a room may import from. */
const ROOMS: Record<string, string[]> = {
  runtime: [],
  bytes: ['runtime'],
  wire: ['runtime', 'bytes'],
  ignition: ['runtime'],
  coreos: ['runtime', 'bytes', 'ignition'],
  targets: ['runtime'],
  steps: ['runtime', 'bytes', 'wire', 'ignition', 'targets'],
  machine: ['runtime', 'bytes', 'ignition', 'coreos', 'targets'],
  agent: ['runtime', 'bytes', 'wire', 'targets', 'steps'],
  'ironic-mock': ['runtime', 'bytes', 'wire'],
  lab: ['runtime', 'bytes', 'wire', 'ignition', 'coreos', 'targets', 'steps', 'machine', 'agent', 'ironic-mock'],
  metal3: ['runtime', 'bytes', 'wire', 'steps', 'ironic-mock', 'lab'],
  public: ['runtime', 'wire', 'targets', 'steps', 'machine', 'ironic-mock', 'lab'],
  runs: [
    'runtime',
    'bytes',
    'wire',
    'ignition',
    'coreos',
    'targets',
    'steps',
    'machine',
    'agent',
    'ironic-mock',
    'lab',
    'public',
  ],
  cli: [
    'runtime',
    'bytes',
    'wire',
    'ignition',
    'coreos',
    'targets',
    'steps',
    'machine',
    'ironic-mock',
    'lab',
    'metal3',
    'runs',
  ],
}

const rooms = Object.entries(ROOMS)

const sources = (room: string): string[] =>
  readdirSync(join(root, room), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts') && !file.endsWith('.test.ts'))
    .map((file) => join(root, room, file))

/** Paths that a file imports, relative to the root, from other rooms. */
const imports = (file: string): string[] =>
  [...readFileSync(file, 'utf8').matchAll(/(?:from|import\()\s*'(\.[^']+)'/g)].map(([, path]) =>
    relative(root, resolve(file, '..', path!)),
  )

test.each(rooms)('%s imports only from the rooms above it, by their doors', (room, allowed) => {
  const doors = allowed.map((other) => `${other}/index.js`)
  const elsewhere = sources(room).flatMap((file) =>
    imports(file)
      .filter((path) => !path.startsWith(`${room}/`))
      .map((path) => `${relative(root, file)} -> ${path}`),
  )
  expect(elsewhere.filter((arrow) => !doors.includes(arrow.split(' -> ')[1]!))).toEqual([])
})

test.each(rooms)('the compiler knows what %s may import', (room, allowed) => {
  const { references = [] } = JSON.parse(readFileSync(join(root, room, 'tsconfig.json'), 'utf8')) as {
    references?: { path: string }[]
  }
  const referenced = references.map(({ path }) => path.slice(3))
  expect(referenced).toEqual(allowed)
})
