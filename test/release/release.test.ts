import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { cp, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { unzipSync } from 'fflate'
import { parse as parseToml } from 'smol-toml'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { parse, parseAllDocuments } from 'yaml'

const run = promisify(execFile)
const ROOT = fileURLToPath(new URL('../..', import.meta.url))

const FACTS = {
  repository: 'https://forge.example/Owner/ironstage',
  homepage: 'https://ironstage.example',
  bugs: 'https://forge.example/Owner/ironstage/issues',
  security: 'mailto:security@ironstage.example',
  goModule: 'forge.example/Owner/ironstage/clients/go',
  npmPackage: '@owner/ironstage',
  containerImage: 'registry.example/owner/ironstage',
}
const VERSION = '0.8.9'
const RELEASED_GO = `go/forge.example/!owner/ironstage/clients/go/@v/v${VERSION}`

let folder: string
let out: string
let printed: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'ironstage-release-test-'))
  out = join(folder, 'out')
  printed = await release(VERSION, '--out', out, '--facts', await factsFile('owner.json', FACTS))
}, 120_000)
afterAll(() => rm(folder, { recursive: true, force: true }))

async function factsFile(name: string, facts: object): Promise<string> {
  const path = join(folder, name)
  await writeFile(path, JSON.stringify(facts))
  return path
}

async function release(version: string, ...options: string[]): Promise<string> {
  const argv = [
    'scripts/release.js',
    version,
    '--dry-run',
    '--without-python',
    '--without-images',
    '--without-site',
    ...options,
  ]
  return (await run(process.execPath, argv, { cwd: ROOT })).stdout
}

const refusal = (version: string, ...options: string[]): Promise<string> =>
  release(version, ...options).then(
    () => 'not refused',
    (error: { stderr: string }) => error.stderr,
  )

const text = (path: string): Promise<string> => readFile(join(out, path), 'utf8')

async function packed(path: string): Promise<string> {
  const argv = ['-xzOf', join(out, `owner-ironstage-${VERSION}.tgz`), `package/${path}`]
  return (await run('tar', argv)).stdout
}

async function goModule(): Promise<Record<string, string>> {
  const files = unzipSync(await readFile(join(out, `${RELEASED_GO}.zip`)))
  const prefix = `${FACTS.goModule}@v${VERSION}/`
  return Object.fromEntries(
    Object.entries(files).map(([path, bytes]) => {
      expect(path.startsWith(prefix), path).toBe(true)
      return [path.slice(prefix.length), Buffer.from(bytes).toString()]
    }),
  )
}

