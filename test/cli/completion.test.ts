import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { describeProgram, flatCommands, manualPage } from '../../apps/cli/index.js'
import { command } from '../kit/commands/command.js'

const run = promisify(execFile)
const commands = flatCommands(describeProgram())

async function scriptOf(shell: string): Promise<string> {
  const printed = command(['completion', shell])
  expect(await printed.ended, printed.stderr).toBe(0)
  return printed.stdout
}

describe('in bash', () => {
  let folder: string
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'ironstage-completion-'))
    await writeFile(join(folder, 'ironstage.bash'), await scriptOf('bash'))
    await mkdir(join(folder, 'a folder'))
    await writeFile(join(folder, 'hosts.yaml'), '')
  })
  afterAll(() => rm(folder, { recursive: true, force: true }))

  /** Words that bash offers for the last of these words, as it cuts a line into words. */
  async function offered(...words: string[]): Promise<string[]> {
    const quoted = words.map((word) => `'${word}'`).join(' ')
    const lines = [
      'source ./ironstage.bash',
      `COMP_WORDS=(ironstage ${quoted}) COMP_CWORD=${words.length}`,
      '_ironstage',
      'if [ ${#COMPREPLY[@]} -gt 0 ]; then printf "%s\\n" "${COMPREPLY[@]}"; fi',
    ]
    const { stdout, stderr } = await run('bash', ['--norc', '-uc', lines.join('\n')], { cwd: folder })
    expect(stderr).toBe('')
    return stdout.split('\n').slice(0, -1)
  }

  test.each([
    { words: ['fau'], gives: ['fault'] },
    { words: ['fault', ''], gives: ['list', 'add', 'lift'] },
    { words: ['iso', 'kargs', ''], gives: ['modify', 'reset', 'show'] },
    { words: ['fault', 'add', '--ef'], gives: ['--effect'] },
    { words: ['up', '--profile', ''], gives: ['metal3', 'openshift', 'upstream'] },
    { words: ['up', '--profile', '=', ''], gives: ['metal3', 'openshift', 'upstream'] },
    { words: ['up', '--profile', '='], gives: ['metal3', 'openshift', 'upstream'] },
    { words: ['up', '--ironic-release', '2025'], gives: ['2025.1', '2025.2'] },
    { words: ['deploy', '--allow', 'po'], gives: ['power'] },
    { words: ['up', '--state-dir', ''], gives: ['a folder'] },
    { words: ['up', '--state-dir', 'h'], gives: [] },
    { words: ['up', '--hosts', 'ho'], gives: ['hosts.yaml'] },
    { words: ['bmh', 'explain', 'ho'], gives: ['hosts.yaml'] },
    { words: ['up', '--port', ''], gives: [] },
    { words: ['up', '--banana'], gives: [] },
    { words: ['banana', '--he'], gives: ['--help'] },
  ])('$words', async ({ words, gives }) => {
    expect(await offered(...words)).toEqual(gives)
  })

  test('every command and every option is offered', async () => {
    expect(await offered('')).toEqual(commands[0]!.below.map(({ path }) => path[1]))
    const some = commands.filter(({ options }) => options.length > 0)
    expect(some.length).toBeGreaterThan(60)
    const script = await readFile(join(folder, 'ironstage.bash'), 'utf8')
    for (const { path, options } of commands) {
      const line = script.split('\n').find((one) => one.startsWith(`  '${path.join(' ')}') REPLY=`))
      const words = line!.split("REPLY='")[1]!.split(/[ ']/)
      expect(words).toEqual(expect.arrayContaining(options.map(({ flag }) => flag)))
    }
  })
})

test.each(['zsh', 'fish'])('the script for %s has every command and every option', async (shell) => {
  const script = await scriptOf(shell)
  for (const { path, options, below } of commands) {
    expect(script).toContain(path.join(' '))
    for (const { flag } of options) expect(script).toContain(shell === 'zsh' ? flag : flag.replace(/^--?/, ''))
    for (const { description } of below)
      expect(script).toContain(description.replaceAll("'", shell === 'zsh' ? "'\\''" : "\\'"))
  }
})

test.each([
  { shell: 'powershell', remedy: 'ironstage completion bash' },
  { shell: 'fishy', remedy: 'ironstage completion fish' },
  { shell: 'constructor', remedy: 'ironstage completion bash' },
])('there is none for $shell', async ({ shell, remedy }) => {
  const refused = command(['completion', shell])
  expect(await refused.ended).toBe(2)
  expect(refused.stderr).toContain(`there is no completion for ${shell}, only for bash, zsh, fish`)
  expect(refused.stderr).toContain(remedy)
})

describe('the manual page', () => {
  const page = manualPage(describeProgram(), '1.2.3')
  const text = page.replaceAll('\\-', '-').replaceAll('\\(dq', '"')

  test('has every command with its options', () => {
    const sections = new Map(
      text
        .split('\n.SS ')
        .slice(1)
        .map((section) => [/^"(ironstage[a-z0-9 -]*?) (\[|<|")/.exec(section)?.[1] ?? section.slice(0, 40), section]),
    )
    for (const { path, options } of commands.slice(1)) {
      const section = sections.get(path.join(' '))
      expect(section, path.join(' ')).toBeDefined()
      for (const { flag } of options) expect(section).toContain(flag)
    }
  })

  test('has no line that man would take for a request of its own', () => {
    const known = /^\.(TH|SH|SS|TP|B|I)( |$)/
    expect(page.split('\n').filter((line) => /^[.']/.test(line) && !known.test(line))).toEqual([])
    expect(page).toMatch(/^\.TH IRONSTAGE 1 "" "ironstage 1\.2\.3"/)
  })

  test('is built for the package', async () => {
    const { version, man } = JSON.parse(await readFile('package.json', 'utf8')) as { version: string; man: string }
    expect(await readFile(man, 'utf8')).toBe(manualPage(describeProgram(), version))
  })
})
