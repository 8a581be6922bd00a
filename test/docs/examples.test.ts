import { execFile } from 'node:child_process'
import { chmod, cp, mkdir, mkdtemp, readFile, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { UpProcess } from '../kit/commands/up-process.js'
import { blocks, words } from '../kit/guides/guide.js'

const run = promisify(execFile)
const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const PROGRAM = join(ROOT, 'dist/bundle/ironstage.js')

const examples = blocks('examples/README.md')
/** Blocks without a name end with 0. */
const ending = examples.filter(({ name }) => name === '' || name === 'fails')

const read = (path: string): Promise<string> => readFile(join(ROOT, path), 'utf8')

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'ironstage-examples-'))
  // Runs keep their state beside their files.
  for (const part of ['examples', 'ci']) await cp(join(ROOT, part), join(folder, part), { recursive: true })
  await mkdir(join(folder, 'bin'))
  await writeFile(join(folder, 'bin/ironstage'), `#!/bin/sh\nexec '${process.execPath}' '${PROGRAM}' "$@"\n`)
  await chmod(join(folder, 'bin/ironstage'), 0o755)
})
afterAll(() => rm(folder, { recursive: true, force: true }))

test.each(ending.map(({ text, name }) => ({ text, name, title: text.trim().split('\n').at(-1) })))(
  'runs: $title',
  async ({ text, name }) => {
    const env = {
      PATH: `${join(folder, 'bin')}:${process.env['PATH']}`,
      HOME: folder,
      XDG_STATE_HOME: join(folder, 'state'),
      LAB_FOLDER: join(folder, 'lab'),
      ARTIFACTS: folder,
    }
    const ended = await run('sh', ['-ec', text], { cwd: folder, env, maxBuffer: 2 ** 26 }).then(
      () => ({ code: 0, printed: '' }),
      ({ code, stdout, stderr }: { code: number; stdout: string; stderr: string }) => ({
        code,
        printed: stdout + stderr,
      }),
    )
    expect(ended.code, ended.printed).toBe(name === 'fails' ? 1 : 0)
  },
  240_000,
)

describe('a lab', () => {
  const up = (file: string, ...more: string[]): UpProcess => {
    const line = examples.find(({ name, text }) => name === 'up' && text.includes(file))!.text.trim()
    const [ironstage, command, ...options] = words(line)
    expect([ironstage, command]).toEqual(['ironstage', 'up'])
    const paths = options.map((option) => (option.startsWith('examples/') ? join(ROOT, option) : option))
    const lab = new UpProcess(['--port', '0', ...paths, ...more])
    onTestFinished(() => lab.kill())
    return lab
  }
  const statesOf = async (url: string): Promise<string[]> => {
    const { nodes } = (await (await fetch(`${url}/_lab/nodes`)).json()) as {
      nodes: { name: string; provision_state: string }[]
    }
    return nodes.map((node) => `${node.name} ${node.provision_state}`).sort()
  }

  test('with the BareMetalHosts installs two of them, and keeps one ready', async () => {
    const url = await up('bare-metal-hosts.yaml').ready
    await expect
      .poll(() => statesOf(url), { timeout: 120_000, interval: 500 })
      .toEqual(['metal3~spare-0 manageable', 'metal3~worker-0 active', 'metal3~worker-1 active'])
  }, 180_000)

  test('of a bad day has its faults', async () => {
    const url = await up('bad-day.yaml').ready
    const { faults } = (await (await fetch(`${url}/_lab/faults`)).json()) as { faults: { label: string }[] }
    expect(new Set(faults.map(({ label }) => label)).size).toBe(5)
  })
})

test('the dashboard of Grafana reads metrics and labels that a lab has', async () => {
  const text = await read('examples/grafana/dashboard.json')
  const { panels } = JSON.parse(text) as { panels: { targets: { expr: string }[] }[] }
  const queries = panels.flatMap(({ targets }) => targets.map(({ expr }) => expr))
  const page = await read('docs/control.md')
  // As in `ironstage_nodes{provision_state}`.
  const metrics = new Map(
    [...page.matchAll(/`(ironstage_\w+)(?:\{([\w,]+)\})?`/g)].map(([, name, labels = '']) => [
      name!,
      labels.split(','),
    ]),
  )
  expect(queries.length).toBeGreaterThan(12)
  for (const query of queries) {
    const [, name] = /(ironstage_\w+?)(?:_count|_bucket)?\{/.exec(query)!
    const known = ['job', 'instance', 'le', ...(metrics.get(name!) ?? ['unknown metric'])]
    const [, condition] = /\{(.*?)\}/.exec(query)!
    const used = [...condition!.matchAll(/(\w+)=/g), ...(/by \((.*?)\)/.exec(query)?.[1] ?? '').matchAll(/(\w+)/g)].map(
      ([, label]) => label,
    )
    expect(known, query).toEqual(expect.arrayContaining(used))
  }
})

test.each([
  ['docs/hardware-lab.md', 'examples/hosts.yaml'],
  ['docs/hardware-lab.md', 'examples/night.yaml'],
  ['docs/hardware-lab.md', 'examples/node.ign.tmpl'],
  ['docs/rehearse.md', 'examples/upgrade.yaml'],
  // Run by test/real/programs/clients/lab-clients.test.ts.
  ['docs/clients.md', 'examples/go/timeout_test.go'],
  ['docs/clients.md', 'examples/python/test_timeout.py'],
])('%s shows %s as it is', async (page, path) => {
  expect(await read(page)).toContain(await read(path))
})

test('examples/README.md leads to every example', async () => {
  const entries = await readdir(join(ROOT, 'examples'), { recursive: true, withFileTypes: true })
  const paths = entries
    .filter((entry) => entry.isFile() && entry.name !== 'README.md')
    .map((entry) => join(entry.parentPath, entry.name).slice(join(ROOT, 'examples/').length))
  const page = await read('examples/README.md')
  expect(paths.length).toBeGreaterThan(14)
  expect(paths.filter((path) => !page.includes(`](${path})`))).toEqual([])
})
