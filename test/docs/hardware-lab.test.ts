import { execFile } from 'node:child_process'
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { STAGE_NAMES, HOSTS_SCHEMA } from '../../apps/hardware-lab/hosts/hosts-schema.js'

const run = promisify(execFile)
const page = fileURLToPath(new URL('../../docs/hardware-lab.md', import.meta.url))
const built = fileURLToPath(new URL('../../dist/bundle/ironstage.js', import.meta.url))

test('the blocks of docs/hardware-lab.md run one after another in an empty folder', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'ironstage-guide-'))
  try {
    await mkdir(join(folder, 'bin'))
    await writeFile(join(folder, 'bin/ironstage'), `#!/bin/sh\nexec '${process.execPath}' '${built}' "$@"\n`)
    await chmod(join(folder, 'bin/ironstage'), 0o755)
    const blocks = [...(await readFile(page, 'utf8')).matchAll(/^```sh\n([\s\S]*?)^```$/gm)].map(([, block]) => block!)
    expect(blocks).toHaveLength(3)
    const work = join(folder, 'empty')
    await mkdir(work)
    const { stdout } = await run('sh', ['-ec', blocks.join('\n')], {
      cwd: work,
      env: { PATH: `${join(folder, 'bin')}:${process.env['PATH']}`, HOME: folder },
      maxBuffer: 2 ** 26,
    })
    const reports = await reportsIn(join(work, 'hosts.state/rehearsal/reports'))
    expect(reports.map(({ ok }) => ok)).toEqual([true, false])
    expect(reports[1]!.hosts.map(({ host, outcome }) => `${host} ${outcome}`)).toEqual([
      'worker-1 ok',
      'worker-2 failed',
      'worker-3 failed',
    ])
    expect(reports[1]!.changes).toContainEqual(expect.objectContaining({ host: 'worker-2', kind: 'new failure' }))
    expect(stdout).toContain('worker-2: new failure')
    expect(stdout).toMatch(/^exit code 1$/m)
    expect(await readFile(join(work, 'night.html'), 'utf8')).toMatch(/^<!doctype html>/)
    expect(await readFile(join(work, 'night.xml'), 'utf8')).toContain(
      '<testsuite name="worker-3" tests="8" failures="0"',
    )
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}, 240_000)

interface StoredReport {
  readonly started_at: string
  readonly ok: boolean
  readonly hosts: readonly { host: string; outcome: string }[]
  readonly changes: readonly { host: string; kind: string }[]
}

/** The reports of a state folder, oldest first. */
async function reportsIn(path: string): Promise<StoredReport[]> {
  const names = (await readdir(path)).filter((name) => name.endsWith('.json'))
  const texts = await Promise.all(names.map((name) => readFile(join(path, name), 'utf8')))
  const reports = texts.map((text) => JSON.parse(text) as StoredReport)
  return reports.sort((a, b) => a.started_at.localeCompare(b.started_at))
}

test('docs/hardware-lab.md has every stage, and every key of a host', async () => {
  const text = await readFile(page, 'utf8')
  for (const stage of STAGE_NAMES) expect(text).toContain(`| \`${stage}\` |`)
  for (const key of Object.keys(HOSTS_SCHEMA.properties.hosts.additionalProperties.properties))
    expect(text, key).toMatch(new RegExp(`\`(${key})\\b`))
})
