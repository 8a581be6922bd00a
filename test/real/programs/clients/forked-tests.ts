import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { bareEnvironment } from './baremetal.js'

const run = promisify(execFile)

const RUNNER = fileURLToPath(new URL('./forked_tests.py', import.meta.url))

export interface TestOutcome {
  /** Module, class and method, within the package. */
  test: string
  outcome: 'passed' | 'failed' | 'skipped'
  text: string
}

/**
 * Runs the unittest tests of a Python package, its modules side by side.
 *
 * @param venv folder of the virtual environment that has it
 * @param variables besides those of {@link bareEnvironment}
 */
export async function forkedTests(
  venv: string,
  packageName: string,
  variables: Readonly<Record<string, string>>,
): Promise<TestOutcome[]> {
  const { stdout } = await run(join(venv, 'bin/python'), [RUNNER, packageName], {
    env: { ...bareEnvironment(), ...variables },
    maxBuffer: 2 ** 26,
  })
  const lines = stdout.split('\n').filter(Boolean)
  return lines.map((line) => JSON.parse(line) as TestOutcome)
}
