import { copyFile, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { existsSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { SITE_PAGES } from '../../apps/site/index.js'
import { UpProcess } from '../kit/commands/up-process.js'
import { blocks, words } from '../kit/guides/guide.js'

const root = fileURLToPath(new URL('../..', import.meta.url))
const read = (path: string): string => readFileSync(join(root, path), 'utf8')

/** Pages whose blocks a test runs or compares with what is made, and that test. */
const RUN_BY: Readonly<Record<string, string>> = {
  'docs/bmc-dialects.md': 'test/docs/bmc-dialects.test.ts',
  'docs/bmc-dumps.md': 'test/docs/bmc-dumps.test.ts',
  'docs/chaos.md': 'test/docs/chaos.test.ts',
  'docs/clients.md': 'test/docs/examples.test.ts',
  'docs/containers.md': 'test/real/programs/ways-in.test.ts',
  'docs/control.md': 'test/real/commands/pages.test.ts',
  'docs/coreos-ramdisk.md': 'test/docs/coreos-ramdisk.test.ts',
  'docs/faults.md': 'test/docs/faults.test.ts',
  'docs/first-fault.md': 'test/real/commands/pages.test.ts',
  'docs/fleet.md': 'test/real/commands/fleet-guide.test.ts',
  'docs/hardware-lab.md': 'test/docs/hardware-lab.test.ts',
  'docs/hardware.md': 'test/docs/hardware.test.ts',
  'docs/install.md': 'test/real/programs/ways-in.test.ts',
  'docs/in-a-test.md': 'test/docs/in-a-test.test.ts',
  'docs/ipmi.md': 'test/real/programs/ipmitool.test.ts',
  'docs/recordings.md': 'test/docs/recordings.test.ts',
  'docs/scale.md': 'test/real/commands/scale-guide.test.ts',
  'docs/rehearse.md': 'test/docs/examples.test.ts',
  'docs/writing-a-step.md': 'test/docs/writing-a-step.test.ts',
  'examples/README.md': 'test/docs/examples.test.ts',
}

/** Pages some of whose shell blocks a test runs; the others say why not. */
const SHELL_RUN_BY: Readonly<Record<string, string>> = {
  'docs/ci.md': 'test/real/programs/ways-in.test.ts',
  'docs/first-deployment.md': 'test/docs/shell-pages.test.ts',
  'docs/questions.md': 'test/real/commands/pages.test.ts',
  'docs/tasks.md': 'test/docs/shell-pages.test.ts',
}

/** Pages whose lines of `ironstage up` are started below. */
const STARTED = ['docs/bmo.md', 'docs/cluster.md', 'docs/dashboard.md', 'docs/ironic.md']

/** A fenced block, with the reason why no test runs it. */
const BLOCK = /^(?:<!-- not run: (.+) -->\n)?```(\w+)[^\n]*\n([^]*?)^```$/gm

test.each(SITE_PAGES.map(({ source }) => source))('each block of %s is run by a test, or says why not', (page) => {
  const runner = RUN_BY[page] ?? SHELL_RUN_BY[page]
  if (runner !== undefined) {
    expect(existsSync(join(root, runner)), runner).toBe(true)
    expect(read(runner)).toContain(page)
  }
  if (RUN_BY[page] !== undefined) return
  const isRun = (language: string, text: string): boolean =>
    (SHELL_RUN_BY[page] !== undefined && ['sh', 'json'].includes(language)) ||
    (STARTED.includes(page) && text.startsWith('ironstage up'))
  const neither = [...read(page).matchAll(BLOCK)]
    .filter(([, reason, language, text]) => reason === undefined && !isRun(language!, text!))
    .map(([, , , text]) => text)
  expect(neither).toEqual([])
})

describe('the lines of `ironstage up` start:', () => {
  let folder: string
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'ironstage-blocks-'))
    await copyFile(join(root, 'examples/bare-metal-hosts.yaml'), join(folder, 'hosts.yaml'))
    await writeFile(join(folder, 'ironic.conf'), '[conductor]\nautomated_clean = true\n')
    const ironic = blocks('docs/ironic.md').find(({ text }) => text.includes('kind: Ironic'))
    await writeFile(join(folder, 'ironic.yaml'), ironic!.text)
    // An account in the form of `htpasswd -B`; no test signs in.
    await writeFile(join(folder, 'FILE'), 'admin:$2y$05$Ws9QLUhGDwsjNhmI4BpJ0uBzTJVbBrYNJnLeVBXHfQhGkzXzQsd2u\n')
  })
  afterAll(() => rm(folder, { recursive: true, force: true }))

  const lines = STARTED.flatMap((page) =>
    blocks(page)
      .filter(({ language, text }) => language === 'sh' && text.startsWith('ironstage up'))
      .map(({ text }) => ({ page, line: text.trim() })),
  )

  test('there are some on each page', () => {
    expect(new Set(lines.map(({ page }) => page)).size).toBe(STARTED.length)
  })

  test.each(lines)('$line', { timeout: 60_000 }, async ({ line }) => {
    const [, , ...argv] = words(line)
    const own = argv
      .filter((word) => word !== '--open')
      .map((word) => (existsSync(join(folder, word)) ? join(folder, word) : word))
      .map((word) => (word.startsWith('examples/') ? join(root, word) : word))
      // Another program may have the port that a page names.
      .map((word) => (word === '8001' ? '0' : word))
    const lab = new UpProcess([...own, '--port', '0'])
    onTestFinished(() => lab.kill())
    expect(await lab.ready).toMatch(/^https?:/)
  })
})
