import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { serialize } from 'node:v8'
import { gzipSync } from 'node:zlib'
import { npmPackage } from './containers/fetched-files.js'
import { addArchive, unpackGzip } from './containers/file-tree.js'
import { ARCHITECTURES, PROGRAM } from './containers/program-tree.js'

// Makes ironstage as one file, for who has no Node.js: a single executable application of Node.js
// (https://nodejs.org/docs/latest-v20.x/api/single-executable-applications.html) with the program as its asset.

const root = join(import.meta.dirname, '..')
const { node } = JSON.parse(readFileSync(join(root, 'containers/pins.json'), 'utf8'))

const POSTJECT = createRequire(import.meta.url).resolve('postject/dist/cli.js')

/** The text in a Node.js after which postject sets that an application is in it. */
const FUSE = 'NODE_SEA_FUSE_fce680ab2cc467b6e072b8b5df1996b2'

/**
 * @param options `programs`: by architecture, as `programTrees` gives them
 * @returns the names of what was made, one for each architecture
 */
export async function makeSingleFiles({ out, programs, version }) {
  mkdirSync(out, { recursive: true })
  const made = []
  const folder = mkdtempSync(join(tmpdir(), 'ironstage-single-'))
  try {
    for (const [architecture, program] of Object.entries(programs)) {
      const name = `ironstage-${version}-linux-${architecture}`
      const file = join(out, name)
      writeFileSync(file, await nodeOf(architecture))
      const blob = makeBlob(folder, await nodeHere(folder), program)
      // It warns of each section of the file whose name it does not know.
      runQuietly(process.execPath, POSTJECT, file, 'NODE_SEA_BLOB', blob, '--sentinel-fuse', FUSE)
      chmodSync(file, 0o755)
      made.push(name)
    }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
  return made
}

async function nodeOf(architecture) {
  const tree = new Map()
  const packed = await npmPackage(node.packages[architecture], node.version)
  await addArchive(tree, unpackGzip(packed), (path) => (path === 'package/bin/node' ? 'node' : undefined))
  return tree.get('node').content
}

/** A Node.js of the same version that runs here: another one may write another form. */
async function nodeHere(folder) {
  if (process.version === `v${node.version}`) return process.execPath
  const [here] = Object.entries(ARCHITECTURES).find(([, processor]) => processor === process.arch) ?? []
  if (process.platform !== 'linux' || here === undefined)
    throw new Error(`the single file is made with Node.js ${node.version}, and this is ${process.version}`)
  const path = join(folder, 'node')
  writeFileSync(path, await nodeOf(here), { mode: 0o755 })
  return path
}

function makeBlob(folder, program, tree) {
  const files = [...tree]
    .filter(([, { type }]) => type === 'file')
    .map(([path, { content, mode }]) => [path.slice(PROGRAM.length + 1), mode, content])
  const packed = gzipSync(serialize(files))
  const build = createHash('sha256').update(packed).digest('hex').slice(0, 16)
  const at = (name) => join(folder, name)
  writeFileSync(at('program'), packed)
  writeFileSync(at('build'), build)
  const config = {
    main: join(root, 'scripts/single-file/start.cjs'),
    output: at('blob'),
    disableExperimentalSEAWarning: true,
    assets: { program: at('program'), build: at('build') },
  }
  writeFileSync(at('config.json'), JSON.stringify(config))
  runQuietly(program, '--experimental-sea-config', at('config.json'))
  return at('blob')
}

/** Shows what a program reports only if it fails. */
const runQuietly = (program, ...argv) => execFileSync(program, argv, { stdio: ['ignore', 'ignore', 'pipe'] })
