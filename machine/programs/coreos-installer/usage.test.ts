import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { seededRandom, systemClock } from '../../../runtime/index.js'
import { installToFile } from './standalone.js'

/** What the real coreos-installer 0.27.0 said to command lines that need no disk. */
interface Said {
  args: string[]
  code: number
  stdout: string
  stderr: string
}

const fixture = new URL('../../../test/fixtures/coreos-installer/usage.json', import.meta.url)

test.each((JSON.parse(readFileSync(fixture, 'utf8')) as Said[]).map((said) => [said.args, said] as const))(
  'as recorded: %j',
  async (args, { code, stdout, stderr }) => {
    const said = { stdout: '', stderr: '' }
    const ended = await installToFile({
      ...{ args, sectorSize: 512, architecture: 'x86_64', tty: false, clock: systemClock(), random: seededRandom(1) },
      signal: new AbortController().signal,
      stdout: (text) => void (said.stdout += text),
      stderr: (text) => void (said.stderr += text),
    })
    expect({ code: ended, ...said }).toEqual({ code, stdout, stderr })
  },
)
