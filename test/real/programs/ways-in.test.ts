import {
  access,
  chmod,
  cp,
  mkdir,
  mkdtemp,
  readFile,
  readdir,
  realpath,
  rm,
  stat,
  symlink,
  writeFile,
} from 'node:fs/promises'
import { createServer, type Server } from 'node:http'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { hash } from 'bcryptjs'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { parse, parseAllDocuments } from 'yaml'
import { systemClock } from '../../../base/runtime/index.js'
import { HttpTransport, IronicClient } from '../../../base/wire/index.js'
import { IRONSTAGE, UpProcess } from '../../kit/commands/up-process.js'
import { BareSystem, type SystemParts } from '../bare-system.js'
import { ContainerEngine } from '../container-engine.js'
import { dockerRegistry, type DockerRegistry } from '../docker-registry.js'
import { REAL_PEER_TIMEOUT } from '../limits.js'
import { debianProgram, succeeds, tool } from '../peers.js'
import { freePort } from '../free-port.js'
import { npmRegistry, pythonIndex, ServedFiles } from '../package-registries.js'
import { OWNER_FACTS } from '../owner-facts.js'

// Ironstage as strangers get it: from registries on loopback that serve what the release script makes for an owner, into
// containers and systems that have nothing else.

const ROOT = fileURLToPath(new URL('../../..', import.meta.url))
const VERSION = '0.8.9'
const IMAGE = OWNER_FACTS.containerImage
const MAX_PULLED_BYTES = 60e6
/** Seconds of a processor that a first result may take: on a computer that does nothing else, no more time than that. */
const FIRST_RESULT = 60

let folder: string
let out: string
let registry: DockerRegistry
let engine: ContainerEngine
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'ironstage-ways-in-'))
  out = join(folder, 'out')
  const facts = join(folder, 'facts.json')
  await writeFile(facts, JSON.stringify(OWNER_FACTS))
  await debianProgram('skopeo', 'skopeo')
  await debianProgram('bwrap', 'bubblewrap')
  await debianProgram('wget', 'wget')
  await debianProgram('qemu-aarch64-static', 'qemu-user-static')
  const options = ['--dry-run', '--without-site', '--out', out, '--facts', facts]
  await succeeds('env', '-C', ROOT, 'node', 'scripts/release.js', VERSION, ...options)
  registry = await dockerRegistry()
  for (const image of ['ironstage', 'ironic-agent'])
    await succeeds(
      'skopeo',
      'copy',
      '--quiet',
      '--all',
      '--preserve-digests',
      '--dest-tls-verify=false',
      `oci:${out}/images/layout:${image}-${VERSION}`,
      `docker://${registry.host}/owner/${image}:${VERSION}`,
    )
  engine = await ContainerEngine.open(registry.host)
})
afterAll(async () => {
  await engine?.[Symbol.asyncDispose]()
  await registry?.[Symbol.asyncDispose]()
  await rm(folder, { recursive: true, force: true })
})

/** The blocks of a page as it is in the release, by what stands behind their language. */
async function releasedBlocks(page: string): Promise<Map<string, string>> {
  const checkout = join(folder, 'facts')
  if (!(await stat(checkout).catch(() => null))) {
    for (const path of [
      'package.json',
      'clients',
      'SECURITY.md',
      '.github',
      'ci',
      'templates',
      'containers',
      'docs',
      'examples',
    ])
      await cp(join(ROOT, path), join(checkout, path), { recursive: true })
    await writeFile(join(checkout, 'project.json'), JSON.stringify(OWNER_FACTS))
    const manifest = JSON.parse(await readFile(join(ROOT, 'package.json'), 'utf8')) as object
    await writeFile(join(checkout, 'package.json'), JSON.stringify({ ...manifest, version: VERSION }))
    const script = `
      const { factFiles } = await import(${JSON.stringify(join(ROOT, 'scripts/project-facts.js'))})
      const { writeFileSync } = await import('node:fs')
      for (const [path, text] of factFiles(process.argv[1])) writeFileSync(process.argv[1] + '/' + path, text)`
    await succeeds('node', '--input-type=module', '--eval', script, checkout)
  }
  const text = await readFile(join(checkout, page), 'utf8')
  return new Map([...text.matchAll(/^```\w+ (\S+)\n([\s\S]*?)^```$/gm)].map(([, name, block]) => [name!, block!]))
}

