import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { deserialize, serialize } from 'node:v8'
import { pathToFileURL } from 'node:url'
import { parseArgs } from 'node:util'
import { addDebianPackage, MERGED_FOLDERS } from './containers/debian-archive.js'
import { cachedFile, debianPackage, npmPackage } from './containers/fetched-files.js'
import { addArchive, addFile, addFolder, addLink, packTree, unpackGzip } from './containers/file-tree.js'
import { ImageLayout, layerOf } from './containers/image-layout.js'
import { PROGRAM, programTrees } from './containers/program-tree.js'
import { imageName } from './project-facts.js'

// Makes the two images, without an engine of containers and without a base image: Node.js from npm and libraries of Debian,
// which containers/pins.json pins, and ironstage as npm packs it. The same input gives the same bytes.
//
//   node scripts/containers.js --out DIR [--tarball FILE] [--architecture amd64]...
//
// DIR gets an OCI layout, DIR/layout, with the images of all architectures, and an archive of each image and architecture
// that docker, podman and skopeo load.

const root = join(import.meta.dirname, '..')
const pins = JSON.parse(readFileSync(join(root, 'containers/pins.json'), 'utf8'))

/** The user of the server. Distroless images have the same number for a user without rights. */
const USER = 65532
const STATE = 'var/lib/ironstage'
const ENVIRONMENT = ['PATH=/usr/local/bin:/usr/bin:/usr/sbin', 'NODE_ENV=production']
const SECOND = 1_000_000_000

/** What the images are: the layers above Node.js and the program, and their configuration. */
const IMAGES = {
  ironstage: {
    title: 'ironstage: a mock Ironic with simulated machines',
    packages: [],
    files: serverFiles,
    config: {
      User: `${USER}:${USER}`,
      Env: [...ENVIRONMENT, `HOME=/${STATE}`, 'XDG_CACHE_HOME=/tmp/cache'],
      Entrypoint: ['/usr/bin/tini', '--', '/usr/local/bin/ironstage'],
      Cmd: ['up'],
      WorkingDir: `/${STATE}`,
      Volumes: { [`/${STATE}`]: {} },
      ExposedPorts: { '6385/tcp': {} },
      Healthcheck: {
        Test: ['CMD', '/usr/local/bin/node', '/usr/local/lib/ironstage/health.mjs'],
        Interval: 10 * SECOND,
        Timeout: 5 * SECOND,
        StartPeriod: 10 * SECOND,
        Retries: 3,
      },
    },
  },
  'ironic-agent': {
    title: "ironstage's agent for a CoreOS live system, in place of ironic-python-agent",
    packages: ['agent'],
    files: agentFiles,
    config: {
      User: '0:0',
      Env: [...ENVIRONMENT, 'HOME=/root'],
      Entrypoint: ['/usr/bin/tini', '--', '/usr/local/bin/node', '/usr/local/lib/ironstage/start-agent.mjs'],
      WorkingDir: '/',
    },
  },
}

/**
 * Makes the images.
 *
 * @param options `programs`: by architecture, as `programTree` gives them; `name`: that of the server's image, beside which
 *   the agent's is; `time`: seconds since the epoch, of the program's files
 * @returns names and sizes of what was made
 */
export async function makeImages({ out, programs, version, name, time }) {
  mkdirSync(out, { recursive: true })
  const created = new Date(time * 1000).toISOString()
  const architectures = Object.keys(programs)
  const programLayers = {}
  for (const architecture of architectures)
    programLayers[architecture] = await programLayer(programs[architecture], time)
  const layout = new ImageLayout(join(out, 'layout'))
  const made = []
  for (const [image, { title, packages, files, config }] of Object.entries(IMAGES)) {
    const annotations = imageAnnotations(title, version, created)
    const images = {}
    for (const architecture of architectures) {
      const layers = [await baseLayer(architecture)]
      for (const part of packages) layers.push(await packagesLayer(architecture, part))
      layers.push(programLayers[architecture], await filesLayer(files(), time))
      images[architecture] = { layers, config: { ...config, Labels: annotations } }
    }
    for (const manifest of layout.addImage(images, { tag: `${image}-${version}`, created, annotations })) {
      const { architecture } = manifest.platform
      const file = `${image}-${version}-linux-${architecture}.tar`
      await layout.writeArchive(join(out, file), manifest, `${imageName(name, image)}:${version}`)
      const size = images[architecture].layers.reduce((sum, { packed }) => sum + packed.length, 0)
      made.push({ image, architecture, file, digest: manifest.digest, size })
    }
  }
  return made
}

const imageAnnotations = (title, version, created) => ({
  'org.opencontainers.image.title': title,
  'org.opencontainers.image.version': version,
  'org.opencontainers.image.created': created,
  'org.opencontainers.image.licenses': 'Apache-2.0',
})

