import { execFile } from 'node:child_process'
import { chmod, mkdir, mkdtemp, readFile, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { debianProgram, succeeds, tool } from '../../peers.js'
import { openstackClients } from './baremetal.js'
import { INSTALLATION } from './served.js'
import { OWNER_FACTS } from '../../owner-facts.js'

// The clients as a stranger fetches them: from what the release script makes for an owner.

const run = promisify(execFile)
const ROOT = fileURLToPath(new URL('../../../..', import.meta.url))
const PROGRAM = join(ROOT, 'dist/bundle/ironstage.js')
const VERSION = '0.8.9'

const GO_READER = `package main

import (
	"context"
	"fmt"
	"os"

	"${OWNER_FACTS.goModule}"
)

func main() {
	lab, err := ironstage.Start(context.Background(), ironstage.Options{})
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	fmt.Println("lab at " + lab.URL)
	if err := lab.Close(); err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
}
`

const PYTHON_READER = `import sys, ironstage
try:
    with ironstage.start() as lab:
        print('lab at ' + lab.url)
except ironstage.NotStarted as error:
    sys.exit(str(error))
`

const PYTHON_TEST = `import pytest


@pytest.mark.ironstage('--nodes', '2', '--clock', 'manual')
def test_that_passes(ironstage):
    assert len(ironstage.nodes()) == 2
    assert ironstage.advance('31m')['elapsed'] == 31 * 60_000


def test_that_fails(ironstage):
    ironstage.enroll(1)
    ironstage.power('node-0', 'on')
    assert ironstage.node('node-0')['power_state'] == 'never'


@pytest.fixture
def own(ironstage):
    return ironstage


def test_that_fails_with_another_fixture(own):
    assert own.nodes()
`

const PYTHON_REFUSALS = `import pytest


def test_of_a_node_that_is_not_there(ironstage):
    ironstage.node('node-9')


@pytest.mark.ironstage('--node', '2')
def test_with_an_unknown_option(ironstage):
    pass
`

let folder: string
let out: string
let python: string
let goEnvironment: Record<string, string>
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'ironstage-fetched-'))
  out = join(folder, 'out')
  const facts = join(folder, 'facts.json')
  await writeFile(facts, JSON.stringify(OWNER_FACTS))
  await succeeds(
    'env',
    '-C',
    ROOT,
    'node',
    'scripts/release.js',
    VERSION,
    '--dry-run',
    '--without-images',
    '--without-site',
    '--out',
    out,
    '--facts',
    facts,
  )
  await debianProgram('go', 'golang-go')
  python = join(await openstackClients(), 'bin/python')
  goEnvironment = {
    PATH: process.env['PATH']!,
    HOME: folder,
    GOPROXY: `file://${out}/go,${process.env['GOPROXY'] ?? 'https://proxy.golang.org'}`,
    GONOSUMDB: 'forge.example',
    GOFLAGS: '-modcacherw',
  }
}, INSTALLATION)
afterAll(() => rm(folder, { recursive: true, force: true }))

/** Programs that are found, besides those of the system: each is a script of the shell. */
async function programs(scripts: Record<string, string>): Promise<string> {
  const place = await mkdtemp(join(folder, 'programs-'))
  for (const [name, script] of Object.entries({ node: `exec ${process.execPath} "$@"`, ...scripts })) {
    await writeFile(join(place, name), `#!/bin/sh\n${script}\n`)
    await chmod(join(place, name), 0o755)
  }
  return place
}

const STARTS = `exec ${process.execPath} ${PROGRAM}`

/** An engine of containers: notes what it was asked for, and runs the program in place of the image. */
const engine = (notes: string): string => `
if [ "$1" = version ]; then exit 0; fi
printf '%s\\n' "$@" > ${notes}
while [ "$1" != ${OWNER_FACTS.containerImage}:${VERSION} ]; do shift; done
shift
${STARTS} "$@"`

const WITHOUT_SERVICE = 'echo "Cannot connect to the service" >&2; exit 1'

