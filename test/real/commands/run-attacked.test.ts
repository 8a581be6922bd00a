import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { IRONSTAGE } from '../../kit/commands/up-process.js'
import { hostsYaml } from '../../kit/hardware-lab/hosts-yaml.js'
import { tool } from '../peers.js'

interface Terminal {
  onData(listener: (text: string) => void): void
  onExit(listener: (end: { exitCode: number }) => void): void
  write(text: string): void
}
interface Pty {
  spawn(program: string, args: string[], options: object): Terminal
}

let folder: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'ironstage-run-attacked-'))
  await writeFile(join(folder, 'node.ign'), '{"ignition":{"version":"3.4.0"}}')
  await writeFile(join(folder, 'hosts.yaml'), hostsYaml(6))
  const slow = { match: { program: 'coreos-installer' }, effect: { kind: 'delay', for: '3s' }, times: 1 }
  await writeFile(join(folder, 'slow.json'), JSON.stringify({ faults: [slow] }))
})
afterEach(() => rm(folder, { recursive: true, force: true }))

describe('a state folder on a disk that becomes full', () => {
  test.each([200, 500, 700, 900])('ends a rehearsal with a sentence: %i KiB', async (size) => {
    await mkdir(join(folder, 'small'))
    const run = `HOME=$1 exec "$2" "$3" run hosts.yaml --rehearse --state-dir small --json`
    const script = `cd "$1" && mount -t tmpfs -o size=${size}k none small && ${run}`
    const { code, stderr } = await tool('unshare', '-m', 'sh', '-c', script, 'sh', folder, process.execPath, IRONSTAGE)
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: expect.stringMatching(/^ironstage: .*\n {2}because: .*\n {2}try: /m) as string,
    })
    expect(stderr).not.toMatch(/defect of ironstage|^ +at |^\w*Error: /m)
  })
})

/** States that a run has stored, as far as they are there. */
async function statesOfHosts(state: string): Promise<{ outcome: string; steps: { runs: string[] } }[]> {
  const names = await readdir(join(state, 'hosts')).catch(() => [])
  const texts = names
    .filter((name) => name.endsWith('.json'))
    .map((name) => readFile(join(state, 'hosts', name), 'utf8'))
  return (await Promise.all(texts)).map((text) => JSON.parse(text) as { outcome: string; steps: { runs: string[] } })
}

describe('Ctrl-C at a terminal', () => {
  test.each([
    [1, 'finishing the started hosts', ['ok', 'running']],
    [2, 'stopping after the current stages', ['running']],
    [3, 'continue the run with: ironstage run hosts.yaml --rehearse --resume', null],
  ])('%i times is obeyed, and the run continues later', async (times, says, outcomes) => {
    const { spawn } = createRequire(import.meta.url)('node-pty') as Pty
    const argv = [IRONSTAGE, 'run', 'hosts.yaml', '--rehearse', '--parallel', '1', '--faults', 'slow.json']
    const env = { PATH: process.env['PATH'], HOME: folder, TERM: 'xterm' }
    const terminal = spawn(process.execPath, argv, { name: 'xterm', cols: 80, rows: 24, cwd: folder, env })
    let shown = ''
    terminal.onData((text) => (shown += text))
    const ended = new Promise<number>((resolve) => terminal.onExit(({ exitCode }) => resolve(exitCode)))
    let isOver = false
    void ended.then(() => (isOver = true))
    const until = async (pattern: RegExp) => {
      for (; !pattern.test(shown); expect(isOver, shown).toBe(false))
        await new Promise((resolve) => setTimeout(resolve, 10))
    }
    await until(/ steps /)
    const state = join(folder, 'hosts.state/rehearsal')
    // The installer's program is noted before it starts, and then takes seconds.
    const begun = async () => (await statesOfHosts(state)).some(({ steps }) => steps.runs.length > 0)
    while (!(await begun())) await new Promise((resolve) => setTimeout(resolve, 10))
    const answers = [/finishing the started hosts/, /stopping after the current stages/, /./]
    for (let n = 0; n < times; n++) {
      terminal.write('\x03')
      await until(answers[n]!)
    }
    const code = await ended
    expect(shown).toContain(says)
    expect(code).toBe(outcomes ? 1 : 130)
    if (outcomes) {
      const found = (await statesOfHosts(state)).map(({ outcome }) => outcome)
      expect([...new Set(found)].sort()).toEqual(outcomes)
    }
    const { id } = JSON.parse(await readFile(join(state, 'run.json'), 'utf8')) as { id: string }
    const words = ['-C', folder, `HOME=${folder}`, process.execPath, IRONSTAGE, 'run', 'attach', id, '--json']
    const next = await tool('env', ...words)
    expect(next.code, next.stderr).toBe(0)
    expect(next.stdout.match(/"event":"host","host":"node-\d","outcome":"ok"/g)?.length).toBeGreaterThan(2)
  })
})
