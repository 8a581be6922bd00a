import { readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { COMMAND_OPTIONS, INSTALLER_COMMANDS } from '../../apps/cli/index.js'
import { temporaryFolder } from '../../base/runtime/index.js'
import { allCommands } from '../kit/commands/all-commands.js'
import { command } from '../kit/commands/command.js'

const TABLE = fileURLToPath(new URL('../../apps/cli/options/table', import.meta.url))

/** Commands whose options are those of the table; the installer's are the written exception. */
const tableCommands = allCommands().filter(({ path, runs }) => runs && !INSTALLER_COMMANDS.includes(path[0]!))

/** Names at the end of an option's help: `(IRONSTAGE_PORT)`, or `(IRONSTAGE_STREAM_PORT, key stream-port)`. */
const NAMED = /\(IRONSTAGE_(?<variable>[A-Z0-9_]+)(?:, key (?<key>[a-z0-9-]+))?\)$/

test.each(tableCommands.map(({ path, command: { options } }) => ({ words: path.join(' '), options })))(
  'each option of $words has its environment variable and its configuration key',
  ({ options }) => {
    const flags = options.filter(({ long }) => long !== '--config')
    expect(options.length - flags.length).toBe(1)
    for (const { long, description } of flags) {
      const { variable = '', key } = NAMED.exec(description)?.groups ?? {}
      const name = variable.toLowerCase().replaceAll('_', '-')
      expect({ long, name }).toEqual({ long, name: key ?? long!.slice('--'.length) })
      expect(Object.keys(COMMAND_OPTIONS)).toContain(name)
    }
  },
)

test('no option is in the table twice', async () => {
  const names: string[] = []
  for (const file of readdirSync(TABLE).filter((each) => each.endsWith('-shapes.ts'))) {
    const parts = (await import(join(TABLE, file))) as Record<string, object>
    for (const [name, part] of Object.entries(parts)) if (name.endsWith('_SHAPES')) names.push(...Object.keys(part))
  }
  expect([...names].sort()).toEqual(Object.keys(COMMAND_OPTIONS).sort())
})

test('each option of the table is one of a command', () => {
  const flags = new Set(tableCommands.flatMap(({ command: { options } }) => options.map(({ long }) => long)))
  const names = Object.entries(COMMAND_OPTIONS).map(([name, shape]) => `--${'flag' in shape ? shape.flag : name}`)
  expect(names.filter((flag) => !flags.has(flag))).toEqual([])
})

test('options of streams come from the environment and from a file', async () => {
  await using folder = await temporaryFolder()
  const config = join(folder.path, 'options.yaml')
  writeFileSync(config, 'offline: true\nmirror: http://mirror.example.org\ncache-dir: /nowhere\n')
  const downloads = async (variables: Record<string, string>) => {
    const run = command(['download'], { variables: { HOME: folder.path, ...variables } })
    return { code: await run.ended, stderr: run.stderr }
  }
  const forbidden = { code: 1, stderr: expect.stringContaining('--offline forbids downloads') as string }
  expect(await downloads({ IRONSTAGE_OFFLINE: 'true' })).toEqual(forbidden)
  expect(await downloads({ IRONSTAGE_CONFIG: config })).toEqual(forbidden)
  // The variable wins.
  expect(await downloads({ IRONSTAGE_CONFIG: config, IRONSTAGE_OFFLINE: 'false' })).toEqual({
    code: 1,
    stderr: expect.stringContaining('uses http, but https is required') as string,
  })
})

test('an option that means something else in another command has a variable of its own', async () => {
  const run = command(['stream', 'serve', '.'], { variables: { IRONSTAGE_PORT: '1', IRONSTAGE_STREAM_PORT: 'many' } })
  expect({ code: await run.ended, stderr: run.stderr }).toEqual({
    code: 2,
    stderr: 'ironstage: IRONSTAGE_STREAM_PORT is "many", which is not a whole number\n  try: --port 8080\n',
  })
})
