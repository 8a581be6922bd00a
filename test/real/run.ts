import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { availableParallelism } from 'node:os'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { installPeers } from './install-peers.js'
import { LANES } from './lanes.js'

// `npm run test:real` without arguments runs lanes side by side, each in its own process, and prints their times.
// With arguments (files, options of vitest) it runs vitest, one file after another.

const CONFIG = fileURLToPath(new URL('./vitest.config.ts', import.meta.url))
const VITEST = fileURLToPath(new URL('../../node_modules/vitest/vitest.mjs', import.meta.url))

/** A lane waits for its peers part of the time. With one more for each processor, peers are too slow for their own limits. */
const MAX_PARALLEL_LANES = availableParallelism() + 1

const running = new Set<ChildProcess>()
for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.on(signal, () => {
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

async function lane(name: string): Promise<{ name: string; code: number; seconds: number }> {
  const since = performance.now()
  const { child, ended } = vitest(['--project', name], 'pipe')
  for (const stream of [child.stdout!, child.stderr!])
    createInterface({ input: stream }).on('line', (line) => process.stdout.write(`${name.padEnd(10)} | ${line}\n`))
  const code = await ended
  return { name, code, seconds: (performance.now() - since) / 1000 }
}

async function allLanes(): Promise<number> {
  const since = performance.now()
  await installPeers()
  const installed = (performance.now() - since) / 1000
  const waiting = [...LANES]
  const lanes: Awaited<ReturnType<typeof lane>>[] = []
  const next = async () => {
    for (let name = waiting.shift(); name; name = waiting.shift()) lanes.push(await lane(name))
  }
  await Promise.all(Array.from({ length: MAX_PARALLEL_LANES }, next))
  const rows = [{ name: 'installing peers', code: 0, seconds: installed }, ...lanes].map(
    ({ name, code, seconds }) => `${seconds.toFixed(0).padStart(8)} s  ${name}${code === 0 ? '' : ` failed (${code})`}`,
  )
  process.stdout.write(`\nlanes:\n${rows.join('\n')}\n`)
  return lanes.some(({ code }) => code !== 0) ? 1 : 0
}

const argv = process.argv.slice(2)
process.exitCode = argv.length === 0 ? await allLanes() : await vitest(argv, 'inherit').ended
