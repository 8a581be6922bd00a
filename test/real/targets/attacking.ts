import { expect } from 'vitest'
import { finish } from '../../../steps/index.js'
import type { Executor } from '../../../targets/index.js'
import { COMMAND_ATTACKS, SHELL_ATTACKS } from './attacks.js'
import type { AttackedHost } from './attacked-host.js'

/** Which attacks got what they must not have, by name. */
export async function attacked(executor: Executor, host: AttackedHost, named: string): Promise<string[]> {
  const script = await host.script(named)
  const { stdout, stderr, exit } = await finish(executor, ['sh', script], { effect: 'reads' })
  expect([stdout.split('\n').at(-2), exit], stdout + stderr).toEqual(['all done', { kind: 'exited', code: 0 }])
  return got(stdout)
}

const got = (stdout: string) => [
  ...new Set([...stdout.matchAll(/^(\d+) GOT/gm)].map(([, n]) => SHELL_ATTACKS[Number(n) - 100]!.name)),
]

/** Runs the command lines of the table; how many were refused before anything was started. */
export async function commanded(executor: Executor, host: AttackedHost, named: string): Promise<number> {
  const words = host.words(named)
  const filled = (text: string) =>
    text.replaceAll(/\$\{(\w+)#\/\}|\$(\w+)/g, (_, bare: string, name: string) =>
      bare ? words[bare]!.slice(1) : words[name]!,
    )
  let refused = 0
  for (const { argv, effect, stdin } of COMMAND_ATTACKS) {
    const [program, ...more] = argv.map(filled)
    const options = { effect, ...(stdin === undefined ? {} : { stdin: Buffer.from(stdin) }) }
    await finish(executor, [program!, ...more], options).catch(() => refused++)
  }
  return refused
}
