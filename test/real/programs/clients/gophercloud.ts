import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { goPeer } from '../../go-peer.js'
import { bareEnvironment } from './baremetal.js'

const run = promisify(execFile)

const FOLDER = fileURLToPath(new URL('./gophercloud', import.meta.url))

/** The program that {@link gophercloud} runs, built the first time. */
export const gophercloudProgram = (): Promise<string> => goPeer(FOLDER, { flags: ['-trimpath'] })

/**
 * Lets gophercloud go through a scenario of test/real/clients/gophercloud; gives the objects that it printed, of which the
 * first says which microversion it chose.
 *
 * @throws when it cannot be built, and when the scenario ends where it must not
 */
export async function gophercloud(
  argv: readonly [string, ...string[]],
  variables: Readonly<Record<string, string>>,
): Promise<Record<string, unknown>[]> {
  const program = await gophercloudProgram()
  const env = { ...bareEnvironment(), ...variables }
  const { stdout } = await run(program, argv, { env, maxBuffer: 2 ** 24 })
  const lines = stdout.split('\n').filter(Boolean)
  return lines.map((line) => JSON.parse(line) as Record<string, unknown>)
}
