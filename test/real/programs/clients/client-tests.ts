import { cp, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { blocks } from '../../../kit/guides/guide.js'
import { goPeer } from '../../go-peer.js'
import { bareEnvironment, openstackClients } from './baremetal.js'

const at = (path: string) => fileURLToPath(new URL(path, import.meta.url))
const ROOT = at('../../../..')
const PYTHON = join(ROOT, 'clients/python')

/** The folder of the Go package. */
export const GO = join(ROOT, 'clients/go')

/** The tests of the Go and the Python package, and the programs that run them. */
export class ClientTests implements AsyncDisposable {
  /** The clients start the built command in a process of its own. */
  readonly variables: Readonly<Record<string, string>>

  private constructor(
    readonly home: string,
    private readonly goTests: string,
    private readonly venv: string,
  ) {
    this.variables = {
      ...bareEnvironment(),
      HOME: home,
      IRONSTAGE: join(ROOT, 'dist/bundle/ironstage.js'),
    }
  }

  /** Puts the tests of docs/clients.md beside the others, and builds or installs what runs them. */
  static async prepare(): Promise<ClientTests> {
    const home = await mkdtemp(join(tmpdir(), 'ironstage-lab-clients-'))
    for (const language of ['go', 'python'])
      await cp(at(`./lab-clients/${language}`), join(home, language), { recursive: true })
    for (const { language, name, text } of blocks('docs/clients.md'))
      if (name) await writeFile(join(home, language, name), text)
    const goTests = await goPeer(join(home, 'go'), { tests: true, modules: { ironstage: GO } })
    return new ClientTests(home, goTests, await openstackClients())
  }

  /** Arguments that run the Go tests. */
  go(...argv: string[]): [string, ...string[]] {
    return [this.goTests, ...argv]
  }

  /** Arguments that run the Python tests, without the variables of this process. */
  pytest(...argv: string[]): [string, ...string[]] {
    return [
      ...(['env', '-i', '-C', this.home] as const),
      ...Object.entries(this.variables).map(([name, value]) => `${name}=${value}`),
      `PYTHONPATH=${PYTHON}`,
      'PYTHONDONTWRITEBYTECODE=1',
      join(this.venv, 'bin/python'),
      '-W',
      'error::ResourceWarning',
      '-m',
      'pytest',
      '-p',
      'no:cacheprovider',
      // An installed package brings its plugin by itself.
      '-p',
      'ironstage._pytest_plugin',
      '-q',
      join(this.home, 'python'),
      ...argv,
    ]
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await rm(this.home, { recursive: true, force: true })
  }
}