interface ImageManifest {
  layers: { digest: string; size: number }[]
  config: { size: number }
}
const inspected = async (...argv: string[]): Promise<string> =>
  succeeds('skopeo', 'inspect', '--tls-verify=false', ...argv)

describe('the images', () => {
  test.each(['ironstage', 'ironic-agent'])(
    '%s is in the registry for two architectures, and in archives',
    async (image) => {
      const source = `docker://${registry.host}/owner/${image}`
      const index = JSON.parse(await inspected('--raw', `${source}:${VERSION}`)) as {
        manifests: { digest: string; platform: { architecture: string } }[]
      }
      expect(index.manifests.map(({ platform }) => platform.architecture)).toEqual(['amd64', 'arm64'])
      for (const { digest, platform } of index.manifests) {
        const manifest = JSON.parse(await inspected('--raw', `${source}@${digest}`)) as ImageManifest
        const pulled = manifest.layers.reduce((sum, { size }) => sum + size, manifest.config.size)
        if (image === 'ironstage') expect(pulled).toBeLessThan(MAX_PULLED_BYTES)
        const archive = join(out, `images/${image}-${VERSION}-linux-${platform.architecture}.tar`)
        for (const kind of ['docker-archive', 'oci-archive']) {
          const config = JSON.parse(await succeeds('skopeo', 'inspect', '--config', `${kind}:${archive}`)) as object
          expect(config).toMatchObject({ architecture: platform.architecture, os: 'linux' })
        }
      }
    },
  )

  test('for ARM deploy on an emulated processor', async () => {
    const archive = join(out, `images/ironstage-${VERSION}-linux-arm64.tar`)
    const root = join(folder, 'arm64')
    await mkdir(root)
    const [saved] = JSON.parse(await succeeds('tar', '-xOf', archive, 'manifest.json')) as [{ Layers: string[] }]
    for (const layer of saved.Layers)
      await succeeds('sh', '-c', `tar -xOf ${archive} ${layer} | tar -xzf - -C ${root} --no-same-owner`)
    await writeFile(join(root, 'emulator'), '')
    const onArm = (...argv: string[]) => {
      const system = ['--bind', root, '/', '--proc', '/proc', '--dev', '/dev', '--tmpfs', '/tmp']
      const emulator = ['--ro-bind', '/usr/bin/qemu-aarch64-static', '/emulator']
      const settings = ['--clearenv', '--setenv', 'HOME', '/tmp', '--setenv', 'NODE_ENV', 'production']
      const words = ['--unshare-all', '--die-with-parent', ...system, ...emulator, ...settings]
      return tool('bwrap', ...words, '/emulator', '/usr/local/bin/node', ...argv)
    }
    expect((await onArm('-p', 'process.arch')).stdout).toBe('arm64\n')
    const deployed = await onArm('/usr/local/bin/ironstage', 'deploy')
    expect(deployed.stderr).toBe('')
    expect(deployed.stdout).toContain('The disk matches the request.')
  })

  test('serves a deployment as a user without rights, on a root that is only read', async () => {
    const line = (await releasedBlocks('docs/containers.md')).get('run')!
    const port = await freePort()
    const words = line.trim().split(' ').slice(2)
    const at = words.indexOf('--network')
    const server = engine.start('run', '--name', 'server', '--env', `IRONSTAGE_PORT=${port}`, ...words.slice(at - 1))
    const [, url] = await server.line(/Ironic is ready at (http:\S+) with 3 simulated machines/)
    expect(url).toBe(`http://127.0.0.1:${port}`)
    const health = () => tool(engine.program, 'exec', 'server', 'node', '/usr/local/lib/ironstage/health.mjs')
    expect((await health()).code).toBe(0)
    const wrong = [
      'exec',
      '--env',
      'IRONSTAGE_PORT=1',
      'server',
      'node',
      '/usr/local/lib/ironstage/health.mjs',
    ] as const
    expect((await tool(engine.program, ...wrong)).code).toBe(1)

    const inside = `
      const failures = ['/etc/new', '/opt/ironstage/new', '/usr/local/bin/node'].map((path) => {
        try { require('fs').writeFileSync(path, ''); return 'written' } catch (error) { return error.code }
      })
      console.log(process.getuid(), process.getgid(), failures.join())`
    expect(await engine.run('exec', 'server', 'node', '--eval', inside)).toBe('65532 65532 EROFS,EROFS,EROFS\n')
    const deployed = await tool(engine.program, 'exec', 'server', 'ironstage', 'deploy', '--ironic-url', url!)
    expect(deployed.code, deployed.stderr).toBe(0)
    expect(deployed.stdout).toContain('The disk matches the request.')
    await engine.run('stop', '--time', '20', 'server')
    expect(server.output()).toContain('ironstage stops: stopped by SIGTERM')
  })

  test('keeps its state on a volume, and asks for a password, as Compose and Kubernetes start it', async () => {
    const { services } = parse(await readFile(join(ROOT, 'containers/ironstage/compose.yaml'), 'utf8')) as {
      services: { ironstage: { command: string[]; read_only: boolean; tmpfs: string[]; volumes: string[] } }
    }
    const { command, read_only: readOnly, tmpfs, volumes } = services.ironstage
    expect({ readOnly, tmpfs }).toEqual({ readOnly: true, tmpfs: ['/tmp'] })
    const users = join(folder, 'htpasswd')
    await writeFile(users, `lab:${await hash('open', 5)}\n`)
    const port = await freePort()
    const mounts = volumes.flatMap((volume) => ['--volume', volume.replace('./htpasswd', users)])
    const options = [
      '--read-only',
      '--tmpfs',
      '/tmp',
      '--cap-drop',
      'all',
      '--security-opt',
      'no-new-privileges',
      ...mounts,
    ]
    const begin = (name: string) =>
      engine.start(
        'run',
        '--rm',
        '--name',
        name,
        '--network',
        'host',
        ...options,
        `${IMAGE}:${VERSION}`,
        ...command,
        '--port',
        String(port),
      )
    const names = async (password: string) => {
      const authorization = `Basic ${Buffer.from(`lab:${password}`).toString('base64')}`
      const answer = await fetch(`http://127.0.0.1:${port}/v1/nodes`, {
        headers: { authorization, 'X-OpenStack-Ironic-API-Version': '1.109' },
      })
      if (!answer.ok) return answer.status
      return ((await answer.json()) as { nodes: { uuid: string }[] }).nodes.map(({ uuid }) => uuid).sort()
    }
    const first = begin('kept')
    await first.line(/Ironic is ready at/)
    const before = await names('open')
    expect(before).toHaveLength(3)
    expect(await names('closed')).toBe(401)
    await engine.run('stop', '--time', '20', 'kept')
    // A container that has ended keeps its name for a moment.
    const second = begin('kept-again')
    await second.line(/Ironic is ready at/)
    expect(await names('open')).toEqual(before)
    await engine.run('stop', '--time', '20', 'kept-again')
  })

  test('serves a job of a CI, by the lines of its page', async () => {
    const port = await freePort()
    const place = join(folder, 'job')
    await mkdir(place)
    await writeFile(join(place, 'test-my-client'), `#!/bin/sh\nwget -qO - http://127.0.0.1:${port}/ >&2; exit 1\n`, {
      mode: 0o755,
    })
    const settings = `--env IRONSTAGE_PORT=${port} --env IRONSTAGE_URL=http://127.0.0.1:${port} --network host`
    const lines = (await releasedBlocks('docs/ci.md')).get('container')!.replace('--network host', settings)
    await succeeds('env', '-C', place, 'sh', '-ec', `docker() { ${engine.program} "$@"; }\n! (\n${lines})`)
    const journal = (await readFile(join(place, 'journal.ndjson'), 'utf8')).trim().split('\n')
    expect(journal.map((line) => (JSON.parse(line) as { kind: string }).kind)).toContain('exchange')
    expect(await engine.run('ps', '--all', '--quiet')).toBe('')
  })

  test('have manifests whose parts fit together', async () => {
    const place = join(folder, 'kubernetes')
    await cp(join(ROOT, 'containers/ironstage/kubernetes'), place, { recursive: true })
    await writeFile(join(place, 'htpasswd'), 'lab:x\n')
    const documents = parseAllDocuments(await succeeds('kubectl', 'kustomize', place)).map(
      (document) => document.toJS() as KubernetesObject,
    )
    const of = (kind: string) => documents.find((document) => document.kind === kind)!
    expect(documents.map(({ kind }) => kind).sort()).toEqual([
      'Deployment',
      'PersistentVolumeClaim',
      'Secret',
      'Service',
    ])
    const { template, selector } = of('Deployment').spec
    expect(template.metadata.labels).toMatchObject(selector.matchLabels)
    expect(template.metadata.labels).toMatchObject(of('Service').spec.selector)
    const [container] = template.spec.containers
    expect(container.ports.map(({ name }) => name)).toContain(of('Service').spec.ports[0]!.targetPort)
    const claims = template.spec.volumes.map(
      (volume) => volume.persistentVolumeClaim?.claimName ?? volume.secret?.secretName,
    )
    expect(claims).toEqual(
      expect.arrayContaining([of('PersistentVolumeClaim').metadata.name, of('Secret').metadata.name]),
    )
    expect(container.volumeMounts.map(({ name }) => name).sort()).toEqual(
      template.spec.volumes.map(({ name }) => name).sort(),
    )
    const { services } = parse(await readFile(join(ROOT, 'containers/ironstage/compose.yaml'), 'utf8')) as {
      services: { ironstage: { command: string[] } }
    }
    const composed = services.ironstage.command.join(' ').replace('/run/htpasswd', '/run/users/htpasswd')
    expect(container.args.join(' ').replaceAll('=', ' ')).toBe(composed)
  })

  test('are what the clients start where there is an engine', async () => {
    const bin = join(folder, 'engine-bin')
    await mkdir(bin)
    await symlink(engine.program, join(bin, 'podman'))
    // A folder that only its owner can read, as homes are.
    const home = join(folder, 'home')
    await mkdir(home, { mode: 0o700 })
    await writeFile(join(home, 'faults.yaml'), '- effect: { kind: bmc-silent }\n  match: { node: node-1 }\n')
    const [wheel] = (await readdir(out)).filter((name) => name.endsWith('.whl'))
    await succeeds(
      'python3',
      '-m',
      'pip',
      'install',
      '--quiet',
      '--no-deps',
      '--no-index',
      '--target',
      join(folder, 'site'),
      join(out, wheel!),
    )
    await writeFile(
      join(home, 'reader.py'),
      `import ironstage
with ironstage.start('--nodes', '2', '--faults', 'faults.yaml') as lab:
    print(len(lab.nodes()), len(lab.faults()))
`,
    )
    const python = (await succeeds('python3', '-c', 'import sys; print(sys.executable)')).trim()
    const settings = [`PATH=${bin}:/usr/bin:/bin:/usr/sbin`, `PYTHONPATH=${join(folder, 'site')}`]
    const { code, stdout, stderr } = await tool('env', '-i', '-C', home, ...settings, python, 'reader.py')
    expect({ code, stdout }, stderr).toEqual({ code: 0, stdout: '2 1\n' })
  })
})

