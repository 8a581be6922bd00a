import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { KEYS_OF_OPTIONS } from '../apps/hardware-lab/index.js'
import { allCommands } from './kit/commands/all-commands.js'
import { ReachableTexts, type NamedOption } from './kit/messages/named-options.js'
import { sourceFiles } from './kit/source-tree.js'

/** Each option in a message exists for the command that may print it: people type it. */

const root = fileURLToPath(new URL('..', import.meta.url))
const known = allCommands()
const optionsOf = new Map(known.map(({ path, command }) => [path.join(' '), command.options.map(({ long }) => long)]))
/** These tell their hosts' targets in a file. */
for (const run of ['run', 'run attach']) optionsOf.get(run)!.push(...Object.keys(KEYS_OF_OPTIONS))

/** Options of other programs: `butane --strict`, `losetup --list`. */
const OF_OTHER_PROGRAMS = /\b(butane|unshare|kubectl|losetup|npm install|skopeo|userhelper)\b|: use --badname/

interface Unreachable {
  commands: RegExp
  /** Files whose texts these commands do not print, although they use functions there. */
  files: RegExp
}

/** Texts that depend on what a command never has. */
const UNREACHABLE: readonly Unreachable[] = [
  // It says what another command would need.
  { commands: /^doctor$/, files: /^targets\/(supervised\/upload|confinement\/confinement|local\/installer)\.ts$/ },
  // Their labs and machines are in memory, and have neither a state folder nor a cache nor live images.
  {
    commands: /^(deploy|rehearse upgrade|bmh explain|hardware export|chaos)$/,
    files: /^(lab\/(errors|state\/state-folder)|base\/runtime\/database\/database-errors|steps\/images\/.*)\.ts$/,
  },
  { commands: /^(fleet|run|run attach|rehearse upgrade|agent|step run)$/, files: /^lab\/(errors|control\/.*)\.ts$/ },
  // Without options that forbid or allow servers.
  { commands: /./, files: /^(apps\/cli\/options\/(cache-request|resolve-options)|coreos\/download-policy)\.ts$/ },
  // They download nothing.
  { commands: /^cache /, files: /^steps\/images\/download-file\.ts$/ },
  // The URL of the Ironic is known.
  { commands: /^up$/, files: /^apps\/cli\/commands\/ignition-agent\.ts$/ },
  // The folders of machine-os-images that it makes have all that is asked for.
  { commands: /^rehearse upgrade$/, files: /^coreos\/(errors|machine-os\/image-content)\.ts$/ },
  // A run has no image to stage, no disk to make, and refuses the built-in installer itself.
  {
    commands: /^run( attach)?$/,
    files:
      /^(targets\/(supervised\/upload|local\/installer)|apps\/runs\/targets\/real-target|machine\/errors|apps\/runs\/one-machine)\.ts$/,
  },
  // The contradictions of `run` are those of its own options; attaching names none.
  {
    commands: /^run attach$/,
    files:
      /^(apps\/cli\/commands\/run-hosts-command|apps\/hardware-lab\/pipeline\/earlier-run|apps\/hardware-lab\/ironic\/host-node)\.ts$/,
  },
]

/** The function of each command, by its words: `const { up } = await import('./commands/up.js')` stands beside them. */
function functionsOfCommands(): Map<string, { file: string; name: string }> {
  const found = new Map<string, { file: string; name: string }>()
  const pieces = /usage: '(?<usage>[^']+)'|const \{ (?<name>\w+) \} = await import\('(?<path>[^']+)'\)/g
  const tables = sourceFiles(root).filter((file) => /^apps\/cli\/.*(commands|command-table)\.ts$/.test(file))
  for (const file of tables) {
    let words = ''
    for (const { groups = {} } of readFileSync(join(root, file), 'utf8').matchAll(pieces)) {
      const { usage, name, path } = groups
      if (usage !== undefined) words = usage.replace(/ \[?[A-Z].*$/, '')
      else found.set(words, { file: join(dirname(file), path!.replace(/\.js$/, '.ts')), name: name! })
    }
  }
  return found
}

const functions = functionsOfCommands()
const texts = new ReachableTexts(root)

/** True if a command may name an option in a text: its own, or one of the command that the text names. */
function isThere(words: string, { file, text, option }: NamedOption): boolean {
  const named = /\bironstage ([a-z]+(?: [a-z]+)?)/.exec(text)?.[1] ?? ''
  const candidates = [words, named, named.split(' ')[0]!]
  if (candidates.some((each) => optionsOf.get(each)?.includes(option))) return true
  // Another command's, in so many words.
  const isOfOthers = /if the command has|--advertise of a fleet/.test(text)
  if (isOfOthers || OF_OTHER_PROGRAMS.test(text)) return true
  return UNREACHABLE.some(({ commands, files }) => commands.test(words) && files.test(file))
}

test('the functions of all commands are found', () => {
  const running = known.filter(({ runs }) => runs).map(({ path }) => path.join(' '))
  // Commands on live images have coreos-installer's own options.
  expect(running.filter((words) => !functions.has(words) && !/^(iso|pxe) /.test(words))).toEqual([])
  const found = texts
    .from('apps/cli/commands/run-hosts-command.ts', 'run')
    .map(({ option, file }) => `${option} of ${file}`)
  // In the file of the command, and rooms below.
  expect(found).toContain('--seed of apps/cli/commands/run-hosts-command.ts')
  expect(found).toContain('--resume of apps/hardware-lab/pipeline/earlier-run.ts')
})

test.each([...functions])('each option that a message of %s names is there', (words, { file, name }) => {
  const wrong = texts.from(file, name).filter((one) => !isThere(words, one))
  expect(wrong.map(({ file: at, option, text }) => `${at}: ${option} in ${JSON.stringify(text)}`)).toEqual([])
})

test('each option in the catalogues of errors is one of a command', () => {
  const every = new Set(['--help', ...[...optionsOf.values()].flat()])
  const wrong = texts.inCatalogues().filter(({ option, text }) => !every.has(option) && !OF_OTHER_PROGRAMS.test(text))
  expect(wrong).toEqual([])
})