/** Node.js and the libraries that it needs. Compressing it takes a quarter of a minute, so it is kept between runs. */
const baseLayer = (architecture) =>
  keptLayer(
    `base-${architecture}`,
    [pins.node, pins.debian.packages[architecture].base],
    `Node.js ${pins.node.version}`,
    async () => {
      const tree = await debianTree(architecture, 'base')
      for (const folder of MERGED_FOLDERS) addLink(tree, folder, `usr/${folder}`)
      const node = await npmPackage(pins.node.packages[architecture], pins.node.version)
      const places = { 'package/bin/node': 'usr/local/bin/node', 'package/LICENSE': 'usr/share/doc/nodejs/copyright' }
      await addArchive(tree, unpackGzip(node), (path) => places[path])
      addFolder(tree, 'tmp', { mode: 0o1777 })
      addFile(
        tree,
        'etc/passwd',
        `root:x:0:0:root:/root:/usr/sbin/nologin\nironstage:x:${USER}:${USER}::/${STATE}:/usr/sbin/nologin\n`,
      )
      addFile(tree, 'etc/group', `root:x:0:\nironstage:x:${USER}:\n`)
      addFile(tree, 'etc/nsswitch.conf', 'hosts: files dns\n')
      // Scanners of images read the packages of Debian by it.
      addFile(tree, 'etc/os-release', 'ID=debian\nVERSION_ID="12"\nPRETTY_NAME="ironstage on libraries of Debian 12"\n')
      return tree
    },
  )

/** Programs of Debian that one image has besides. */
const packagesLayer = (architecture, part) =>
  keptLayer(`${part}-${architecture}`, [pins.debian.packages[architecture][part]], 'programs of Debian', () =>
    debianTree(architecture, part),
  )

async function debianTree(architecture, part) {
  const tree = new Map()
  for (const pin of pins.debian.packages[architecture][part])
    await addDebianPackage(tree, pin.name, await debianPackage(pin, pins))
  return tree
}

/** A layer that changes with the pins alone, from the cache. */
async function keptLayer(name, inputs, comment, makeTree) {
  const key = createHash('sha256').update(JSON.stringify([pins.date, inputs, ownSources(), process.versions.zlib]))
  const bytes = await cachedFile(`${name}-${key.digest('hex').slice(0, 16)}.layer`, async () =>
    serialize(layerOf(await packTree(await makeTree(), Date.parse(pins.date) / 1000, 9), comment)),
  )
  return deserialize(bytes)
}

const ownSources = () =>
  ['containers.js', ...readdirSync(join(root, 'scripts/containers')).map((name) => `containers/${name}`)].map((name) =>
    readFileSync(join(root, 'scripts', name), 'utf8'),
  )

async function programLayer(program, time) {
  const tree = new Map(program)
  // There is no env(1) in the server's image.
  const start = `#!/usr/local/bin/node\nimport('/${PROGRAM}/dist/bundle/ironstage.js')\n`
  addFile(tree, 'usr/local/bin/ironstage', start, { mode: 0o755 })
  return layerOf(await packTree(tree, time), 'ironstage')
}

const filesLayer = async (files, time) => layerOf(await packTree(files, time), 'what starts it')

function serverFiles() {
  const tree = new Map()
  addFolder(tree, STATE, { mode: 0o750, owner: USER })
  addFile(tree, 'usr/local/lib/ironstage/health.mjs', readFileSync(join(root, 'containers/ironstage/health.mjs')))
  return tree
}

function agentFiles() {
  const tree = new Map()
  const source = (name) => readFileSync(join(root, 'containers/ironic-agent', name))
  addFolder(tree, 'root', { mode: 0o700 })
  addFolder(tree, 'mnt/coreos')
  addFile(tree, 'usr/local/lib/ironstage/start-agent.mjs', source('start-agent.mjs'))
  addFile(tree, 'etc/ironic-python-agent/00-defaults.conf', source('00-defaults.conf'))
  return tree
}

async function main() {
  const { values } = parseArgs({
    options: {
      out: { type: 'string', default: join(root, 'dist/images') },
      tarball: { type: 'string' },
      architecture: { type: 'string', multiple: true },
    },
  })
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  const { containerImage } = JSON.parse(readFileSync(join(root, 'project.json'), 'utf8'))
  const packing = mkdtempSync(join(tmpdir(), 'ironstage-packing-'))
  try {
    rmSync(values.out, { recursive: true, force: true })
    const tarball = values.tarball ?? packed(packing)
    const programs = programTrees(tarball, join(root, 'package-lock.json'), values.architecture)
    const made = await makeImages({ out: values.out, programs, version, name: containerImage, time: sourceTime(root) })
    for (const { file, size, digest } of made)
      process.stdout.write(`${file}: ${(size / 1e6).toFixed(1)} MB as pulled, ${digest}\n`)
  } finally {
    rmSync(packing, { recursive: true, force: true })
  }
}

function packed(folder) {
  execFileSync('npm', ['pack', '--silent', '--ignore-scripts', '--pack-destination', folder], { cwd: root })
  return join(folder, readdirSync(folder)[0])
}

/** Seconds since the epoch of what the images are made from (https://reproducible-builds.org/specs/source-date-epoch). */
export const sourceTime = (folder) =>
  Number(
    process.env['SOURCE_DATE_EPOCH'] ??
      execFileSync('git', ['log', '-1', '--format=%ct'], { cwd: folder, encoding: 'utf8' }),
  )

if (import.meta.url === pathToFileURL(process.argv[1]).href) await main()
