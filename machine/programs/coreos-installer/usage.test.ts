import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { seededRandom, systemClock } from '../../../base/runtime/index.js'
import { installToFile } from './standalone.js'

/** Output of the real coreos-installer 0.27.0 for command lines that need no disk. */
interface RecordedUsage {
  args: string[]
  code: number
  stdout: string
  stderr: string
}

const fixture = new URL('../../../test/fixtures/coreos-installer/usage.json', import.meta.url)

test.each((JSON.parse(readFileSync(fixture, 'utf8')) as RecordedUsage[]).map((usage) => [usage.args, usage] as const))(
  'as recorded: %j',
  async (args, { code, stdout, stderr }) => {
    const output = { stdout: '', stderr: '' }
    const ended = await installToFile({
      args,
      sectorSize: 512,
      architecture: 'x86_64',
      tty: false,
      clock: systemClock(),
      random: seededRandom(1),
      signal: new AbortController().signal,
      stdout: (text) => void (output.stdout += text),
      stderr: (text) => void (output.stderr += text),
    })
    expect({ code: ended, ...output }).toEqual({ code, stdout, stderr })
  },
)
