import fc from 'fast-check'
import { execFile } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { beforeAll, expect, test } from 'vitest'
import { agentConfig } from '../../../../coreos/index.js'
import { agentOptions } from '../../../kit/commands/agent-config-options.js'
import { realIgnition, type AskIgnition } from './peer.js'

let ask: AskIgnition
beforeAll(async () => {
  ask = await realIgnition()
})

test('Ignition takes every config that runs the agent, without a warning', async () => {
  const options = fc.sample(agentOptions, { numRuns: 2000, seed: 7 })
  const texts = options.map((one) => JSON.stringify(agentConfig(one)))
  const answers = await ask(texts.map((text) => [text]))
  const refused = answers.flatMap(({ error, report }, index) =>
    error === null && report === '' ? [] : [{ error, report, options: options[index] }],
  )
  expect(refused).toEqual([])
  expect(answers).toHaveLength(2000)
})

/** Complaints about programs that this computer lacks, and about a line that upstream's unit has too. */
const EXPECTED = /Command \/\S+ is not executable|Unknown key 'StartLimitIntervalSec' in section \[Service\]/

test('systemd reads every unit, with nothing to say of quotes and specifiers', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'ironstage-units-'))
  try {
    const options = fc.sample(agentOptions, { numRuns: 200, seed: 8 })
    const paths = options.map((_, index) => join(folder, `agent-${index}.service`))
    for (const [index, agent] of options.entries())
      await writeFile(paths[index]!, agentConfig(agent).systemd!.units![0]!.contents!)
    const output = await promisify(execFile)('systemd-analyze', ['verify', '--man=no', ...paths]).then(
      ({ stderr }) => stderr,
      (error: { stderr: string }) => error.stderr,
    )
    const lines = output.split('\n').filter((line) => line.includes('agent-'))
    // It has read them, and has said of each what was to be expected.
    expect(new Set(lines.map((line) => /agent-\d+/.exec(line)?.[0])).size).toBe(200)
    expect(lines.filter((line) => !EXPECTED.test(line))).toEqual([])
  } finally {
    await rm(folder, { recursive: true })
  }
})
