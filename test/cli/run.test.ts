import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { tryLock } from '../../base/runtime/index.js'
import { hostsYaml } from '../kit/hardware-lab/hosts-yaml.js'
import { command } from '../kit/commands/command.js'

test('run init writes a file that run --plan takes; options of commands below run are their own', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'ironstage-run-init-'))
  try {
    const file = join(folder, 'hosts.yaml')
    const init = command(['run', 'init', file])
    expect(await init.ended, init.stderr).toBe(0)
    const schema = JSON.parse(await readFile(join(folder, 'hosts.schema.json'), 'utf8')) as { title: string }
    expect(schema.title).toBe('Hosts of ironstage run')
    const again = command(['run', 'init', file])
    expect(await again.ended).toBe(2)
    expect(again.stderr).toContain(`${file} already exists`)
    const plan = command(['run', file, '--plan'])
    expect(await plan.ended, plan.stderr).toBe(0)
    expect(plan.stdout).toContain('disk      S0000001; no other is written')
    const attach = command(['run', 'attach', 'none', '--state-dir', folder])
    expect(await attach.ended).toBe(2)
    expect(attach.stderr).toContain(`there is no run none in ${folder}, ${join(folder, 'rehearsal')}`)
  } finally {
    await rm(folder, { recursive: true })
  }
})

test.each([
  ['no Ignition config', 'ignition: none.ign', /node-1: the config none\.ign of node-1 cannot be read/],
  ['something else for one', 'ignition: hosts.yaml', /node-1: the Ignition config is one that Ignition refuses/],
  ['no image', 'image: ./none.raw', /node-1: the image .*none\.raw cannot be read/],
  ['a folder for an image', 'image: ./a-folder', /node-1: the image .*a-folder is not a file/],
  ['an unknown step', 'steps: [instal_coreos]', /node-1: there is no step instal_coreos/],
])('a file of hosts that names %s is refused before a host is contacted', async (_, setting, says) => {
  const folder = await mkdtemp(join(tmpdir(), 'ironstage-run-refused-'))
  try {
    const file = join(folder, 'hosts.yaml')
    await mkdir(join(folder, 'a-folder'))
    await writeFile(join(folder, 'node.ign'), '{"ignition":{"version":"3.4.0"}}')
    await writeFile(file, hostsYaml(1).replace('    labels:', `    ${setting}\n    labels:`))
    for (const more of [['--plan'], ['--rehearse']]) {
      const refused = command(['run', file, ...more])
      expect(await refused.ended, refused.stdout + refused.stderr).toBe(2)
      expect(refused.stderr).toMatch(says)
      expect(refused.stdout).toBe('')
    }
  } finally {
    await rm(folder, { recursive: true })
  }
})

test.each([
  ['/proc/no/such/folder', 'ENOENT'],
  ['/dev/null/folder', 'ENOTDIR'],
])('where no state folder can be made, that is said in a sentence, and the run ends: %s', async (state, code) => {
  const folder = await mkdtemp(join(tmpdir(), 'ironstage-run-nowhere-'))
  try {
    const file = join(folder, 'hosts.yaml')
    await writeFile(join(folder, 'node.ign'), '{"ignition":{"version":"3.4.0"}}')
    await writeFile(file, hostsYaml(1))
    for (const how of [['--rehearse'], ['--check'], []]) {
      const refused = command(['run', file, ...how, '--state-dir', state], { variables: { HOME: folder } })
      expect(await refused.ended, refused.stdout).toBe(1)
      expect(refused.stderr).toMatch(/^ironstage: the state of runs in \S+ cannot be used\n/)
      expect(refused.stderr).toContain(`because: ${code}`)
      expect(refused.stderr).toContain('try: check that folder, or name another with --state-dir')
    }
    const homeless = command(['run', file, '--check', '--state-dir', join(folder, 'state')], {
      variables: { HOME: '/proc/none' },
    })
    expect(await homeless.ended).toBe(1)
    expect(homeless.stderr).toMatch(
      /^ironstage: the locks of hosts in \/proc\/none\S+ cannot be used\n {2}because: ENOENT/,
    )
  } finally {
    await rm(folder, { recursive: true })
  }
})

