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