interface KubernetesObject {
  kind: string
  metadata: { name: string }
  spec: {
    selector: { matchLabels: object } & object
    ports: { targetPort: string }[]
    template: {
      metadata: { labels: object }
      spec: {
        containers: [{ args: string[]; ports: { name: string }[]; volumeMounts: { name: string }[] }]
        volumes: {
          name: string
          persistentVolumeClaim?: { claimName: string }
          secret?: { secretName: string }
        }[]
      }
    }
  }
}

const closing = (server: Server): Disposable => ({ [Symbol.dispose]: () => void server.close() })

/** A coreos-installer that writes the small image that comes with ironstage, and says which tree it is in. */
const INSTALLER = `#!/bin/sh
[ "$1" = install ] || exit 0
for last; do :; done
xz -dc ${ROOT}/images/coreos-metal.raw.xz | dd of="$last" bs=1M conv=fsync 2>/dev/null
echo "installed from the tree with $(cat /etc/os-release | grep PRETTY_NAME)"
`

test('the agent in its container, started as the unit of a live CoreOS does, installs by the installer of the machine', async () => {
  const up = new UpProcess(['--port', '0', '--profile', 'upstream', '--set', 'conductor.automated_clean=false'])
  onTestFinished(() => up.kill())
  const endpoint = await up.ready
  const clock = systemClock()
  await using transport = new HttpTransport({ clock })
  const ironic = new IronicClient({ transport, endpoint, clock })
  const { uuid } = await ironic.createNode({
    driver: 'fake-hardware',
    power_interface: 'fake',
    deploy_interface: 'custom-agent',
    driver_info: { deploy_forces_oob_reboot: true },
  })
  await ironic.createPort({ node_uuid: uuid, address: '02:00:00:00:00:07' })
  for (const [verb, state] of [
    ['manage', 'manageable'],
    ['provide', 'available'],
  ] as const) {
    await ironic.provision(uuid, verb)
    await ironic.waitFor(uuid, [state])
  }
  const steps = [
    {
      interface: 'deploy' as const,
      step: 'install_coreos',
      priority: 80,
      args: { ignition: { ignition: { version: '3.4.0' } } },
    },
  ]
  await ironic.provision(uuid, 'active', { deploy_steps: steps })
  await ironic.waitFor(uuid, ['wait call-back'])

  const disk = join(folder, 'disk.img')
  const installer = join(folder, 'coreos-installer')
  await writeFile(installer, INSTALLER)
  await chmod(installer, 0o755)
  await succeeds('truncate', '-s', '5G', disk)
  const line = (await releasedBlocks('docs/containers.md')).get('agent')!
  const command = line
    .replace('http://192.0.2.10:6385', endpoint)
    .replace('ironstage', `node ${IRONSTAGE}`)
    .replace('> agent.ign', '')
  expect(command).toContain(`--agent-image registry.example/owner/ironic-agent:${VERSION}`)
  const config = JSON.parse(await succeeds('sh', '-c', command)) as AgentIgnition
  const conf = join(folder, 'ironic-python-agent.conf')
  await writeFile(conf, confOf(config))
  // This host need not have what a live CoreOS has: the buses of systemd and udev.
  const words = await onlyPresent(unitWords(config))
  const started = words
    .filter((word) => !/^--(detach|sdnotify|cidfile|cgroups)/.test(word))
    .map((word) => word.replace('src=/etc/ironic-python-agent.conf', `src=${conf}`))
  const image = started.pop()!
  // The step asks for a udevd before it writes; this installer needs none, so its socket is enough.
  const udev = join(folder, 'udev')
  await mkdir(udev)
  using _udevd = closing(createServer().listen(join(udev, 'control')))
  if (!started.some((word) => word.includes('/run/udev'))) started.push(`--volume=${udev}:/run/udev`)
  const settings = [
    `IRONSTAGE_TARGET=local:/mnt/coreos${disk}`,
    `IRONSTAGE_INSTALLER=${installer}`,
    `IRONSTAGE_NODE_UUID=${uuid}`,
  ]
  const agent = engine.start(...started, ...settings.flatMap((setting) => ['--env', setting]), image)
  onTestFinished(() => void agent.child.kill())
  await agent.line(/the agent on local:\S+ is at http/)
  const node = await ironic.waitFor(uuid, ['active', 'deploy failed'], { timeout: REAL_PEER_TIMEOUT })
  await engine.run('rm', '--force', '--time', '5', 'ironic-agent')
  // Without a udevd of the host the step does not see what was written.
  if (node.provision_state !== 'active') expect(node.last_error).toContain('coreos-installer succeeded, but')
  expect((await tool('blkid', '-p', disk)).stdout).toContain('PTTYPE="gpt"')
  expect(await up.stop()).toBe(0)
})