test.each([
  [['--html', 'no-such-folder/night.html'], 'the report no-such-folder/night.html cannot be written', 'ENOENT'],
  [['--junit', '/proc/night.xml'], 'the report /proc/night.xml cannot be written', 'ENOENT'],
  [['--html', tmpdir()], `the report ${tmpdir()} cannot be written`, 'EISDIR'],
  [['--html', 'one-file', '--junit', './one-file'], '--html and --junit name the same file', ''],
])('a report that cannot be written is refused before a host is contacted: %j', async (reports, says, because) => {
  const folder = await mkdtemp(join(tmpdir(), 'ironstage-run-unreported-'))
  try {
    const file = join(folder, 'hosts.yaml')
    await writeFile(join(folder, 'node.ign'), '{"ignition":{"version":"3.4.0"}}')
    await writeFile(file, hostsYaml(1))
    const refused = command(['run', file, '--rehearse', ...reports])
    expect(await refused.ended, refused.stdout).not.toBe(0)
    expect(refused.stderr).toContain(says)
    expect(refused.stderr).toContain(because)
    expect(refused.stdout).toBe('')
    expect((await readdir(folder)).sort()).toEqual(['hosts.yaml', 'node.ign'])
  } finally {
    await rm(folder, { recursive: true })
  }
})

test('a run replaces the report of another, and leaves it as it is where it cannot begin', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'ironstage-run-report-'))
  try {
    const file = join(folder, 'hosts.yaml')
    const html = join(folder, 'night.html')
    await writeFile(join(folder, 'node.ign'), '{"ignition":{"version":"3.4.0"}}')
    await writeFile(file, hostsYaml(1))
    await writeFile(html, 'that of yesterday')
    const nowhere = command(['run', file, '--rehearse', '--html', html, '--state-dir', '/dev/null/folder'])
    expect(await nowhere.ended).toBe(1)
    expect(await readFile(html, 'utf8')).toBe('that of yesterday')
    const done = command(['run', file, '--rehearse', '--no-ui', '--html', html])
    expect(await done.ended, done.stderr).toBe(0)
    expect(await readFile(html, 'utf8')).toMatch(/^<!DOCTYPE html>/i)
  } finally {
    await rm(folder, { recursive: true })
  }
})

test('a failed host is annotated for GitHub Actions and GitLab, and summed up for the job', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'ironstage-run-annotate-'))
  try {
    const file = join(folder, 'hosts.yaml')
    await writeFile(join(folder, 'node.ign'), '{"ignition":{"version":"3.4.0"}}')
    await writeFile(file, hostsYaml(1))
    const faults = join(folder, 'faults.json')
    const effect = { kind: 'exit-code', code: 1, stderr: 'Error: 100% full' }
    await writeFile(faults, JSON.stringify([{ match: { program: 'coreos-installer' }, effect }]))
    const summary = join(folder, 'summary.md')
    await writeFile(summary, 'the step before\n')
    const failed = command(
      [
        'run',
        file,
        '--rehearse',
        '--faults',
        faults,
        '--no-ui',
        '--annotate',
        'github',
        '--markdown',
        join(folder, 'night.md'),
      ],
      { variables: { GITHUB_STEP_SUMMARY: summary, GITHUB_WORKSPACE: folder } },
    )
    expect(await failed.ended, failed.stdout).toBe(1)
    expect(failed.stdout).toMatch(
      /^::error title=node-1%3A failed in steps,file=hosts\.yaml,line=6::.*%0Abecause: .*100%25 full/m,
    )
    const markdown = await readFile(join(folder, 'night.md'), 'utf8')
    expect(markdown).toContain('0 of 1 host ok')
    expect(await readFile(summary, 'utf8')).toBe(`the step before\n${markdown}`)
  } finally {
    await rm(folder, { recursive: true })
  }
})

