import { expect } from 'vitest'
import { defined } from '../../../base/runtime/index.js'
import { runToEnd } from '../../../steps/index.js'
import type { Executor } from '../../../targets/index.js'
import { COMMAND_ATTACKS, SHELL_ATTACKS, type Attack } from './attacks.js'
import type { AttackedHost } from './attacked-host.js'

/**
 * Attacks that got what they must not have, by name.
 *
 * @param shell program that runs them
 */
export async function attacked(
  executor: Executor,
  host: AttackedHost,
  named: string,
  attacks: readonly Attack[] = SHELL_ATTACKS,
  shell = 'sh',
): Promise<string[]> {
  const script = await host.script(named, attacks)
  const { stdout, stderr, exit } = await runToEnd(executor, [shell, script], { effect: 'reads' })
  expect([stdout.split('\n').at(-2), exit], stdout + stderr).toEqual(['all done', { kind: 'exited', code: 0 }])
  return [...new Set([...stdout.matchAll(/^(\d+) GOT/gm)].map(([, n]) => attacks[Number(n) - 100]!.name))]
}

/**
 * A command that reads finds the partition that is mounted for writing, and cannot write to it.
 *
 * @param partition has a file system
 */
export async function readsMounted(executor: Executor, partition: string): Promise<void> {
  const folder = '/run/ironstage/mnt/reading'
  const run = async (effect: 'reads' | 'writes', ...argv: [string, ...string[]]) =>
    (await runToEnd(executor, argv, { effect })).exit
  const well = { kind: 'exited', code: 0 }
  expect(await run('writes', 'mkdir', '-p', folder)).toEqual(well)
  expect(await run('writes', 'mount', '-o', 'rw', partition, folder)).toEqual(well)
  try {
    expect(await run('reads', 'ls', `${folder}/lost+found`)).toEqual(well)
    const touched = await runToEnd(executor, ['sh', '-c', `echo x >${folder}/canary`], { effect: 'reads' })
    expect(touched).toMatchObject({
      exit: { kind: 'exited' },
      stderr: expect.stringContaining('Read-only file system'),
    })
    expect(await run('reads', 'sh', '-c', `mount -o remount,bind,rw ${folder}`)).not.toEqual(well)
    expect(await run('reads', 'test', '-e', `${folder}/canary`)).toEqual({ kind: 'exited', code: 1 })
    expect(await run('writes', 'touch', `${folder}/canary`)).toEqual(well)
    expect(await run('reads', 'test', '-e', `${folder}/canary`)).toEqual(well)
  } finally {
    expect(await run('writes', 'umount', folder)).toEqual(well)
    await run('writes', 'rmdir', folder)
  }
}

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
    const options = { effect, ...defined({ stdin: stdin === undefined ? undefined : Buffer.from(stdin) }) }
    await runToEnd(executor, [program!, ...more], options).catch(() => refused++)
  }
  return refused
}
