import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFile, writeFile } from 'node:fs/promises'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { HINT_CASES, type HintCase } from '../../kit/root-device-hints.js'
import { pythonPeer } from '../peers.js'

const at = (path: string) => fileURLToPath(new URL(path, import.meta.url))

/** Evaluates each row with the real code. */
async function asked(peer: 'ironic' | 'ipa', rows: readonly HintCase[]): Promise<unknown[]> {
  const venv = await pythonPeer(at(`../peers/${peer}.txt`))
  const child = spawn(`${venv}/bin/python`, [at('../peers/root-device-hints.py'), peer], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  child.stdin.end(JSON.stringify(rows))
  const [out] = await Promise.all([text(child.stdout), once(child, 'close')])
  return JSON.parse(out) as unknown[]
}

/** Python names objects by where they are in memory. */
const steady = (answers: unknown): unknown => JSON.parse(JSON.stringify(answers).replaceAll(/0x[0-9a-f]{6,}/g, '0x'))

const RECORDED = at('../../fixtures/root-device-hints/recorded.json')

test('the recorded answers are those of the real Ironic, and for lists and tran of the real agent', async () => {
  const [ironic, agent] = await Promise.all([
    asked('ironic', HINT_CASES),
    asked(
      'ipa',
      HINT_CASES.filter(({ by }) => by === 'agent'),
    ),
  ])
  const answers = HINT_CASES.map(({ by }, index) => (by === 'agent' ? agent.shift() : ironic[index]))
  // Writes a new recording: `RECORD=1`.
  if (process.env['RECORD'])
    await writeFile(RECORDED, `[\n${answers.map((answer) => `  ${JSON.stringify(answer)}`).join(',\n')}\n]\n`)
  expect(steady(JSON.parse(await readFile(RECORDED, 'utf8')))).toEqual(steady(answers))
})
