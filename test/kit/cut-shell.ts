import { mkdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect } from 'vitest'
import { randomUniform, type Clock, type Random } from '../../base/runtime/index.js'
import { LinkLost, SupervisedExecutor, type LoginShell, type SupervisedOptions } from '../../targets/index.js'

/** A login shell whose link is cut at random moments, a number of times. */
export interface CutShell extends LoginShell {
  /** Cuts that are still to come. */
  left(): number
}

/**
 * Cuts as links are cut: while a script is on its way to the target, so that only a part of it arrives, or at any later
 * moment.
 */
export function cutAtRandom(
  shell: LoginShell,
  { clock, random, cuts }: { clock: Clock; random: Random; cuts: number },
): CutShell {
  let left = cuts
  return {
    name: shell.name,
    alive: () => shell.alive(),
    left: () => left,
    open: async (line, options = {}) => {
      if (left === 0 || random.next() < 0.3) return shell.open(line, options)
      left--
      const { stdin = new Uint8Array() } = options
      const early = random.next() < 0.3
      const part = early ? stdin.subarray(0, Math.floor(random.next() * stdin.length)) : stdin
      const channel = await shell.open(line, { ...options, stdin: part })
      void clock.sleep(early ? 20 : randomUniform(random, 0, 120)).then(() => channel.cut())
      if (!early) return channel
      // However fast the shell is with what it got, how it ended does not come back over a link that is cut.
      const exit = channel.exit.then(() => Promise.reject(new LinkLost(`the link to ${shell.name} is cut`)))
      exit.catch(() => {})
      return { stdout: channel.stdout, stderr: channel.stderr, exit, cut: () => channel.cut() }
    },
  }
}

/** Starts a program again and again until there is no cut left; each must run once, and all that it says arrive. */
export async function runsOverCuts(shell: CutShell, options: Omit<SupervisedOptions, 'shell'> & { folder: string }) {
  const { folder } = options
  await mkdir(folder, { recursive: true })
  await using executor = new SupervisedExecutor({ shell, ...options })
  const program = 'read n; echo x >>"$0"; for l in 0 1 2 3 4 5 6 7; do echo "run $n line $l"; sleep 0.01; done; exit 7'
  for (let n = 0; shell.left() > 0; n++) {
    const run = await executor.start({
      argv: ['sh', '-c', program, join(folder, `count${n}`)],
      effect: 'writes',
      id: `run-${n}`,
      stdin: Buffer.from(`${n}\n`),
    })
    let out = ''
    for await (const chunk of run.output) out += Buffer.from(chunk.bytes).toString()
    const lines = Array.from({ length: 8 }, (_, line) => `run ${n} line ${line}\n`)
    expect({ out, exit: await run.exit }).toEqual({ out: lines.join(''), exit: { kind: 'exited', code: 7 } })
    expect(await readFile(join(folder, `count${n}`), 'utf8')).toBe('x\n')
  }
}