interface AgentIgnition {
  systemd: { units: { name: string; contents: string }[] }
  storage: { files: { path: string; contents: { source: string } }[] }
}

test('the agent in its container writes no disk that was not named, and says how one is', async () => {
  const image = `registry.example/owner/ironic-agent:${VERSION}`
  const { code, stderr } = await tool(engine.program, 'run', '--rm', '--network', 'host', image)
  expect(code).toBe(2)
  expect(stderr).toContain('no disk is named')
  expect(stderr).toContain('ironstage.device=SERIAL')
})

/** Words of the unit's command behind podman. */
function unitWords({ systemd }: AgentIgnition): string[] {
  const unit = systemd.units.find(({ name }) => name === 'ironic-agent.service')!
  const [, line] = /^ExecStart=\/bin\/podman (.*)$/m.exec(unit.contents)!
  return [...line!.matchAll(/"([^"]*)"|(\S+)/g)].map(([, quoted, plain]) => quoted ?? plain!)
}

/** Words of a command without the mounts of what is not there. */
async function onlyPresent(words: readonly string[]): Promise<string[]> {
  const present: string[] = []
  for (const word of words) {
    const [, source] = /^type=bind,src=([^,]+)/.exec(word) ?? []
    const isThere =
      source === undefined ||
      source.endsWith('.conf') ||
      (await access(source).then(
        () => true,
        () => false,
      ))
    if (isThere) present.push(word)
    else present.pop()
  }
  return present
}