test('escape sequences that a host prints do not reach the terminal', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'ironstage-run-escapes-'))
  try {
    const file = join(folder, 'hosts.yaml')
    const faults = join(folder, 'faults.json')
    await writeFile(join(folder, 'node.ign'), '{"ignition":{"version":"3.4.0"}}')
    await writeFile(file, hostsYaml(1))
    const effect = { kind: 'exit-code', code: 1, stderr: 'Error: \x1b]0;owned\x07 \x1b[2J\x9b31m\n' }
    await writeFile(faults, JSON.stringify([{ match: { program: 'coreos-installer' }, effect }]))
    const failing = command(['run', file, '--rehearse', '--no-ui', '--faults', faults], { isTTY: true })
    expect(await failing.ended).toBe(1)
    const shown = failing.stdout + failing.stderr
    expect(shown).toContain('\\x1b]0;owned')
    // Those of the table that is rewritten in place are its own.
    expect(shown.replaceAll(/\x1b\[\d*[AJ]/g, '')).not.toMatch(/[\x00-\x08\x0b-\x1f\x7f-\x9f]/)
    expect(shown).not.toContain('\x1b[2J')
  } finally {
    await rm(folder, { recursive: true })
  }
})

test('a page sees the end of a run once its reports are written', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'ironstage-run-seen-'))
  try {
    const file = join(folder, 'hosts.yaml')
    const html = join(folder, 'night.html')
    await writeFile(join(folder, 'node.ign'), '{"ignition":{"version":"3.4.0"}}')
    await writeFile(file, hostsYaml(1))
    const running = command(['run', file, '--rehearse', '--json', '--html', html])
    const [, url] = await running.printed(/"dashboard","url":"([^"]*)\/_lab/)
    const isOver = async () => ((await (await fetch(`${url}/_lab/run`)).json()) as { isOver: boolean }).isOver
    while (!(await isOver())) await new Promise((resolve) => setTimeout(resolve, 10))
    expect(await readFile(html, 'utf8')).toMatch(/^<!DOCTYPE html>/i)
    expect(running.stdout).toContain('"event":"report"')
    expect(await running.ended, running.stderr).toBe(0)
  } finally {
    await rm(folder, { recursive: true })
  }
})

test('of two rehearsals that start at once over an ended one, one runs and the other is refused', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'ironstage-run-race-'))
  try {
    const file = join(folder, 'hosts.yaml')
    await writeFile(join(folder, 'node.ign'), '{"ignition":{"version":"3.4.0"}}')
    await writeFile(file, hostsYaml(1))
    const start = () => command(['run', file, '--rehearse', '--no-ui'])
    const ended = start()
    expect(await ended.ended, ended.stderr).toBe(0)
    const both = [start(), start()]
    expect((await Promise.all(both.map((one) => one.ended))).sort()).toEqual([0, 2])
    expect(both.map(({ stderr }) => stderr).join('')).toContain('another process works on the run in')
  } finally {
    await rm(folder, { recursive: true })
  }
})

test('a run whose folder another process works in is not started, nor its rehearsal forgotten', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'ironstage-run-twice-'))
  try {
    const file = join(folder, 'hosts.yaml')
    await writeFile(join(folder, 'node.ign'), '{"ignition":{"version":"3.4.0"}}')
    await writeFile(file, hostsYaml(1))
    const state = join(folder, 'hosts.state/rehearsal')
    await mkdir(join(state, 'machines'), { recursive: true })
    await writeFile(join(state, 'machines/here'), '')
    using _ = await tryLock(join(state, 'run.lock'), 'exclusive')
    for (const more of [[], ['--resume'], ['--restart']]) {
      const second = command(['run', file, '--rehearse', ...more])
      expect(await second.ended).toBe(2)
      expect(second.stderr).toContain(`another process works on the run in ${state}`)
    }
    expect(await readFile(join(state, 'machines/here'), 'utf8')).toBe('')
  } finally {
    await rm(folder, { recursive: true })
  }
})