interface Reader {
  argv: () => Promise<string[]>
}

const readers: Record<string, Reader> = {
  Go: {
    argv: async () => {
      const reader = join(folder, 'go-reader')
      await mkdir(reader, { recursive: true })
      await writeFile(join(reader, 'go.mod'), 'module reader.test/reader\n\ngo 1.21\n')
      await writeFile(join(reader, 'main.go'), GO_READER)
      const go = (...argv: string[]) => run('go', argv, { cwd: reader, env: goEnvironment })
      await go('get', `${OWNER_FACTS.goModule}@v${VERSION}`)
      await go('vet', OWNER_FACTS.goModule, '.')
      await go('build', '-o', 'reader', '.')
      return [join(reader, 'reader')]
    },
  },
  Python: {
    argv: async () => {
      await installWheel()
      await writeFile(join(folder, 'reader.py'), PYTHON_READER)
      return [python, join(folder, 'reader.py')]
    },
  },
}

async function installWheel(): Promise<void> {
  const [wheel] = (await readdir(out)).filter((name) => name.endsWith('.whl'))
  const options = ['--quiet', '--no-deps', '--no-index', '--upgrade', '--target', join(folder, 'site')]
  await succeeds(python, '-m', 'pip', 'install', ...options, join(out, wheel!))
}

describe.each(Object.keys(readers))('the client for %s finds a program', (language) => {
  let argv: string[]
  let notes: string
  beforeAll(async () => {
    argv = await readers[language]!.argv()
  }, INSTALLATION)
  beforeEach(async () => {
    notes = join(await mkdtemp(join(folder, 'notes-')), 'argv')
  })

  async function start(scripts: Record<string, string>, more: Record<string, string> = {}): Promise<string> {
    const env = { PATH: await programs(scripts), PYTHONPATH: join(folder, 'site'), ...more }
    const settings = Object.entries(env).map(([name, value]) => `${name}=${value}`)
    const { stdout, stderr } = await tool('env', '-i', '-C', folder, ...settings, ...argv)
    return stdout + stderr
  }
  const noted = async (): Promise<string[]> => (await readFile(notes, 'utf8')).trim().split('\n')
  const STARTED = /^lab at http:\/\/127\.0\.0\.1:\d+\n$/

  test('that IRONSTAGE names, whatever else there is', async () => {
    const scripts = { ironstage: 'exit 9', docker: 'exit 9', npx: 'exit 9' }
    expect(await start(scripts, { IRONSTAGE: PROGRAM })).toMatch(STARTED)
    const failed = await start({ ironstage: `${STARTS} "$@"` }, { IRONSTAGE: '/nowhere/ironstage' })
    expect(failed).toContain('set IRONSTAGE to the path of the program')
    expect(failed).toContain('IRONSTAGE: /nowhere/ironstage')
  })

  test('on PATH, without a word to an engine or npx', async () => {
    expect(await start({ ironstage: `${STARTS} "$@"`, docker: 'exit 9', npx: 'exit 9' })).toMatch(STARTED)
  })

  test('in a container of its own version, which reads the current folder', async () => {
    expect(await start({ docker: engine(notes), npx: 'exit 9' }, { IRONSTAGE_NODES: '2' })).toMatch(STARTED)
    const user = `${process.getuid!()}:${process.getgid!()}`
    const wanted = ['run', '--rm', '--interactive', '--network', 'host', '--user', user]
    wanted.push('--security-opt', 'label=disable', '--volume', `${folder}:${folder}:ro`)
    const image = [
      ...wanted,
      '--workdir',
      folder,
      '--env',
      'IRONSTAGE_NODES',
      `${OWNER_FACTS.containerImage}:${VERSION}`,
    ]
    expect((await noted()).slice(0, image.length + 1)).toEqual([...image, 'up'])
  })

  test('in a container of podman where docker has no service', async () => {
    expect(await start({ docker: WITHOUT_SERVICE, podman: engine(notes) })).toMatch(STARTED)
    // In a container of Podman the user who starts it is root.
    expect((await noted()).join(' ')).toMatch(/^run .*--user 0:0 /)
  })

  test('of its own version and owner by npx', async () => {
    const npx = `printf '%s\\n' "$@" > ${notes}; shift 2; ${STARTS} "$@"`
    expect(await start({ docker: WITHOUT_SERVICE, npx })).toMatch(STARTED)
    expect((await noted()).slice(0, 3)).toEqual(['--yes', `@owner/ironstage@${VERSION}`, 'up'])
  })

  test('or says what it tried', async () => {
    const failed = await start({ docker: WITHOUT_SERVICE })
    expect(failed).toContain(`no program ironstage was found; tried:
  IRONSTAGE: not set
  ironstage on PATH: none
  a container: docker: Cannot connect to the service; podman: none on PATH
  npx: none on PATH
`)
    const refused = await start({ npx: 'echo "npm error 404" >&2; exit 1' })
    expect(refused).toContain('npm error 404')
    expect(refused).toMatch(/npx: \/\S+\/npx --yes @owner\/ironstage@0\.8\.9/)
  })
})

