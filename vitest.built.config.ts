import { existsSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { mergeConfig, type Plugin } from 'vitest/config'
import base from './vitest.config.js'

const root = import.meta.dirname

/**
 * Imports what `tsc -b` has built in place of the sources, as users do. Node loads it without vitest's wrappers around each
 * import, which takes a fifth off the suite's time.
 */
const builtModules: Plugin = {
  name: 'built-modules',
  enforce: 'pre',
  resolveId(source, importer) {
    if (importer === undefined || !/^\.\.?\/.*\.js$/.test(source)) return undefined
    const path = relative(root, resolve(dirname(importer.replace(/\?.*/, '')), source))
    if (path.startsWith('test/') || path.startsWith('..')) return undefined
    const built = join(root, 'dist', path)
    return existsSync(built) ? built : undefined
  },
}

/** The whole suite over the build. Plain `vitest` runs over the sources, so that an edit needs no build. */
export default mergeConfig(base, {
  plugins: [builtModules],
  test: { server: { deps: { external: [/\/dist\//] } } },
})
