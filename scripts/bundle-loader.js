import {
  closeSync,
  fstatSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import Module, { createRequire } from 'node:module'
import { homedir } from 'node:os'
import { dirname, join } from 'node:path'
import { Script } from 'node:vm'

// Copied to dist/bundle/load.js: loads the files that are beside it. Most of a start is that V8 compiles them, so its code
// is kept: beside the files by the build of a checkout, and in the user's cache by the first start of a package. Code of
// another architecture would end the process by a signal, so its name is part of that of the file or folder.

/** Set by scripts/bundle.js: changes with the content of any file. V8 itself compares no more than its length. */
const BUILD = ''

/** Set by scripts/bundle.js: the oldest Node.js that package.json allows, as in 20.19. */
const NEEDED_NODE = ''

const require = createRequire(import.meta.url)

/** Scripts that were compiled without code of before. */
const compiledHere = new Map()

/** Loads the command. An older Node.js, which npm only warns of, would fail somewhere in it. */
export function loadCommand() {
  const problem = nodeProblem()
  if (problem === undefined) {
    keepCompiledCode()
    load('command.cjs')
    return
  }
  process.stderr.write(`ironstage: ${problem}\n  try: install a newer Node.js, from https://nodejs.org\n`)
  process.exitCode = 1
}

/** Says that this Node.js is too old; nothing if it is not. */
function nodeProblem() {
  const [major, minor] = process.versions.node.split('.').map(Number)
  const [neededMajor, neededMinor] = NEEDED_NODE.split('.').map(Number)
  if (major > neededMajor || (major === neededMajor && minor >= neededMinor)) return undefined
  return `it needs Node.js ${NEEDED_NODE} or newer, and this is ${process.versions.node}`
}

/**
 * Loads a file of this folder, as `require` does.
 *
 * @param {string} name
 */
export function load(name) {
  const problem = nodeProblem()
  if (problem !== undefined) throw new Error(`ironstage: ${problem}`)
  const path = join(import.meta.dirname, name)
  const known = require.cache[path]
  if (known) return known.exports
  const script = compile(name)
  const module = new Module(path)
  module.filename = path
  require.cache[path] = module
  const requireHere = (id) => (id.startsWith('./') ? load(id.slice(2)) : require(id))
  script.runInThisContext().call(module.exports, module.exports, requireHere, module, path, import.meta.dirname)
  module.loaded = true
  return module.exports
}

/** @param {string} name */
export function compile(name) {
  const path = join(import.meta.dirname, name)
  const cachedData = contentOf(`${path}.${process.arch}.code`) ?? contentOf(join(codeFolder(), `${name}.code`))
  const script = new Script(Module.wrap(readFileSync(path, 'utf8')), { filename: path, cachedData })
  if (cachedData === undefined || script.cachedDataRejected) compiledHere.set(name, script)
  return script
}

/** The scripts of this process that were compiled without code of before, by name. */
export const newlyCompiled = () => compiledHere

/** Keeps what V8 compiles in this process in the user's cache, for the next start. */
function keepCompiledCode() {
  process.on('exit', () => {
    if (compiledHere.size === 0 || !mayWriteCache()) return
    try {
      mkdirSync(codeFolder(), { recursive: true, mode: 0o700 })
      for (const [name, script] of compiledHere) writeCode(codeFolder(), name, script)
    } catch {
      // A disk that is full or only read: the next start compiles again.
    }
  })
}

/** Writes the code of a script; another process may read it at the same time. */
export function writeCode(folder, name, script) {
  const unfinished = join(folder, `${name}.${process.pid}`)
  try {
    writeFileSync(unfinished, script.createCachedData(), { mode: 0o600 })
    renameSync(unfinished, join(folder, `${name}.code`))
  } catch (error) {
    rmSync(unfinished, { force: true })
    throw error
  }
}

/** `NODE_DISABLE_COMPILE_CACHE` is Node's own word for the same; root by sudo writes nothing into another user's folders. */
function mayWriteCache() {
  if (process.env['NODE_DISABLE_COMPILE_CACHE']) return false
  for (let folder = codeFolder(); folder !== dirname(folder); folder = dirname(folder))
    try {
      return statSync(folder).uid === process.geteuid?.()
    } catch {
      // Made on the way to the cache, where its parent is the user's.
    }
  return false
}

const codeFolder = () =>
  join(
    process.env['XDG_CACHE_HOME'] || join(homedir(), '.cache'),
    'ironstage',
    'code',
    `${BUILD}-${process.version}-${process.arch}`,
  )

/** Code is run: it is only read from a file of this user that no other one can write. */
function contentOf(path) {
  let file
  try {
    file = openSync(path, 'r')
    return isOwn(fstatSync(file)) ? readFileSync(file) : undefined
  } catch {
    return undefined
  } finally {
    if (file !== undefined) closeSync(file)
  }
}

const isOwn = ({ uid, mode }) => uid === process.geteuid?.() && (mode & 0o022) === 0
