import { spawn } from 'node:child_process'
import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { blocks } from './guide.js'

const bundle = new URL('../../../dist/bundle/ironstage.js', import.meta.url).pathname

interface ShellGuideOptions {
  /** Language of blocks that show what the block before them prints. */
  shown: string
  /** Lines before those of the guide. */
  begin?: readonly string[]
  /** Makes a block fit this host: other ports, other URLs. */
  adapt: (text: string) => string
  /** Command lines of programs that a reader has, by name; `ironstage` is always there. */
  programs?: Readonly<Record<string, string>>
}

/** End of a guide that was run. */
interface Followed {
  code: number | null
  /** All that was printed by blocks whose output the guide does not show. */
  printed: string
  /** Outputs, as the guide shows them and as they were. */
  outputs: { name: string; shown: string; printed: string }[]
}

/**
 * Runs the blocks of a guide as one script of bash, in a folder of its own. What is in the background first is ended
 * after it. A named block is one whose output is shown; a block in YAML, and a named one in JSON, is a file.
 */
export async function followShellGuide(page: string, options: ShellGuideOptions): Promise<Followed> {
  const { shown, begin = [], adapt, programs = {} } = options
  const folder = await mkdtemp(join(tmpdir(), 'ironstage-guide-'))
  try {
    for (const [name, line] of Object.entries({ ironstage: `${process.execPath} ${bundle}`, ...programs })) {
      await writeFile(join(folder, name), `#!/bin/sh\nexec ${line} "$@"\n`)
      await chmod(join(folder, name), 0o755)
    }
    const script = ['set -euo pipefail', 'trap "kill \\$(jobs -p) 2>/dev/null || true; wait" EXIT', ...begin]
    const expected: { name: string; shown: string }[] = []
    let last = ''
    for (const { language, name, text } of blocks(page).filter(({ isRun }) => isRun)) {
      const own = adapt(text)
      if (language === 'sh') script.push(name === '' ? own : `{\n${own}\n} >${name}.out`)
      else if (language === 'yaml' || (language === 'json' && name !== '')) await writeFile(join(folder, name), own)
      else if (language === shown) expected.push({ name: last, shown: own })
      last = name
    }
    await writeFile(join(folder, 'guide.sh'), script.join('\n'))
    const run = spawn('bash', ['guide.sh'], {
      cwd: folder,
      env: { ...process.env, PATH: `${folder}:${process.env['PATH']}` },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    let printed = ''
    for (const stream of [run.stdout, run.stderr])
      stream.on('data', (part: Buffer) => void (printed += part.toString()))
    const code = await new Promise<number | null>((resolve) => run.once('close', resolve))
    const outputs = expected.map(async ({ name, shown: text }) => ({
      name,
      shown: text,
      printed: await readFile(join(folder, `${name}.out`), 'utf8').catch(() => ''),
    }))
    return { code, printed, outputs: await Promise.all(outputs) }
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}
