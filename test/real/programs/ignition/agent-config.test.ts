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

/** A key that systemd does not know: its complaint shows that it has read the unit. */
const UNKNOWN_KEY = 'OfATest'

/** Complaints about that key, about programs that this computer may lack, and about a line that upstream's unit has too. */
const EXPECTED = new RegExp(
  `Unknown key '(${UNKNOWN_KEY}|StartLimitIntervalSec)' in section \\[Service\\]|Command /\\S+ is not executable`,
)

test('systemd reads every unit, with nothing to say of quotes and specifiers', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'ironstage-units-'))
  try {
    const options = fc.sample(agentOptions, { numRuns: 200, seed: 8 })
    const paths = options.map((_, index) => join(folder, `agent-${index}.service`))
    for (const [index, agent] of options.entries()) {
      const unit = agentConfig(agent).systemd!.units![0]!.contents!
      await writeFile(paths[index]!, unit.replace('[Service]\n', `[Service]\n${UNKNOWN_KEY}=1\n`))
    }
    const output = await promisify(execFile)('systemd-analyze', ['verify', '--man=no', ...paths]).then(
      ({ stderr }) => stderr,
      (error: { stderr: string }) => error.stderr,
    )
    const lines = output.split('\n').filter((line) => line.includes('agent-'))
    const read = lines.filter((line) => line.includes(UNKNOWN_KEY))
    expect(new Set(read.map((line) => /agent-\d+/.exec(line)?.[0])).size).toBe(200)
    expect(lines.filter((line) => !EXPECTED.test(line))).toEqual([])
  } finally {
    await rm(folder, { recursive: true })
  }
})
