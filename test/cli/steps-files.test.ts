import { execFile } from 'node:child_process'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { describe, expect, test } from 'vitest'
import { command } from '../kit/commands/command.js'
import { GREET, json, scratch, stepsFile } from '../kit/commands/steps-file.js'
import { IRONSTAGE } from '../kit/commands/up-process.js'

describe('a file of steps', () => {
  const bare = (name: string) => `{ ...{ name: '${name}', interface: 'deploy', on: ['clean'] }, run: async () => null }`
  const made = (name: string) => `defineStep(${bare(name)})`
  const from = "import { defineStep } from 'ironstage'\n"

  test('may import its neighbours, export lists and managers, and be plain JavaScript or a package', async () => {
    const dir = await scratch()
    await writeFile(join(dir, 'one.ts'), `${from}export const one = ${made('one')}`)
    await writeFile(join(dir, 'two.mjs'), `${from}const two = ${made('two')}\nexport { two }\nexport default two`)
    const manager = `{ className: 'Mine', name: 'mine', version: '2', support: async () => 3, steps: [${made('three')}] }`
    await writeFile(
      join(dir, 'all.ts'),
      `${from}import { one } from './one.js'\nexport { two } from './two.mjs'\nexport const version = 3
       export const more = [one]\nexport const mine = ${manager}`,
    )
    const list = command(['step', 'list', '--steps', join(dir, 'all.ts'), '--steps', join(dir, 'one.ts'), '--json'])
    expect(await list.ended, list.stderr).toBe(0)
    const own = json(list.stdout).map(({ step, manager: of }) => `${String(of)} ${String(step)}`)
    expect(own.slice(0, 3).sort()).toEqual(['CustomHardwareManager one', 'CustomHardwareManager two', 'Mine three'])
  })

  test('may come with a package that imports ironstage by itself: its errors are known', async () => {
    const dir = await scratch()
    const own = join(dir, 'node_modules/their-steps')
    await mkdir(own, { recursive: true })
    await writeFile(join(own, 'package.json'), '{ "name": "their-steps", "type": "module", "exports": "./index.js" }')
    const entry = (name: string) => JSON.stringify(new URL(`../../dist/bundle/${name}.js`, import.meta.url).href)
    const step = (name: string, run: string) =>
      `export const ${name} = defineStep({ name: '${name}', interface: 'deploy', on: ['clean'], run: async () => { ${run} } })`
    await writeFile(
      join(own, 'index.js'),
      `import { defineStep, UserError } from ${entry('index')}
       import { BadStepArguments, StepError } from ${entry('steps')}
       ${step('fails', "throw new StepError('the flux is low', { type: 'FluxError' })")}
       ${step('refuses', "throw new BadStepArguments('more flux')")}
       ${step('advises', "throw new UserError('usage', 'no flux', { remedy: 'add some flux', kind: 'usage' })")}`,
    )
    const failure = async (step: string) => {
      const run = promisify(execFile)(process.execPath, [IRONSTAGE, 'step', 'run', step, '--steps', 'their-steps'], {
        cwd: dir,
      })
      const { code, stderr } = (await run.catch((error: unknown) => error)) as { code: number; stderr: string }
      return { code, stderr }
    }
    expect(await failure('advises')).toEqual({ code: 2, stderr: 'ironstage: no flux\n  try: add some flux\n' })
    expect(await failure('fails')).toEqual({
      code: 1,
      stderr: 'ironstage: the step fails failed\n  because: the flux is low\n',
    })
    expect(await failure('refuses')).toEqual({
      code: 2,
      stderr: 'ironstage: more flux\n  try: see what it takes with ironstage step show refuses --steps FILE\n',
    })
  })

  test.each<[string, string | null, RegExp]>([
    ['is not there', null, /the steps file \S+ does not exist\n {2}try: .*step new/],
    [
      'has a syntax error',
      'export const a: = 1',
      /cannot be loaded\n {2}because: Unexpected token\n {2}try: look at \S+steps\.ts:1:16/,
    ],
    [
      'imports what is not there',
      "import './gone.js'\nexport const a = 1",
      /because: Cannot find module '\.\/gone\.js'/,
    ],
    ['throws', '\nthrow new Error("no luck")', /because: no luck\n {2}try: look at \S+steps\.ts:2:7/],
    [
      'exports nothing of use',
      'export const a = 1',
      /exports neither a step nor a hardware manager\n {2}try: export what/,
    ],
    ['is empty', '', /exports neither a step nor a hardware manager/],
    ['exports a bare definition', `export const a = ${bare('a')}`, /its export a looks like a step, but is not one/],
    [
      'has a step without a name',
      `${from}export const a = ${made('')}`,
      /steps\.ts: a step has no name\n {2}try: give it/,
    ],
    [
      'has two steps of a name',
      `${from}export const a = ${made('x')}, b = ${made('x')}`,
      /there are two steps x in Custom/,
    ],
    ['takes a standard name', `${from}export const a = ${made('install_coreos')}`, /install_coreos already exists/],
  ])('that %s is refused', async (_, text, message) => {
    const file = text === null ? join(await scratch(), 'steps.ts') : await stepsFile(text)
    for (const argv of [
      ['step', 'list'],
      ['up', '--port', '0'],
      ['deploy', '--disk-file', '/nope/never-made.img'],
    ]) {
      const run = command([...argv, '--steps', file])
      expect(await run.ended).toBe(2)
      expect(run.stderr).toMatch(message)
      expect(run.stderr).not.toContain('this is a defect')
    }
  })

  test('in a package is found from the folder one is in', async () => {
    const dir = await scratch()
    const folder = join(dir, 'node_modules', 'our-steps')
    await mkdir(folder, { recursive: true })
    await writeFile(join(folder, 'package.json'), '{"name": "our-steps", "type": "module", "exports": "./index.js"}')
    await writeFile(join(folder, 'index.js'), `${from}export const packed = ${made('packed')}`)
    const { loadManagers } = await import('../../apps/runs/index.js')
    const [custom] = await loadManagers(['our-steps'], dir)
    expect(custom!.steps.map(({ name }) => name)).toEqual(['packed'])
    await expect(loadManagers(['other-steps'], dir)).rejects.toThrow(/neither a steps file nor a package other-steps/)
  })

  test('in TypeScript is read by the command as it is installed, whatever this Node reads by itself', async () => {
    const argv = [
      IRONSTAGE,
      'step',
      'run',
      'greet',
      '--steps',
      await stepsFile(GREET),
      '--args',
      '{"to": "x"}',
      '--plan',
    ]
    const { stdout } = await promisify(execFile)(process.execPath, argv, { cwd: await scratch() })
    expect(stdout).toContain('  would run wipefs --all /dev/sdb\n')
  })

  test('is of the machine, so it is refused with --ironic-url', async () => {
    const run = command(['deploy', '--ironic-url', 'http://127.0.0.1:1', '--steps', await stepsFile(GREET)])
    expect(await run.ended).toBe(2)
    expect(run.stderr).toContain('--steps cannot be used with --ironic-url')
  })
})
