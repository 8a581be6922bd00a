import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { stringify } from 'yaml'
import { describe, expect, onTestFinished, test } from 'vitest'
import { ALL_BEHAVIOURS, STORIES } from '../../apps/cluster/index.js'
import { command } from '../kit/commands/command.js'

async function rehearsal(...args: string[]) {
  const run = command(['rehearse', 'upgrade', ...args])
  const code = await run.ended
  return { code, stdout: run.stdout, stderr: run.stderr }
}

describe('ironstage rehearse upgrade', () => {
  test('--list has every story and every behaviour, within the terminal', async () => {
    const { code, stdout } = await rehearsal('--list')
    expect(code).toBe(0)
    for (const { name } of [...STORIES, ...ALL_BEHAVIOURS]) expect(stdout).toContain(`  ${name}`)
    for (const line of stdout.split('\n')) expect(line.length, line).toBeLessThanOrEqual(100)
  })

  test('--list says which operators have a behaviour, and since which release; --as lists those of one', async () => {
    const { stdout } = await rehearsal('--list')
    const text = stdout.replaceAll(/\s+/g, ' ')
    expect(text).toMatch(/mco\/enforces-boot-image-skew .*\(today; since 4\.22; legacy-cluster\)/)
    expect(text).toMatch(/bmo\/reboots-waiting-hosts .*\(document; ironic-after-images\)/)
    expect(text).toContain('(no-free-host, as document skew)')
    const { stdout: listed } = await rehearsal('--list', '--json', '--as', 'document')
    const lines = listed.trim().split('\n')
    const entries = lines.map((line) => JSON.parse(line) as { scenario: string; as: string[]; behaviour?: string })
    expect(entries.filter(({ behaviour }) => behaviour === undefined)).toHaveLength(31)
    for (const { as } of entries) expect(as).toContain('document')
    expect(entries).toContainEqual(
      expect.objectContaining({ behaviour: 'cvo/refuses-downgrades', since: '4.14', as: ['today', 'document'] }),
    )
  })

  test('--as plays the operators of a design document, marks what today’s do not do, and is today by default', async () => {
    const document = await rehearsal('--story', 'agent-container', '--as', 'document')
    expect(document.code).toBe(0)
    expect(document.stdout).toContain('\nas document\n')
    expect(document.stdout).toMatch(/rolls out metal3-image-customization again \(document 000\)/)
    const today = await rehearsal('--story', 'agent-container')
    expect(today.stdout).toContain('\nas today\n')
    expect(today.stdout).not.toContain('(document 000)')
  })

  test('--compare prints where the two part, in a terminal of 80 columns and as JSON', async () => {
    const { code, stdout } = await rehearsal('--compare', 'agent-container')
    expect(code).toBe(0)
    expect(stdout).toMatch(/\nThey part at \d:\d\d:\d\d:\n/)
    expect(stdout).toMatch(/^today +\d:\d\d:\d\d {2}cbo +reports 4\.14\.1$/m)
    expect(stdout).toMatch(/^document +\d:\d\d:\d\d {2}bmo +has host-1 inspected again \(document 000\)$/m)
    const json = await rehearsal('--compare', '--json', 'agent-container')
    const lines = json.stdout.trim().split('\n')
    const entries = lines.map((line) => JSON.parse(line) as { event: string; as?: string })
    expect(entries.at(-1)).toMatchObject({
      event: 'comparison',
      scenario: 'agent-container',
      holds: { document: true, today: true },
      differences: entries.length - 1,
    })
    expect(new Set(entries.slice(0, -1).map(({ as }) => as))).toEqual(new Set(['today', 'document']))
  })

  test('prints a summary, the whole story on request, and the whole story of a failure', async () => {
    const short = await rehearsal('agent-container')
    expect(short.code).toBe(0)
    expect(short.stdout).toMatch(/^ +\d:\d\d:\d\d  holds  /m)
    expect(short.stdout).not.toMatch(/^ +\d:\d\d:\d\d  (cvo|bmo|mco) /m)
    const [, lines] = /--story prints all (\d+) lines/.exec(short.stdout)!
    const long = await rehearsal('--story', 'agent-container')
    expect(long.stdout).toMatch(/^ +\d:\d\d:\d\d  bmo /m)
    const entries = long.stdout.split('\n').filter((line) => /^ +\d:\d\d:\d\d  /.test(line))
    // The beginning and the end have no time.
    expect(entries).toHaveLength(Number(lines) - 2)
    const failed = await rehearsal('ironic-forgets', '--without', 'bmo/adopts')
    expect(failed.code).toBe(1)
    const [before, after] = failed.stdout.split('\nThe whole story:\n')
    expect(before).toContain('did not go as expected')
    expect(before).not.toMatch(/^ +\d:\d\d:\d\d  bmo /m)
    expect(after).toMatch(/^ +\d:\d\d:\d\d  bmo /m)
  })

  test('plays a file, a JSON object a line, and ends with 1 where an expectation fails', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'ironstage-rehearse-'))
    onTestFinished(() => rm(folder, { recursive: true, force: true }))
    const file = join(folder, "it's mine.yaml")
    const scenario = STORIES.find(({ name, as }) => name === 'agent-container' && as === 'today')!
    const steps = [...scenario.steps, { expect: { state: 'provisioned', of: 'spares' } }]
    await writeFile(file, stringify({ ...scenario, name: 'mine', steps }))
    const { code, stdout } = await rehearsal('--json', file)
    const lines = stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { event: string; scenario: string })
    expect(code).toBe(1)
    expect(new Set(lines.map(({ scenario: name }) => name))).toEqual(new Set(['mine']))
    expect(lines.at(-1)).toMatchObject({
      event: 'end',
      holds: false,
      failures: ['each of the spares is provisioned; but there are no such hosts'],
    })
  })

  test.each([
    [['deploy-imag'], /there is no scenario deploy-imag.*did you mean deploy-image\?/s],
    [['--without', 'cvo/sleeps', 'skew'], /there is no behaviour cvo\/sleeps\n {2}try: list them with/],
    [['--without', 'cvo/waits-for-operator'], /there is no.*did you mean cvo\/waits-for-operators\? list them with/s],
    [['--all', 'skew'], /scenarios are named beside --all/],
    [['--as', 'tomorrow'], /--as takes today or document|today.*document/s],
    [['--as', 'document', 'giant-hop'], /the scenario giant-hop is not of the design documents.*--as today/s],
    [['--without', 'bmo/reboots-waiting-hosts'], /today's operators have no behaviour bmo\/reboots-waiting-hosts/],
    [['--compare', '--as', 'today'], /--compare plays both.*leave out --as and --story/s],
    [['--compare', '--without', 'cvo/sleeps'], /there is no behaviour cvo\/sleeps/],
  ])('%j is refused before anything is played', async (args, message) => {
    const { code, stdout, stderr } = await rehearsal(...args)
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
    expect(stderr).toMatch(message)
  })
})
