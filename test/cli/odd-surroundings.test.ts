import { execFileSync, spawn } from 'node:child_process'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { command } from '../kit/commands/command.js'
import { IRONSTAGE } from '../kit/commands/up-process.js'

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'ironstage-odd-'))
})
afterAll(() => rm(folder, { recursive: true, force: true }))

/** Parts of every refusal: a sentence and what to do, and no stack of a defect. */
function expectSentence(stderr: string): void {
  expect(stderr).toMatch(/^ironstage: ./m)
  expect(stderr).toMatch(/^ {2}try: ./m)
  expect(stderr).not.toMatch(/defect of ironstage|^ +at |node:internal|Maximum call stack|is not a function/m)
}

async function refused(...argv: string[]): Promise<{ code: number; stderr: string }> {
  const run = command(argv)
  const code = await run.ended
  expectSentence(run.stderr)
  return { code, stderr: run.stderr }
}

/** The built command in a shell, with limits of its own. */
function inShell(line: string, variables: Record<string, string> = {}): Promise<{ code: number; stderr: string }> {
  return new Promise((resolve) => {
    const child = spawn('bash', ['-c', line.replaceAll('IRONSTAGE', `'${process.execPath}' '${IRONSTAGE}'`)], {
      env: { ...process.env, ...variables },
      stdio: ['ignore', 'ignore', 'pipe'],
      cwd: folder,
    })
    let stderr = ''
    child.stderr.on('data', (piece: Buffer) => (stderr += piece.toString()))
    child.on('close', (code) => resolve({ code: code ?? -1, stderr }))
  })
}

describe('surroundings that refuse', () => {
  test('a folder for temporary files that is missing', async () => {
    const { code, stderr } = await inShell('IRONSTAGE deploy', { TMPDIR: join(folder, 'none') })
    expectSentence(stderr)
    expect({ code, stderr }).toMatchObject({ code: 1, stderr: expect.stringContaining('TMPDIR') as string })
  })

  test('a limit of open files that is too low', async () => {
    const { code, stderr } = await inShell('ulimit -n 20; IRONSTAGE deploy')
    expectSentence(stderr)
    expect({ code, stderr }).toMatchObject({ code: 1, stderr: expect.stringContaining('ulimit -n') as string })
  })
}, 60_000)

describe('files that are none', () => {
  test.each([
    ['deploy', '--ignition', '/dev/zero'],
    ['up', '--faults', '/dev/urandom'],
    ['up', '--hardware', '/dev/zero'],
    ['up', '--config', '/dev/zero'],
    ['bmh', 'explain', '/dev/zero'],
    ['fault', 'add', '/dev/zero'],
  ])('are refused: %s %s %s', async (...argv) => {
    expect((await refused(...argv)).stderr).toContain('has more than')
  })

  test.each(['VERSION', 'lock', 'ironic.db', 'machines.db', 'remembered.jsonl', 'kube-objects.jsonl'])(
    'a pipe instead of %s',
    async (name) => {
      const state = join(folder, `state-${name}`)
      await mkdir(state)
      if (name !== 'VERSION') await writeFile(join(state, 'VERSION'), 'ironstage 1\n')
      execFileSync('mkfifo', [join(state, name)])
      const { code, stderr } = await refused('up', '--port', '0', '--state-dir', state)
      expect({ code, stderr }).toMatchObject({ stderr: expect.stringContaining(`${name} is a pipe`) as string })
      await refused('state', 'check', '--state-dir', state)
    },
  )

  test('a pipe of the shell and /dev/stdin are read', async () => {
    const config = '{"ignition":{"version":"3.4.0"}}'
    for (const line of [
      `IRONSTAGE ignition validate <(sleep 0.2; echo '${config}')`,
      `echo '${config}' | IRONSTAGE ignition validate /dev/stdin`,
    ])
      expect(await inShell(line)).toEqual({ code: 0, stderr: '' })
  }, 60_000)
})

describe('names that every object has', () => {
  const NAMES = ['constructor', 'toString', '__proto__', 'hasOwnProperty', 'valueOf']

  test.each(NAMES)('%s is refused as an unknown name', async (name) => {
    for (const set of [`${name}.x=1`, `DEFAULT.${name}=1`, `conductor.${name}=1`])
      expect((await refused('up', '--port', '0', '--set', set)).code).toBe(2)
    const config = join(folder, `${name}.yaml`)
    await writeFile(config, `nodes: 1\n${name}: 1\n`)
    const { code, stderr } = await refused('up', '--port', '0', '--config', config)
    expect({ code, stderr }).toMatchObject({
      code: 2,
      stderr: expect.stringContaining(`unknown key ${name}`) as string,
    })
    await refused('fault', 'add', '--effect', name)
    await refused('errors', name)
    await refused('step', 'run', name)
    await refused('rehearse', 'upgrade', name)
    await refused('rehearse', 'upgrade', '--without', name)
  })

  test('a file system of Ignition', async () => {
    const filesystems = [{ device: '/dev/sda1', format: 'constructor' }]
    const config = join(folder, 'format.ign')
    await writeFile(config, JSON.stringify({ ignition: { version: '3.4.0' }, storage: { filesystems } }))
    const run = command(['ignition', 'validate', config])
    expect(await run.ended).toBe(1)
    expect(run.stdout).toContain('invalid filesystem format')
  })
})

describe('documents that are nested too deeply', () => {
  test.each([
    ['up', '--config'],
    ['up', '--faults'],
    ['up', '--hosts'],
    ['up', '--hardware'],
    ['bmh', 'explain'],
    ['run'],
    ['step', 'run', 'erase_devices_metadata', '--args'],
    ['fleet', '--hardware'],
    ['rehearse', 'upgrade'],
  ])('are refused by %s %s', async (...argv) => {
    const lists = join(folder, 'lists.yaml')
    await writeFile(lists, `{"a": ${'['.repeat(100_000)}${']'.repeat(100_000)}}`)
    const maps = join(folder, 'maps.yaml')
    await writeFile(maps, Array.from({ length: 3000 }, (_, level) => `${' '.repeat(level)}a:`).join('\n'))
    for (const file of [lists, maps]) {
      const run = command([...argv, file])
      expect(await run.ended).not.toBe(0)
      expect(run.stderr).not.toMatch(/defect of ironstage|Maximum call stack/)
    }
  })
})

test('an example of the pages is found in any folder', async () => {
  const { stderr } = await inShell('IRONSTAGE fault add examples/bad-day.yaml --url http://127.0.0.1:1')
  expectSentence(stderr)
  expect(stderr).not.toContain('bad-day')
  const own = await inShell('IRONSTAGE fault add examples/nothing.yaml --url http://127.0.0.1:1')
  expect(own.stderr).toContain('the file of faults examples/nothing.yaml cannot be read')
})