function confOf({ storage }: AgentIgnition): string {
  const { contents } = storage.files.find(({ path }) => path === '/etc/ironic-python-agent.conf')!
  return decodeURIComponent(contents.source.slice(contents.source.indexOf(',') + 1))
}

/** Systems that have one language each, or none. */
const SYSTEMS: Record<string, () => Promise<SystemParts>> = {
  node: async () => {
    const npm = await realpath((await succeeds('which', 'npm')).trim())
    const modules = dirname(dirname(npm))
    return {
      programs: { node: process.execPath },
      folders: [modules],
      links: { npm, npx: join(modules, 'bin/npx-cli.js') },
    }
  },
  go: async () => {
    await debianProgram('go', 'golang-go')
    const root = (await succeeds('go', 'env', 'GOROOT')).trim()
    // Without it Go compiles its own library.
    const cache = (await succeeds('go', 'env', 'GOCACHE')).trim()
    await mkdir(cache, { recursive: true })
    return {
      folders: [await realpath(root)],
      links: { go: join(await realpath(root), 'bin/go') },
      environment: {
        GOPROXY: `file:///home/reader/proxy`,
        GONOSUMDB: 'forge.example',
        GOFLAGS: '-modcacherw',
        GOTOOLCHAIN: 'local',
        GOCACHE: cache,
      },
      caches: [cache],
    }
  },
  python: async () => {
    const script = 'import sys; print(sys.base_prefix)'
    const prefix = (await succeeds('python3', '-c', script)).trim()
    const program = (await succeeds('python3', '-c', 'import os, sys; print(os.path.realpath(sys.executable))')).trim()
    const pip = { scripts: { pip: 'exec python3 -m pip "$@"' }, environment: { PIP_USER: '1' } }
    if (prefix === '/usr') return { ...pip, programs: { python3: program } }
    return { ...pip, folders: [prefix], links: { python3: join(prefix, 'bin/python3') } }
  },
  none: () => Promise.resolve({}),
}

