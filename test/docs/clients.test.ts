import { execFile } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, onTestFinished, test } from 'vitest'
import { UpProcess } from '../kit/commands/up-process.js'
import { blocks, readersFolder } from '../kit/guides/guide.js'

test('the block for TypeScript adds a fault, jumps half an hour and lifts the fault', async () => {
  const [block, ...others] = blocks('docs/clients.md').filter(({ language }) => language === 'ts')
  expect(others).toEqual([])
  const up = new UpProcess(['--port', '0', '--nodes', '3', '--clock', 'manual'])
  onTestFinished(() => up.kill())
  const url = await up.ready
  const folder = await readersFolder()
  // Without types a block is JavaScript.
  await writeFile(join(folder, 'client.mjs'), block!.text.replace('http://127.0.0.1:6385', url))
  await promisify(execFile)(process.execPath, ['client.mjs'], { cwd: folder })
  const journal = (await (await fetch(`${url}/_lab/journal?kind=fault`)).json()) as { entries: { what: string }[] }
  expect(journal.entries.map(({ what }) => what)).toEqual(['added', 'lifted'])
  expect(await (await fetch(`${url}/_lab/clock`)).json()).toMatchObject({ elapsed: 31 * 60_000 })
})
