import { spawn } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { IRONSTAGE, UpProcess } from './up-process.js'

export interface Speed {
  speed: number
  realistic: boolean
  /** Deploys through an `ironstage up` with a state folder instead of an Ironic of its own. */
  stateDir: boolean
}

/** Every combination, as arguments of a table. */
export const speeds = (all: readonly number[]): Speed[] =>
  all.flatMap((speed) =>
    [false, true].flatMap((realistic) => [false, true].map((stateDir) => ({ speed, realistic, stateDir }))),
  )

/**
 * Runs `ironstage deploy` in a process of its own, as it is built and shipped.
 *
 * @param timeout milliseconds after which the process is killed
 */
export async function deployAt({ speed, realistic, stateDir }: Speed, timeout: number): Promise<DeployRun> {
  const folder = await mkdtemp(join(tmpdir(), 'ironstage-speed-'))
  const pace = ['--speed', String(speed), ...(realistic ? ['--realistic'] : [])]
  const up = stateDir ? new UpProcess(['--port', '0', '--state-dir', join(folder, 'state'), ...pace]) : undefined
  try {
    const more = up ? ['--ironic-url', await up.ready] : ['--disk-file', join(folder, 'disk.img'), ...pace]
    return await ended(['deploy', ...more], timeout)
  } finally {
    await up?.stop()
    await rm(folder, { recursive: true, force: true })
  }
}

export interface DeployRun {
  /** Null when the process was killed. */
  code: number | null
  output: string
}

/**
 * Runs the command until it ends.
 *
 * @param stopAt what the output has when SIGTERM is sent
 */
export function ended(argv: readonly string[], timeout: number, stopAt?: string): Promise<DeployRun> {
  return new Promise((resolve) => {
    const child = spawn(process.execPath, [IRONSTAGE, ...argv], { stdio: ['ignore', 'pipe', 'pipe'] })
    const run: DeployRun = { code: null, output: '' }
    let reported = false
    const hear = (text: Buffer) => {
      run.output += text.toString()
      if (reported || stopAt === undefined || !run.output.includes(stopAt)) return
      reported = true
      child.kill('SIGTERM')
    }
    child.stdout.on('data', hear)
    child.stderr.on('data', hear)
    const late = setTimeout(() => child.kill('SIGKILL'), timeout)
    child.on('close', (code) => {
      clearTimeout(late)
      resolve({ ...run, code })
    })
  })
}