/** How this computer reaches the registries: proxies, and authorities to trust. */
const networkVariables = (): Record<string, string> =>
  Object.fromEntries(
    Object.entries(process.env).flatMap(([name, value]) =>
      value !== undefined && /^(NODE_EXTRA_CA_CERTS|SSL_CERT_\w+|(https?|no)_proxy)$/i.test(name)
        ? [[name, value]]
        : [],
    ),
  )

/** A line that starts a lab, which it runs until it is ready. */
const UP = /^(.* up --nodes 3)$/m

describe('the first result, by the lines of docs/install.md', () => {
  let lines: Map<string, string>
  let npm: ServedFiles
  let python: ServedFiles
  let forge: ServedFiles
  beforeAll(async () => {
    lines = await releasedBlocks('docs/install.md')
    npm = await npmRegistry(join(out, `owner-ironstage-${VERSION}.tgz`))
    python = await pythonIndex(join(out, `ironstage-${VERSION}-py3-none-any.whl`))
    const file = `ironstage-${VERSION}-linux-amd64`
    const single = await readFile(join(out, 'bin', file))
    forge = await ServedFiles.open(() => Promise.resolve(new Map([[`/releases/download/v${VERSION}/${file}`, single]])))
  })
  afterAll(async () => {
    for (const server of [npm, python, forge]) await server?.[Symbol.asyncDispose]()
  })

  /** Opens a system, and gives the lines of its block as they are run there. */
  async function reader(name: string): Promise<{ system: BareSystem; block: string }> {
    const parts = await SYSTEMS[name]!()
    const environment = {
      ...networkVariables(),
      ...parts.environment,
      npm_config_registry: (await succeeds('npm', 'config', 'get', 'registry')).trim(),
      PIP_INDEX_URL: `${python.url}/simple/`,
    }
    const system = await BareSystem.open({ ...parts, environment })
    await system.write('.npmrc', `@owner:registry=${npm.url}\n`)
    const others = ['node', 'go', 'python3', 'docker', 'podman'].filter((program) => !program.startsWith(name))
    for (const program of others) expect((await system.sh(`command -v ${program}`)).code, program).not.toBe(0)
    const block = lines
      .get(name)!
      .replaceAll(OWNER_FACTS.repository, forge.url)
      .replace(UP, 'timeout 5 $1 --port 0 || true')
    return { system, block }
  }

  async function firstResult(system: BareSystem, block: string): Promise<string> {
    const { code, stdout, stderr } = await system.sh(`${block}\ntimes`)
    expect({ code, block }, stdout + stderr).toEqual({ code: 0, block })
    const [, ...spent] = /(\d+)m([\d.]+)s (\d+)m([\d.]+)s\s*$/.exec(stdout)!.map(Number)
    const [userMinutes = 0, user = 0, systemMinutes = 0, own = 0] = spent
    expect((userMinutes + systemMinutes) * 60 + user + own).toBeLessThan(FIRST_RESULT)
    return stdout
  }

  test('with Node.js alone', async () => {
    const { system, block } = await reader('node')
    await using _ = system
    const printed = await firstResult(system, block)
    expect(printed).toContain('The disk matches the request.')
    expect(printed).toMatch(/Ironic is ready at \S+ with 3 simulated machines/)
  })

  test('with none of them', async () => {
    const { system, block } = await reader('none')
    await using _ = system
    const printed = await firstResult(system, block)
    expect(printed).toContain('The disk matches the request.')
    expect(printed).toMatch(/Ironic is ready at \S+ with 3 simulated machines/)
    expect((await system.sh('./ironstage --version')).stdout).toBe(`${VERSION}\n`)
    await system.write('host.yaml', HOST)
    const explained = await system.sh('./ironstage bmh explain host.yaml')
    expect(explained.code, explained.stderr).toBe(0)
    expect(explained.stdout).toContain('worker-0')
    // Natives are loaded: a state folder is a database of libsql, and a target behind SSH is refused by ssh2 itself.
    const served = await system.sh('timeout 5 ./ironstage up --nodes 1 --port 0 --state-dir state || true; ls state')
    expect(served.stdout).toMatch(/ready at[\s\S]*\.db/)
    const ssh = await system.sh('./ironstage deploy --target ssh://core@127.0.0.1:1 --device x --check')
    expect(ssh.stderr).toContain('ECONNREFUSED')
  })

  test('with Go alone', async () => {
    const { system, block } = await reader('go')
    await using _ = system
    await system.copy(join(out, 'go'), 'proxy')
    await system.write('first_test.go', lines.get('first_test.go')!)
    expect(await firstResult(system, block)).toMatch(/^ok\s+reader\.test\/reader/m)
  })

  test('with Python alone', async () => {
    const { system, block } = await reader('python')
    await using _ = system
    await system.write('first.py', lines.get('first.py')!)
    expect(await firstResult(system, block)).toMatch(/^3 nodes at http:\/\/127\.0\.0\.1:\d+$/m)
  })
})

const HOST = `apiVersion: metal3.io/v1alpha1
kind: BareMetalHost
metadata:
  name: worker-0
spec:
  online: true
  bootMACAddress: 52:54:00:b0:00:01
  bmc:
    address: redfish-virtualmedia+https://192.0.2.20/redfish/v1/Systems/1
    credentialsName: worker-0-bmc
  customDeploy:
    method: install_coreos
`
