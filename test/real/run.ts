import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { availableParallelism } from 'node:os'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { installPeers } from './install-peers.js'
import { LANES, MEASURED_LANE } from './lanes.js'

// `npm run test:real` without arguments runs lanes side by side, each in its own process, and prints their times.
// With arguments (files, options of vitest) it runs vitest, one file after another.

const CONFIG = fileURLToPath(new URL('./vitest.config.ts', import.meta.url))
const VITEST = fileURLToPath(new URL('../../node_modules/vitest/vitest.mjs', import.meta.url))

/** A lane waits for its peers part of the time. With one more for each processor, peers are too slow for their own limits. */
const MAX_PARALLEL_LANES = availableParallelism() + 1

/** Lines that are repeated of a lane that failed. */
const MAX_FAILURE_LINES = 60

let stopped = false
const running = new Set<ChildProcess>()
for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.on(signal, () => {
    stopped = true
    // Vitest takes down what its tests have opened.
    for (const child of running) child.kill(signal)
    if (running.size === 0) process.exit(1)
  })

function vitest(argv: readonly string[], stdio: 'inherit' | 'pipe'): { child: ChildProcess; ended: Promise<number> } {
  const child = spawn(process.execPath, [VITEST, 'run', '--config', CONFIG, ...argv], {
    stdio: ['ignore', stdio, stdio],
  })
  running.add(child)
  const ended = once(child, 'close').then(([code]) => {
    running.delete(child)
    return (code as number | null) ?? 1
  })
  return { child, ended }
}

interface LaneRun {
  name: string
  code: number
  seconds: number
  output: readonly string[]
}

async function lane(name: string): Promise<LaneRun> {
  const since = performance.now()
  const output: string[] = []
  const { child, ended } = vitest(['--project', name], 'pipe')
  for (const stream of [child.stdout!, child.stderr!])
    createInterface({ input: stream }).on('line', (line) => {
      output.push(line)
      process.stdout.write(`${name.padEnd(12)} | ${line}\n`)
    })
  const code = await ended
  return { name, code, seconds: (performance.now() - since) / 1000, output }
}

/** The failures of a lane, or its last lines, once more: the other lanes have printed a lot since. */
function failuresOf({ name, output }: LaneRun): string {
  const heading = output.findIndex((line) => /(Failed (Tests|Suites)|Unhandled Errors?) /.test(line))
  const lines = heading === -1 ? output.slice(-MAX_FAILURE_LINES) : output.slice(heading, heading + MAX_FAILURE_LINES)
  return `\n${name} failed:\n${lines.join('\n')}\n`
}

async function allLanes(): Promise<number> {
  const since = performance.now()
  await installPeers()
  const installed = (performance.now() - since) / 1000
  const waiting = [...LANES]
  const lanes: LaneRun[] = []
  const next = async () => {
    for (let name = waiting.shift(); name && !stopped; name = waiting.shift()) lanes.push(await lane(name))
  }
  await Promise.all(Array.from({ length: MAX_PARALLEL_LANES }, next))
  if (!stopped) lanes.push(await lane(MEASURED_LANE))
  const rows = [{ name: 'installing peers', code: 0, seconds: installed }, ...lanes].map(
    ({ name, code, seconds }) => `${seconds.toFixed(0).padStart(8)} s  ${name}${code === 0 ? '' : ` failed (${code})`}`,
  )
  const failed = lanes.filter(({ code }) => code !== 0)
  process.stdout.write(`${failed.map(failuresOf).join('')}\nlanes:\n${rows.join('\n')}\n`)
  return failed.length === 0 && !stopped ? 0 : 1
}

const argv = process.argv.slice(2)
process.exitCode = argv.length === 0 ? await allLanes() : await vitest(argv, 'inherit').ended
