import { execFile } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { command } from '../../kit/commands/command.js'
import { debianProgram } from '../peers.js'

/** Completion in zsh and fish, and the manual page in man. `test/cli/completion.test.ts` tries bash. */

const run = promisify(execFile)
let folder: string

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'ironstage-shells-'))
  for (const name of ['zsh', 'fish']) {
    await debianProgram(name, name)
    const printed = command(['completion', name])
    expect(await printed.ended, printed.stderr).toBe(0)
    await writeFile(join(folder, `ironstage.${name}`), printed.stdout)
  }
  await debianProgram('man', 'man-db')
  await debianProgram('groff', 'groff-base')
  await writeFile(join(folder, 'hosts.yaml'), '')
}, 900_000)
afterAll(() => rm(folder, { recursive: true, force: true }))

const CASES = [
  { line: 'ironstage fault ', offers: ['add', 'lift faults', 'list'] },
  { line: 'ironstage iso kargs ', offers: ['modify', 'reset', 'show'] },
  { line: 'ironstage up --profile ', offers: ['metal3', 'openshift', 'upstream'] },
  { line: 'ironstage bmh explain ho', offers: ['hosts.yaml'] },
  { line: 'ironstage fault add --eff', offers: ['--effect'] },
]

test.each(CASES)('fish offers for "$line" $offers', async ({ line, offers }) => {
  const script = `source ironstage.fish; complete -C '${line}'`
  const { stdout, stderr } = await run('fish', ['--no-config', '-c', script], { cwd: folder })
  expect(stderr).toBe('')
  for (const one of offers) expect(stdout).toContain(one)
  expect(stdout).not.toContain('coreos-installer')
})

/** A zsh with a terminal, in which a user types a line and the key for completion. */
const TYPED = `
zmodload zsh/zpty
zpty shell "TERM=dumb zsh -f -i"
await() {
  local seen= part deadline=$((SECONDS + 30))
  while [[ $seen != *$1* ]] && (( SECONDS < deadline )); do
    if zpty -r -t shell part; then seen+=$part; else sleep 0.05; fi
  done
  print -r -- "$seen"
}
zpty -w shell 'autoload -U compinit; compinit -u -D; source ./ironstage.zsh; setopt no_beep no_list_ambiguous; print "RE""ADY"'
await READY >/dev/null
zpty -w -n shell "$1"$'\\t\\t'
await "$2"
zpty -d shell
`

test.each(CASES)('zsh offers for "$line" $offers', async ({ line, offers }) => {
  await writeFile(join(folder, 'typed.zsh'), TYPED)
  const { stdout } = await run('zsh', ['-f', 'typed.zsh', line, offers.at(-1)!], { cwd: folder })
  for (const one of offers) expect(stdout).toContain(one)
})

test('man shows the page without a complaint', async () => {
  const { stdout, stderr } = await run('man', ['--warnings', '-l', join(process.cwd(), 'dist/man/ironstage.1')], {
    env: { ...process.env, MANWIDTH: '80' },
  })
  expect(stderr).toBe('')
  expect(stdout).toMatch(/^ {3}ironstage fault add \[options\] \[FILE\.\.\.\]$/m)
  expect(stdout).toMatch(/^ {7}--effect KIND\[:KEY=VALUE,\.\.\.\]$/m)
})
