import { readFileSync } from 'node:fs'
import Module, { createRequire } from 'node:module'
import { join } from 'node:path'
import { Script } from 'node:vm'

// Copied to dist/bundle/load.js: loads the files of the command that are beside it. V8 compiled them when the bundle was made,
// and takes its code from FILE.code; another version of it compiles them again. Most of a start is that.

const require = createRequire(import.meta.url)

/**
 * Loads a file of this folder, as `require` does.
 *
 * @param {string} name
 * @param {(name: string, script: Script) => void} [onScript] called with the script of each file that is loaded
 */
export function load(name, onScript) {
  const path = join(import.meta.dirname, name)
  const known = require.cache[path]
  if (known) return known.exports
  const script = compile(name)
  onScript?.(name, script)
  const module = new Module(path)
  module.filename = path
  require.cache[path] = module
  const requireHere = (id) => (id.startsWith('./') ? load(id.slice(2), onScript) : require(id))
  script.runInThisContext().call(module.exports, module.exports, requireHere, module, path, import.meta.dirname)
  module.loaded = true
  return module.exports
}

/** @param {string} name */
export const compile = (name) =>
  new Script(Module.wrap(readFileSync(join(import.meta.dirname, name), 'utf8')), {
    // V8 keeps it with its code, and the folder is another one where the package is installed.
    filename: name,
    cachedData: codeOf(name),
  })

function codeOf(name) {
  try {
    return readFileSync(join(import.meta.dirname, `${name}.code`))
  } catch {
    return undefined
  }
}
