import { execFileSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { addFolderOf } from './file-tree.js'

/** Folder of the program in an image. */
export const PROGRAM = 'opt/ironstage'

/** Architectures, as images name them and as npm does. */
export const ARCHITECTURES = { amd64: 'x64', arm64: 'arm64' }

/** The numbers of these processors in a program's header (ELF's `e_machine`). */
const ELF_MACHINES = { x64: 62, arm64: 183 }
const ELF_MACHINE_OFFSET = 18

/** The terminal of an installer: what needs it does without. */
const LEFT_OUT_PACKAGES = ['node-pty', '@types', '.bin']
/** Sources of natives, and what only compilers and debuggers read. */
const LEFT_OUT_FILES =
  /\.(d\.[cm]?ts|map)$|^lzma-native\/(deps|src)\/|^openpgp\/dist\/(?!node\/openpgp\.(min\.cjs|mjs)$)|^node-liblzma\/(?!lib\/wasm\/liblzma\.(js|wasm)$|package\.json$|LICENSE)/

/**
 * The program with the packages that it needs, as a tree for each architecture.
 *
 * @param tarball what npm packs
 * @param lockFile package-lock.json of the release
 */
export const programTrees = (tarball, lockFile, architectures = Object.keys(ARCHITECTURES)) =>
  Object.fromEntries(architectures.map((architecture) => [architecture, programTree(tarball, lockFile, architecture)]))

function programTree(tarball, lockFile, architecture) {
  const folder = mkdtempSync(join(tmpdir(), 'ironstage-program-'))
  try {
    mkdirSync(join(folder, 'package'))
    execFileSync('tar', ['-xzf', tarball, '-C', folder])
    const place = join(folder, 'package')
    cpSync(lockFile, join(place, 'package-lock.json'))
    const processor = ARCHITECTURES[architecture]
    const platform = ['--os=linux', `--cpu=${processor}`, '--libc=glibc']
    const argv = ['ci', '--omit=dev', '--omit=peer', '--ignore-scripts', '--prefer-offline', '--no-audit', '--no-fund']
    execFileSync('npm', [...argv, ...platform], { cwd: place, stdio: ['ignore', 'ignore', 'inherit'] })
    rmSync(join(place, 'node_modules/.package-lock.json'), { force: true })
    const tree = new Map()
    addFolderOf(tree, place, PROGRAM, (path) => isNeeded(path, processor) && !isForeign(join(place, path), processor))
    return tree
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/**
 * True for native code of another processor: lzma-native 8.0.6 has some of x86 in the place of that for ARM. Without it
 * ironstage does the work in WebAssembly.
 */
const isForeign = (file, processor) =>
  file.endsWith('.node') && readFileSync(file).readUInt16LE(ELF_MACHINE_OFFSET) !== ELF_MACHINES[processor]

function isNeeded(path, processor) {
  if (path === 'package-lock.json' || path.startsWith('dist/types')) return false
  if (!path.startsWith('node_modules/')) return true
  const inside = path.slice('node_modules/'.length)
  if (LEFT_OUT_PACKAGES.some((name) => inside === name || inside.startsWith(`${name}/`))) return false
  const [, prebuilt] = /\/prebuilds\/([^/]+)/.exec(inside) ?? []
  return !LEFT_OUT_FILES.test(inside) && (prebuilt === undefined || prebuilt === `linux-${processor}`)
}
