import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { timed, type Measured } from './measure.js'
import type { Row } from './rows.js'

const ROOT = fileURLToPath(new URL('../..', import.meta.url.replace('/dist/test/', '/test/')))

/** Times that developers wait for tests. */
export const suites = async (): Promise<Measured[]> => [
  await ran('npm test', 60_000, 'npm', 'test'),
  await ran('npm run test:fast', 15_000, 'npm', 'run', 'test:fast'),
]

/** Time of CI where peers are installed. */
export const ci = async (): Promise<Measured[]> => [await ran('.ci/run with warm peers', 30 * 60_000, '.ci/run')]

/** @throws when the command fails, since it has not done everything then */
async function ran(what: Row, reach: number, ...argv: [string, ...string[]]): Promise<Measured> {
  const ours = await timed(async () => {
    const child = spawn(argv[0], argv.slice(1), { cwd: ROOT, stdio: ['ignore', 'ignore', 'inherit'] })
    const [code] = (await once(child, 'close')) as [number | null]
    if (code !== 0) throw new Error(`${argv.join(' ')} ended with ${code}`)
  })
  return { what, ours, peer: null, reach, unit: 'ms', runs: 1 }
}