describe('a dry run of a release', () => {
  test('packs ironstage with its version and the facts of its owner', async () => {
    expect(JSON.parse(await packed('package.json'))).toMatchObject({
      name: '@owner/ironstage',
      version: VERSION,
      homepage: FACTS.homepage,
      repository: { type: 'git', url: 'git+https://forge.example/Owner/ironstage.git' },
      bugs: { url: FACTS.bugs },
    })
    expect(await packed('ci/ironstage.sh')).toMatch(/^#!\/bin\/sh\n/)
  })

  test('packs a program whose step new names the package as the pages do', async () => {
    const place = join(folder, 'packed')
    await mkdir(place)
    await run('tar', ['-xzf', join(out, `owner-ironstage-${VERSION}.tgz`), '-C', place])
    await symlink(join(ROOT, 'node_modules'), join(place, 'package/node_modules'))
    const argv = [join(place, 'package/dist/bundle/ironstage.js'), 'step', 'new', 'mine', '--dir', join(place, 'steps')]
    const { stdout } = await run(process.execPath, argv)
    expect(stdout).toContain(
      ` npm install --save-dev --ignore-scripts ironstage@npm:@owner/ironstage@${VERSION} vitest\n`,
    )
  })

  test('gives the Go module its path and what it may fetch, as a module proxy serves it', async () => {
    const files = await goModule()
    expect(Object.keys(files).sort()).toEqual(
      ['LICENSE', 'example_test.go', 'go.mod', 'ironstage.go', 'program.go', 'release.go'].sort(),
    )
    expect(files['go.mod']).toMatch(/^module forge\.example\/Owner\/ironstage\/clients\/go\n/)
    expect(await text(`${RELEASED_GO}.mod`)).toBe(files['go.mod'])
    expect(files['example_test.go']).toContain('"forge.example/Owner/ironstage/clients/go"')
    expect(files['release.go']).toContain(`Version = "${VERSION}"`)
    expect(files['release.go']).toContain('npmPackage     = "@owner/ironstage"')
    expect(files['release.go']).toContain('containerImage = "registry.example/owner/ironstage"')
    expect(JSON.parse(await text(`${RELEASED_GO}.info`))).toMatchObject({ Version: `v${VERSION}` })
  })

  test('takes its notes from the section of the CHANGELOG', async () => {
    const unreleased = (await readFile(join(ROOT, 'CHANGELOG.md'), 'utf8')).split('\n## ')[1]!
    const notes = await text('NOTES.md')
    expect(notes).toMatch(/^# ironstage 0\.8\.9, \d{4}-\d\d-\d\d\n/)
    expect(notes.split('\n').slice(1).join('\n').trim()).toBe(unreleased.replace(/^Unreleased\n/, '').trim())
    const changelog = await packed('CHANGELOG.md')
    expect(changelog).toMatch(/\n## Unreleased\n\n## 0\.8\.9 - \d{4}-\d\d-\d\d\n\n### Added\n/)
  })

  test('lists in CycloneDX what it carries and what npm installs with it, and nothing of development', async () => {
    const bill = JSON.parse(await text('sbom.cdx.json')) as {
      bomFormat: string
      metadata: { component: { name: string; version: string } }
      components: { name: string; version: string; licenses: unknown[] }[]
      dependencies: { ref: string; dependsOn: string[] }[]
    }
    expect(bill.bomFormat).toBe('CycloneDX')
    expect(bill.metadata.component).toMatchObject({ name: '@owner/ironstage', version: VERSION })
    const licences = await text('LICENSES.md')
    const rows = [...licences.matchAll(/^\| (\S+) \| (\d\S*) \|/gm)].map(([, name, version]) => `${name} ${version}`)
    const listed = bill.components.map(({ name, version }) => `${name} ${version}`)
    expect(rows.length).toBeGreaterThan(60)
    expect(rows.filter((row) => !listed.includes(row))).toEqual([])
    // The images have Node.js and packages of Debian besides.
    expect(listed).toEqual(expect.arrayContaining(['node 20.20.2', 'libc6 2.36-9+deb12u14']))
    expect(listed.filter((row) => /^(eslint|vitest|typescript|prettier) /.test(row))).toEqual([])
    const refs = bill.dependencies.map(({ ref }) => ref)
    expect(bill.dependencies.flatMap(({ dependsOn }) => dependsOn).filter((ref) => !refs.includes(ref))).toEqual([])
  })

  test('sums up every file', async () => {
    const sums = (await text('SHA256SUMS')).trim().split('\n')
    expect(sums.length).toBeGreaterThan(8)
    for (const line of sums) {
      const [sum, path] = line.split('  ')
      expect(
        createHash('sha256')
          .update(await readFile(join(out, path!)))
          .digest('hex'),
        path,
      ).toBe(sum)
    }
  })

  test('prints how to publish, and has changed nothing', async () => {
    expect(printed).toContain('git push origin HEAD v0.8.9 clients/go/v0.8.9')
    expect(printed).toMatch(/npm publish \S+owner-ironstage-0\.8\.9\.tgz/)
    expect(await readFile(join(ROOT, 'package.json'), 'utf8')).not.toContain(VERSION)
    expect(await readFile(join(ROOT, 'clients/go/release.go'), 'utf8')).not.toContain(VERSION)
  })
})

describe('the site of a release', () => {
  const argvFor = (place: string, site: string): string[] => {
    const options = ['--dry-run', '--without-python', '--without-images', '--out', place, '--site', site]
    return ['scripts/release.js', VERSION, ...options]
  }

  /** A built site in a folder of its own, whose files are of this moment and have these rights. */
  async function builtSite(name: string, mode: number): Promise<string> {
    const site = join(folder, name)
    await mkdir(join(site, 'assets'), { recursive: true })
    await writeFile(join(site, 'index.html'), '<h1>ironstage</h1>', { mode })
    await writeFile(join(site, 'assets/app.js'), 'export {}', { mode })
    return site
  }

  test('is one archive with its version, summed up, and the same for the same site', async () => {
    const digests: string[] = []
    for (const [name, mode] of [
      ['site-a', 0o644],
      ['site-b', 0o600],
    ] as const) {
      const place = join(folder, `${name}-out`)
      await run(process.execPath, argvFor(place, await builtSite(name, mode)), { cwd: ROOT })
      const archive = `ironstage-${VERSION}-site.tar.gz`
      const bytes = await readFile(join(place, archive))
      digests.push(createHash('sha256').update(bytes).digest('hex'))
      expect(await readFile(join(place, 'SHA256SUMS'), 'utf8')).toContain(`${digests.at(-1)}  ${archive}\n`)
      const listed = (await run('tar', ['-tzf', join(place, archive)])).stdout.trim().split('\n')
      expect(listed).toEqual(['./', './assets/', './assets/app.js', './index.html'])
      const page = await run('tar', ['-xzOf', join(place, archive), './index.html'])
      expect(page.stdout).toBe('<h1>ironstage</h1>')
    }
    expect(digests[0]).toBe(digests[1])
  }, 120_000)

  test('is refused when the folder has none, before anything is made', async () => {
    const place = join(folder, 'no-site-out')
    const error = await run(process.execPath, argvFor(place, join(folder, 'nowhere')), { cwd: ROOT }).catch(
      (failed: { stderr: string }) => failed.stderr,
    )
    expect(error).toContain(`--site ${join(folder, 'nowhere')} has no documentation site: no index.html`)
    await expect(readFile(join(place, 'SHA256SUMS'))).rejects.toThrow('ENOENT')
  })
})

test('--help lists every option, and makes nothing', async () => {
  const { stdout } = await run('node', ['scripts/release.js', '--help'], { cwd: ROOT })
  const source = await readFile(join(ROOT, 'scripts/release.js'), 'utf8')
  const [, options] = /options: \{\n([^]*?)\n {4}\},\n/.exec(source)!
  const names = [...options!.matchAll(/^ +'?([\w-]+)'?: \{/gm)]
    .map(([, name]) => name!)
    .filter((name) => name !== 'help')
  expect(names.length).toBeGreaterThan(4)
  for (const name of names) expect(stdout).toMatch(new RegExp(`^  --${name} `, 'm'))
  expect(stdout).not.toContain('//')
})

test('a release commits what it has changed and tags it, once', async () => {
  const checkout = join(folder, 'released')
  const git = async (...argv: string[]): Promise<string> => (await run('git', argv, { cwd: checkout })).stdout
  await run('git', ['clone', '--quiet', '--shared', ROOT, checkout])
  for (const path of ['scripts', 'containers', 'dist/bundle', 'dist/page', 'dist/types'])
    await cp(join(ROOT, path), join(checkout, path), { recursive: true })
  await symlink(join(ROOT, 'node_modules'), join(checkout, 'node_modules'))
  const manifest = JSON.parse(await readFile(join(ROOT, 'package.json'), 'utf8')) as { scripts: Record<string, string> }
  // The build is there.
  manifest.scripts['build'] = 'true'
  await writeFile(join(checkout, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`)
  await git('config', 'user.name', 'owner')
  await git('config', 'user.email', 'owner@ironstage.example')
  const argv = [
    'scripts/release.js',
    VERSION,
    '--without-python',
    '--without-images',
    '--without-site',
    '--out',
    join(folder, 'out-released'),
  ]
  const attempt = (): Promise<string> =>
    run(process.execPath, argv, { cwd: checkout }).then(
      ({ stdout }) => stdout,
      ({ stderr }: { stderr: string }) => stderr,
    )
  expect(await attempt()).toContain('the checkout has changes: commit them first')
  // The link is no folder, which .gitignore names.
  await writeFile(join(checkout, '.git/info/exclude'), 'node_modules\n')
  await git('commit', '--quiet', '--all', '--message', 'build', '--allow-empty')
  expect(await attempt()).toContain('project.json lacks repository, bugs, security, goModule, npmPackage')
  await writeFile(join(checkout, 'project.json'), `${JSON.stringify(FACTS, null, 2)}\n`)
  await run(process.execPath, ['scripts/project-facts.js'], { cwd: checkout })
  await git('commit', '--quiet', '--all', '--message', 'facts')

  expect(await attempt()).toContain('to publish it:')
  expect(await git('status', '--porcelain')).toBe('')
  expect((await git('log', '-1', '--format=%s')).trim()).toBe(`Release ${VERSION}`)
  expect((await git('tag', '--points-at', 'HEAD')).trim().split('\n')).toEqual([
    `clients/go/v${VERSION}`,
    `v${VERSION}`,
  ])
  expect(await git('show', 'HEAD:clients/go/release.go')).toContain(`Version = "${VERSION}"`)
  expect(await git('show', 'HEAD:package.json')).toContain(`"version": "${VERSION}"`)
  expect(await attempt()).toContain(`version ${VERSION} is released`)
}, 180_000)

describe('a release is refused', () => {
  test.each([
    ['v1.2.3', /the version is three numbers/],
    ['1.2', /the version is three numbers/],
    ['0.0.9', /version 0\.0\.9 is before 0\.1\.0/],
  ])('with the version %s', async (version, message) => {
    expect(await refusal(version, '--out', join(folder, 'refused'))).toMatch(message)
  })

  test('with a second major version that the Go module does not name', async () => {
    const facts = await factsFile('second.json', FACTS)
    expect(await refusal('2.0.0', '--out', join(folder, 'refused'), '--facts', facts)).toMatch(/ends with \/v2: it is/)
  })

  test.each([
    [
      'a repository without https',
      { ...FACTS, repository: 'forge.example/x' },
      /repository is "forge\.example\/x", not as in/,
    ],
    ['a module path with a scheme', { ...FACTS, goModule: 'https://forge.example/x' }, /goModule is /],
    ['a fact that is unknown', { ...FACTS, homePage: '' }, /"homePage" is no fact; they are repository, homepage/],
    ['a fact that is missing', { ...FACTS, security: undefined }, /lacks "security"/],
    ['a fact that is null', { ...FACTS, bugs: null }, /lacks "bugs"/],
  ])('with %s', async (name, facts, message) => {
    expect(
      await refusal(VERSION, '--out', join(folder, 'refused'), '--facts', await factsFile(`${name}.json`, facts)),
    ).toMatch(message)
  })
})

describe('facts of an owner', () => {
  const copied = [
    'package.json',
    'clients',
    'SECURITY.md',
    '.github',
    'ci',
    'templates',
    'containers',
    'deploy',
    'docs',
    'README.md',
    'examples',
  ]
  let checkout: string
  const read = (path: string): Promise<string> => readFile(join(checkout, path), 'utf8')

  /** Writes facts into a copy of the checkout; gives the paths that are written. */
  async function write(facts: object): Promise<string[]> {
    await writeFile(join(checkout, 'project.json'), JSON.stringify(facts))
    const script = `
      const { factFiles } = await import(${JSON.stringify(join(ROOT, 'scripts/project-facts.js'))})
      process.stdout.write(JSON.stringify([...factFiles(process.argv[1])]))`
    const { stdout } = await run(process.execPath, ['--input-type=module', '--eval', script, checkout])
    const files = JSON.parse(stdout) as [string, string][]
    for (const [path, content] of files) await writeFile(join(checkout, path), content)
    return files.map(([path]) => path)
  }

  beforeAll(async () => {
    checkout = join(folder, 'checkout')
    for (const path of copied) await cp(join(ROOT, path), join(checkout, path), { recursive: true })
  })

  test('stand in every file that needs one, and are gone when they are empty again', async () => {
    await write(FACTS)
    expect(await read('SECURITY.md')).toContain(
      'Report a vulnerability to <security@ironstage.example>, not in a public issue.\n\nSay which version',
    )
    expect(parse(await read('.github/ISSUE_TEMPLATE/config.yml'))).toMatchObject({
      contact_links: [{ url: FACTS.security }, { url: FACTS.homepage }],
    })
    const pyproject = parseToml(await read('clients/python/pyproject.toml'))
    expect(pyproject).toMatchObject({
      project: { urls: { Homepage: FACTS.homepage, Repository: FACTS.repository, Issues: FACTS.bugs } },
      tool: { setuptools: { packages: ['ironstage'] } },
    })
    expect(await read('clients/python/ironstage/_release.py')).toContain("NPM_PACKAGE = '@owner/ironstage'")
    const { version } = JSON.parse(await read('package.json')) as { version: string }
    const action = parse(await read('ci/github-action/action.yml')) as { inputs: Record<string, { default: string }> }
    expect(action.inputs['package']!.default).toBe(`@owner/ironstage@${version}`)
    const [component] = parseAllDocuments(await read('templates/ironstage.yml'))
    expect(component!.toJS()).toMatchObject({
      spec: { inputs: { package: { default: `@owner/ironstage@${version}` } } },
    })
    expect(await read('docs/clients.md')).toContain(`go get ${FACTS.goModule}@v${version}\n`)
    expect(await read('docs/clients.md')).toContain(`pip install ironstage==${version}\n`)
    expect(await read('docs/install.md')).toContain(`npx --yes @owner/ironstage@${version} deploy\n`)
    expect(await read('docs/install.md')).toContain(
      `wget -O ironstage ${FACTS.repository}/releases/download/v${version}/ironstage-${version}-linux-amd64\n`,
    )
    const asIronstage = `npm install --save-dev --ignore-scripts ironstage@npm:@owner/ironstage@${version} `
    expect(await read('docs/in-a-test.md')).toContain(`${asIronstage}jest `)
    expect(await read('docs/writing-a-step.md')).toContain(`${asIronstage}vitest\n`)
    expect(await read('README.md')).toContain(`\`npx --yes @owner/ironstage@${version} deploy\``)
    expect(await read('docs/containers.md')).toContain(`--agent-image registry.example/owner/ironic-agent:${version} `)
    for (const place of ['containers/ironstage', 'deploy']) {
      expect(await read(`${place}/compose.yaml`)).toContain(`${FACTS.containerImage}:${version} # image`)
      expect(parse(await read(`${place}/kubernetes/kustomization.yaml`))).toMatchObject({
        images: [{ newName: FACTS.containerImage, newTag: version }],
      })
    }
    expect(await read('examples/ci/gitlab-ci.yml')).toContain(`package: '@owner/ironstage@${version}'\n`)

    const paths = await write(Object.fromEntries(Object.keys(FACTS).map((name) => [name, ''])))
    expect(paths.length).toBeGreaterThan(8)
    for (const path of paths) expect(await read(path), path).toBe(await readFile(join(ROOT, path), 'utf8'))
  })
})

test('the files that project.json is written into are as it says', async () => {
  const { stdout } = await run(process.execPath, ['scripts/project-facts.js', '--check'], { cwd: ROOT })
  expect(stdout).toBe('')
})

test.each(['defect', 'fidelity', 'wish'])('the form %s of issues has what a forge needs', async (name) => {
  const form = parse(await readFile(join(ROOT, `.github/ISSUE_TEMPLATE/${name}.yml`), 'utf8')) as {
    name: string
    description: string
    body: { type: string; id?: string; attributes: { label?: string; value?: string } }[]
  }
  expect(form).toMatchObject({ name: expect.any(String), description: expect.any(String) })
  for (const { type, id, attributes } of form.body)
    if (type === 'markdown') expect(attributes.value).toBeTruthy()
    else expect({ id, label: attributes.label }).toEqual({ id: expect.any(String), label: expect.any(String) })
})
