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
    const scenario = STORIES.find(({ name }) => name === 'agent-container')!
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
      failures: ['each of the spares is provisioned; but host-1 is available'],
    })
  })

  test.each([
    [['deploy-imag'], /there is no scenario deploy-imag.*did you mean deploy-image\?/s],
    [['--without', 'cvo/sleeps', 'skew'], /there is no behaviour cvo\/sleeps.*cvo\/waits-for-operators/s],
    [['--all', 'skew'], /scenarios are named beside --all/],
  ])('%j is refused before anything is played', async (args, message) => {
    const { code, stdout, stderr } = await rehearsal(...args)
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
    expect(stderr).toMatch(message)
  })
})
