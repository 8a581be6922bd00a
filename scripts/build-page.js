import { existsSync, readdirSync, rmSync, statSync } from 'node:fs'
import { basename, join } from 'node:path'
import { carriedBanner } from './carried-packages.js'

// Makes the dashboard of apps/ui/: the few files of dist/page/ that a browser loads.
//
//   --from-sources  takes the client of the control API from its source: nothing needs to be built before

const root = join(import.meta.dirname, '..')
const made = join(root, 'dist/page/index.html')
const isFromSources = process.argv.includes('--from-sources')
const controlRoom = join(root, isFromSources ? 'control' : 'dist/control')
const control = (path) => join(controlRoom, isFromSources ? path.replace(/\.js$/, '.ts') : path)
const isRoom = (id) =>
  id.startsWith(`${root}/`) && !id.startsWith(join(root, 'apps/ui')) && !id.includes('/node_modules/')

// A server may read them meanwhile: they are written only when there is a change.
if (isFresh()) process.exit()

const { build, createLogger } = await import('vite')
await build({
  root: join(root, 'apps/ui'),
  configFile: false,
  // Names of files are relative: a proxy may serve the page below another path.
  base: './',
  logLevel: 'warn',
  customLogger: loggerOfThePage(),
  plugins: [controlOfThePage(), noModulesOfNode(), carriedPackagesNamed()],
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
  build: {
    outDir: join(root, 'dist/page'),
    emptyOutDir: true,
    target: 'es2022',
    reportCompressedSize: false,
    // Scripts and styles within the page are refused by its own conf.
    modulePreload: false,
    assetsInlineLimit: 0,
    // The rooms do nothing when they are loaded: what the page does not use of them goes, with its modules of Node.js.
    rollupOptions: { treeshake: { moduleSideEffects: (id) => !isRoom(id) } },
  },
})

/**
 * The page takes of the control API its client and some tables. The client's list of calls and the tables are data by then: without
 * their schemas they are a tenth of the code that makes them.
 */
function controlOfThePage() {
  const operations = control('operations/control-operations.js')
  const choices = control('faults/fault-choices.js')
  return {
    name: 'control-of-the-page',
    enforce: 'pre',
    resolveId: (source) => (/^(\.\.\/)+control\/index\.js$/.test(source) ? '\0control' : undefined),
    async load(id) {
      if (id === '\0control')
        return [
          `export { ControlRefused, LabClient } from ${JSON.stringify(control('client/lab-client.js'))}`,
          `export { FAULT_CHOICES } from ${JSON.stringify(choices)}`,
          `export { RETRY_VERBS, retryText } from ${JSON.stringify(control('timeline/retry-verbs.js'))}`,
        ].join('\n')
      if (id === choices) {
        const { FAULT_CHOICES } = await importModule(choices)
        return `export const FAULT_CHOICES = ${JSON.stringify(FAULT_CHOICES)}`
      }
      if (id !== operations) return undefined
      const { CONTROL_OPERATIONS } = await importModule(operations)
      const calls = CONTROL_OPERATIONS.map(({ id, method, path, query, body, answer }) => ({
        ...{ id, method, path, query: query ? {} : undefined, body: body ? {} : undefined },
        answer: typeof answer === 'string' ? answer : undefined,
      }))
      return `export const CONTROL_OPERATIONS = ${JSON.stringify(calls)}`
    },
  }
}

/** Imports a module; from the sources as one file for the moment. */
async function importModule(path) {
  if (!isFromSources) return import(path)
  const { rolldown } = await import('rolldown')
  const file = join(root, 'dist', `${basename(path, '.ts')}.${process.pid}.mjs`)
  const bundle = await rolldown({
    input: path,
    platform: 'node',
    resolve: { extensionAlias: { '.js': ['.ts', '.js'] } },
    external: (id) => !/^[./]/.test(id),
  })
  try {
    await bundle.write({ file })
    return await import(file)
  } finally {
    await bundle.close()
    rmSync(file, { force: true })
  }
}

/** Leaves out warnings of Node.js modules that rooms import: {@link noModulesOfNode} looks at those that stay. */
function loggerOfThePage() {
  const logger = createLogger('warn')
  const { warn } = logger
  logger.warn = (message, options) => {
    if (!message.includes('has been externalized for browser compatibility')) warn(message, options)
  }
  return logger
}

/** Refuses a page with an empty module in the place of one of Node.js. */
function noModulesOfNode() {
  return {
    name: 'no-modules-of-node',
    generateBundle(_, files) {
      for (const { modules = {} } of Object.values(files))
        for (const [id, { renderedLength }] of Object.entries(modules))
          if (id.includes('browser-external') && renderedLength > 0)
            this.error(`the page uses a module of Node.js: ${id.replace(/^.*browser-external:?/, '')}`)
    },
  }
}

/** Names the packages of the page in its script, after the minifier, which takes comments away. */
function carriedPackagesNamed() {
  return {
    name: 'carried-packages-named',
    generateBundle(_, files) {
      for (const file of Object.values(files))
        if (file.type === 'chunk') file.code = `${carriedBanner(file.moduleIds)}\n${file.code}`
    },
  }
}

function isFresh() {
  if (!existsSync(made)) return false
  const { mtimeMs: since } = statSync(made)
  const below = (folder) => readdirSync(folder, { recursive: true }).map((path) => join(folder, path))
  const inputs = [
    ...[import.meta.filename, join(import.meta.dirname, 'carried-packages.js'), join(root, 'package-lock.json')],
    ...below(join(root, 'apps/ui')).filter((path) => !/\.test\.ts$/.test(path)),
    ...below(controlRoom).filter((path) => /\.[jt]s$/.test(path) && !path.endsWith('.d.ts')),
  ]
  return inputs.every((path) => statSync(path).mtimeMs < since)
}
