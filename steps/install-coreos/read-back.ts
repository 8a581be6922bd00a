import { during, type Logger } from '../../base/runtime/index.js'
import type { Target } from '../../targets/index.js'
import { withMounted } from '../hardware/mounted.js'
import { readPartitions } from '../hardware/read-partitions.js'
import { runToEnd, runCommand } from '../sdk/run-command.js'
import type { InstallInput } from './install-input.js'

/** Expected SHA-256 of /ignition/config.ign in hex; null when the file must not exist. */
export type ExpectedConfig = string | null

/**
 * Reads an installed disk with the target's own programs. Returns a sentence for each difference from the input.
 */
export async function readBack(
  target: Target,
  device: string,
  input: InstallInput,
  config: ExpectedConfig,
  logger: Logger,
): Promise<string[]> {
  const table = await readPartitions(target, device)
  if (table.type !== 'gpt') return [`${device} has ${table.type ?? 'no'} partition table instead of a GPT`]
  const boot = table.partitions.filter((partition) => partition.label === 'boot')
  if (boot.length !== 1)
    return [`${device} has ${boot.length === 0 ? 'no file system' : `${boot.length} file systems`} labelled boot`]
  return during(`reading ${boot[0]!.name} back`, () =>
    withMounted(target, boot[0]!.name, logger, async (folder) => {
      const differences = configDifferences(target, folder, config)
      const options = kernelArguments(target, folder)
      // Both have ended before it is unmounted, also where one has failed.
      await Promise.allSettled([differences, options])
      return [...(await differences), ...kernelArgumentDifferences(await options, input)]
    }),
  )
}

async function configDifferences(target: Target, folder: string, expected: ExpectedConfig): Promise<string[]> {
  const file = `${folder}/ignition/config.ign`
  const [{ stdout, exit }, state] = await Promise.all([
    runToEnd(target.executor, ['sha256sum', file], { effect: 'reads' }),
    expected === null ? null : runToEnd(target.executor, ['stat', '-c', '%a', file], { effect: 'reads' }),
  ])
  const digest = exit.kind === 'exited' && exit.code === 0 ? stdout.split(/\s/)[0]! : null
  if (digest !== expected) {
    if (expected === null) return ['there is an Ignition config although none was given']
    if (digest === null) return ['there is no Ignition config on the boot file system']
    return [`the Ignition config on the disk has the digest ${digest} instead of ${expected}`]
  }
  if (state === null) return []
  const mode = state.stdout.trim()
  return mode === '600' ? [] : [`the Ignition config on the disk has mode ${mode} instead of 600`]
}

/** The `options` of the boot entry that the installer edits, which is the last by name. */
async function kernelArguments(target: Target, folder: string): Promise<string | null> {
  const { stdout } = await runCommand(target.executor, ['ls', '-1', `${folder}/loader/entries`], { effect: 'reads' })
  const entry = stdout
    .split('\n')
    .filter((name) => name.endsWith('.conf'))
    .sort()
    .at(-1)
  if (entry === undefined) return null
  const text = (await runCommand(target.executor, ['cat', `${folder}/loader/entries/${entry}`], { effect: 'reads' }))
    .stdout
  return /^options\s+(.*)$/m.exec(text)?.[1]?.trim() ?? null
}

/** Differences of the final kernel arguments from the input. An argument may consist of several words. */
export function kernelArgumentDifferences(options: string | null, input: InstallInput): string[] {
  const { appendKargs, deleteKargs, ipOptions, platform, consoles } = input
  const append = [...appendKargs, ...(ipOptions === null ? [] : [ipOptions])]
  if (options === null) {
    const asked = append.length + deleteKargs.length + consoles.length > 0 || platform !== null
    return asked ? ['there is no boot entry with kernel arguments'] : []
  }
  const has = (argument: string) => ` ${options} `.includes(` ${argument.trim()} `)
  // The installer completes a console: ttyS0 becomes ttyS0,9600n8.
  const hasConsole = (spec: string) => options.split(' ').some((word) => word.startsWith(`console=${spec}`))
  return [
    ...append.filter((argument) => !has(argument)).map((argument) => `the kernel argument ${argument} is missing`),
    ...deleteKargs
      .filter((argument) => has(argument) && !append.includes(argument))
      .map((argument) => `the kernel argument ${argument} is still there`),
    ...consoles.filter((spec) => !hasConsole(spec)).map((spec) => `the console ${spec} is missing`),
    ...(platform !== null && !has(`ignition.platform.id=${platform}`) ? [`the platform is not ${platform}`] : []),
  ]
}