describe('the Go module', () => {
  test('has examples that pass', async () => {
    const env = { ...goEnvironment, IRONSTAGE: PROGRAM }
    const argv = ['test', '-count=1', '-v', OWNER_FACTS.goModule]
    const { stdout } = await run('go', argv, { cwd: join(folder, 'go-reader'), env })
    const passed = [...stdout.matchAll(/^--- PASS: (\w+)/gm)].map(([, name]) => name)
    expect(passed.sort()).toEqual(['ExampleIsCode', 'ExampleLab_AddFault', 'ExampleLab_TakeSnapshot', 'ExampleStart'])
  })
})

describe('the Python package', () => {
  const pytest = async (text: string): Promise<string> => {
    const place = await mkdtemp(join(folder, 'pytest-'))
    await writeFile(join(place, 'test_reader.py'), text)
    const settings = [`PYTHONPATH=${join(folder, 'site')}`, `IRONSTAGE=${PROGRAM}`, `PATH=${process.env['PATH']}`]
    const argv = [python, '-m', 'pytest', '-p', 'no:cacheprovider', '--strict-markers', 'test_reader.py']
    return (await tool('env', '-i', '-C', place, ...settings, ...argv)).stdout
  }

  test('says that it is typed', async () => {
    await installWheel()
    expect(await readdir(join(folder, 'site/ironstage'))).toEqual(expect.arrayContaining(['py.typed', '_lab.py']))
  })

  test('brings pytest a fixture, and shows the journal of a test that fails, by whichever fixture', async () => {
    const printed = await pytest(PYTHON_TEST)
    expect(printed).toMatch(/2 failed, 1 passed/)
    expect(printed).toMatch(
      /-+ lab of the fixture ironstage -+\njournal of the lab, the last of \d+ entries, in lab time:/,
    )
    expect(printed).toMatch(/-+ lab of the fixture own -+/)
    expect(printed).toMatch(/^ {2}\d\d:\d\d:\d\d\.\d{3} {2}node-0 {2}/m)
    expect(printed).toMatch(/ {2}client > ironic {2}\d{3} {2}[A-Z]+ \/v1\//)
    const long = printed.split('\n').filter((line) => /^ {2}\d\d:\d\d:\d\d\./.test(line) && line.length > 102)
    expect(long).toEqual([])
  })

  test('shows of a refusal the line of the test and the sentence, and no line of its own', async () => {
    const printed = await pytest(PYTHON_REFUSALS)
    expect(printed).toMatch(
      /^> +ironstage\.node\('node-9'\)\n[^]*?^E +ironstage\._lab\.Refused: there is no node node-9/m,
    )
    expect(printed).toMatch(/^(E +)? *ironstage: unknown option '--node'/m)
    expect(printed).not.toMatch(/def (node|call|start)\(/)
  })
})