test('a job may always say --resume: where there is nothing to continue with, that is said and is no failure', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'ironstage-run-resumed-'))
  try {
    const file = join(folder, 'hosts.yaml')
    await writeFile(join(folder, 'node.ign'), '{"ignition":{"version":"3.4.0"}}')
    await writeFile(file, hostsYaml(1))
    const state = join(folder, 'hosts.state/rehearsal')
    const resumed = async (...more: string[]) => {
      const run = command(['run', file, '--rehearse', '--no-ui', ...more])
      return { code: await run.ended, stdout: run.stdout, stderr: run.stderr }
    }
    const before = `nothing to resume: no run was started in ${state}`
    expect(await resumed('--resume', '--json')).toEqual({
      code: 0,
      stdout: `${JSON.stringify({ event: 'nothing-to-resume', why: before })}\n`,
      stderr: '',
    })
    expect((await resumed('--check')).code).toBe(0)
    expect((await resumed('--resume', '--json')).stdout).toMatch(/nothing to resume: the run \S+ in \S+ only checked/)
    const first = await resumed('--json')
    expect(first.code, first.stderr).toBe(0)
    const { id } = JSON.parse(first.stdout.trim().split('\n').at(-1)!) as { id: string }
    const why = `nothing to resume: the run ${id} in ${state} has ended`
    expect(JSON.parse((await resumed('--resume', '--json')).stdout)).toEqual({ event: 'nothing-to-resume', why })
    // The same sentence on a terminal and in a pipe.
    const terminal = command(['run', file, '--rehearse', '--resume'], { isTTY: true })
    expect([await terminal.ended, terminal.stdout]).toEqual([0, `${why}\n`])
    expect((await resumed('--resume')).stdout).toBe(`${why}\n`)
    const attached = command(['run', 'attach', id, '--state-dir', join(folder, 'hosts.state')])
    expect([await attached.ended, attached.stdout]).toEqual([0, expect.stringContaining(why)])
    // Contradicting options are still wrong usage.
    expect((await resumed('--resume', '--restart')).code).toBe(2)
  } finally {
    await rm(folder, { recursive: true })
  }
}, 60_000)

test('Ctrl-C on a terminal finishes the hosts in progress, and run attach continues; no line is wider or higher than it', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'ironstage-run-terminal-'))
  try {
    const file = join(folder, 'hosts.yaml')
    await writeFile(join(folder, 'node.ign'), '{"ignition":{"version":"3.4.0"}}')
    await writeFile(file, hostsYaml(7).replaceAll('node-', `node-${'with-a-long-name-'.repeat(3)}`))
    const first = command(['run', file, '--rehearse', '--parallel', '2'], { isTTY: true, columns: 80, rows: 5 })
    await first.printed(/ steps /)
    first.interrupt()
    expect(await first.ended, first.stderr).toBe(1)
    expect(first.stderr).toContain('finishing the started hosts; Ctrl-C again: only their current stages')
    expect(first.stdout).toMatch(/of 7 hosts: \d ok, 0 not/)
    const drawn = first.stdout.split(/\x1b\[(\d+)A\x1b\[J/)
    expect(Math.max(...drawn.filter((_, index) => index % 2 === 1).map(Number))).toBeLessThan(5)
    const lines = drawn.filter((_, index) => index % 2 === 0).flatMap((text) => text.split('\n'))
    expect(lines.filter((line) => line.length > 80 && !/^(run|report:) /.test(line))).toEqual([])
    const [, ok] = /7 hosts: (\d) ok, 0 failed, 0 not started/.exec(first.stdout)!
    expect(Number(ok)).toBeLessThan(7)
    const [, id] = /continues with: ironstage run attach (\S+)/.exec(first.stderr)!
    const state = join(folder, 'hosts.state')
    const next = command(['run', 'attach', id!, '--state-dir', state, '--json'])
    expect(await next.ended, next.stderr).toBe(0)
    const report = JSON.parse(next.stdout.trim().split('\n').at(-1)!) as { id: string; hosts: { outcome: string }[] }
    expect([report.id, report.hosts.map(({ outcome }) => outcome)]).toEqual([id, Array(7).fill('ok')])
  } finally {
    await rm(folder, { recursive: true })
  }
}, 60_000)
