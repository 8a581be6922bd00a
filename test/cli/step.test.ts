import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, readdir, readFile, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { describe, expect, test } from 'vitest'
import { command } from '../kit/commands/command.js'
import { IRONSTAGE } from '../kit/commands/up-process.js'

const scratch = () => mkdtemp(join(tmpdir(), 'ironstage-step-'))
const json = (text: string) =>
  text
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, unknown>)

async function stepsFile(text: string, name = 'steps.ts'): Promise<string> {
  const file = join(await scratch(), name)
  await writeFile(file, text)
  return file
}

const GREET = `
import { defineStep, runCommand, StepError, type StepContext } from 'ironstage'
const greeting = async ({ target, signal, progress }: StepContext, to: string): Promise<void> => {
  progress.line(\`hello \${to}\`)
  await target.executor.files.write('/run/greeting', new TextEncoder().encode(to), { mode: 0o600 })
  await runCommand(target.executor, ['wipefs', '--all', '/dev/sdb'], { effect: 'writes', signal })
}
export const greet = defineStep({
  name: 'greet',
  interface: 'deploy',
  on: ['deploy', 'clean'],
  priority: { clean: 20 },
  args: {
    properties: {
      to: { type: 'string', description: 'Whom.' },
      fail: { enum: ['step', 'defect', 'program'], description: 'How.' },
    },
    required: ['to'],
  },
  run: async (context, { to, fail }) => {
    if (fail === 'step') throw new StepError('nobody to greet at http://me:hunter2@host/')
    if (fail === 'defect') (undefined as unknown as string).trim()
    if (fail === 'program') await runCommand(context.target.executor, ['false'], { effect: 'reads' })
    await greeting(context, to)
    return { greeted: to, password: 'hunter2', ignition: { ignition: { version: '3.4.0' } } }
  },
})
`

describe('ironstage step list and show', () => {
  test('list what an agent offers, with steps of a file', async () => {
    const list = command(['step', 'list', '--steps', await stepsFile(GREET)])
    expect(await list.ended, list.stderr).toBe(0)
    expect(list.stdout).toMatch(/^STEP +INTERFACE +RUNS IN +MANAGER\n/)
    expect(list.stdout).toMatch(/\ngreet +deploy +deploy, clean 20 +CustomHardwareManager\n/)
    expect(list.stdout).toMatch(/\ninstall_coreos +deploy +deploy +CoreOSInstallHardwareManager\n/)
  })

  test('--json gives one object a line', async () => {
    const list = command(['step', 'list', '--json'])
    expect(await list.ended).toBe(0)
    expect(json(list.stdout)).toContainEqual({
      ...{ step: 'erase_devices', interface: 'deploy', on: ['clean'], priority: { clean: 10 }, abortable: true },
      ...{ reboot_requested: false, argsinfo: {}, manager: 'GenericHardwareManager' },
    })
  })

  test('show what a step takes', async () => {
    const show = command(['step', 'show', 'greet', '--steps', await stepsFile(GREET)])
    expect(await show.ended, show.stderr).toBe(0)
    expect(show.stdout).toContain('deploy, on request')
    expect(show.stdout).toContain('clean, always, with priority 20')
    expect(show.stdout).toMatch(/to +string, required\n +Whom\.\n/)
    expect(show.stdout).toMatch(/fail +"step" or "defect" or "program"\n/)
    expect(show.stdout).toContain('{"step":"greet","interface":"deploy","args":{"to":"<string>"}}')
    const all = command(['step', 'show', 'install_coreos', '--json'])
    expect(await all.ended).toBe(0)
    expect(json(all.stdout)[0]).toMatchObject({ step: 'install_coreos', args: { properties: { ignition: {} } } })
  })
})

describe('ironstage step run', () => {
  test('runs a step on a new machine and prints what it gave, secrets masked', async () => {
    const argv = ['step', 'run', 'greet', '--target', 'sim', '--steps', await stepsFile(GREET)]
    const run = command([...argv, '--args', '{"to": "you"}'])
    expect(await run.ended, run.stderr).toBe(0)
    expect(run.stdout).toMatch(/^running greet on the simulated machine machine-1\n {2}\| hello you\ngreet is done, /)
    expect(JSON.parse(run.stdout.slice(run.stdout.indexOf('{')))).toEqual({
      ...{ greeted: 'you', password: '******', ignition: '******' },
    })
  })

  test('takes arguments from a file or standard input, and tells programs as JSON', async () => {
    const steps = await stepsFile(GREET)
    const file = join(await scratch(), 'args.json')
    await writeFile(file, '{"to": "file"}')
    for (const [args, stdin, to] of [
      [file, '', 'file'],
      ['-', '{"to": "pipe"}', 'pipe'],
    ] as const) {
      const run = command(['step', 'run', 'greet', '--steps', steps, '--args', args, '--json'], { stdin })
      expect(await run.ended, run.stderr).toBe(0)
      expect(json(run.stdout)).toMatchObject([
        { event: 'started', step: 'greet', plan: false },
        { event: 'line', line: `hello ${to}` },
        { event: 'result', result: { greeted: to } },
      ])
    }
  })

  test('--plan prints each write instead of doing it', async () => {
    const argv = ['step', 'run', 'greet', '--steps', await stepsFile(GREET), '--args', '{"to": "you"}', '--plan']
    const run = command(argv)
    expect(await run.ended, run.stderr).toBe(0)
    expect(run.stdout).toContain(
      '  would write /run/greeting, 3 bytes, mode 0600\n' +
        '  would run wipefs --all /dev/sdb\n' +
        'greet is planned; nothing was written\n',
    )
    const program = command([...argv, '--json'])
    expect(await program.ended).toBe(0)
    expect(json(program.stdout)).toContainEqual({
      ...{ event: 'planned', write: 'run', command: 'wipefs --all /dev/sdb', stdin_bytes: null },
    })
  })

  test('plans an installation without showing its config', async () => {
    const config = {
      ignition: { version: '3.4.0' },
      storage: { files: [{ path: '/x', contents: { source: 'data:,hunter2' } }] },
    }
    const args = JSON.stringify({ ignition: config, append_karg: ['quiet'] })
    const run = command(['step', 'run', 'install_coreos', '--plan', '--args', args])
    expect(await run.ended, run.stderr).toBe(0)
    expect(run.stdout).toMatch(/would write \/tmp\/ironic-\S+\.ign, \d+ bytes, mode 0600\n/)
    expect(run.stdout).toMatch(/would run coreos-installer install .*--append-karg quiet .*\/dev\/sda\n/)
    expect(run.stdout).not.toContain('hunter2')
  })

  test('on a machine of a state folder, whose disks it changes', async () => {
    const dir = join(await scratch(), 'state')
    const up = command(['up', '--port', '0', '--nodes', '2', '--state-dir', dir])
    await up.printed(/ready at/)
    up.stop()
    await up.ended
    const on = (id: string) => ['--state-dir', dir, '--machine', id]
    const looks = await stepsFile(`
      import { defineStep } from 'ironstage'
      import { readPartitions } from 'ironstage/steps'
      export default defineStep({
        ...{ name: 'looks', interface: 'deploy', on: ['clean'] },
        run: async ({ target, node, ports }) => ({
          node: node.name, macs: ports.map((port) => port.address),
          partitions: (await readPartitions(target, '/dev/sda')).partitions.length,
        }),
      })`)
    const look = async () => {
      const run = command(['step', 'run', 'looks', '--steps', looks, '--json', ...on('machine-2')])
      expect(await run.ended, run.stderr).toBe(0)
      return json(run.stdout).at(-1)!['result']
    }
    const mac = '52:54:00:00:00:04'
    expect(await look()).toEqual({ node: 'node-1', macs: [mac], partitions: 0 })
    const install = command(['step', 'run', 'install_coreos', ...on('machine-2')])
    expect(await install.ended, install.stderr).toBe(0)
    expect(await look()).toEqual({ node: 'node-1', macs: [mac], partitions: 4 })

    const unknown = command(['step', 'run', 'looks', '--steps', looks, ...on('machine-9')])
    expect(await unknown.ended).toBe(2)
    expect(unknown.stderr).toMatch(/has no machine machine-9\n {2}try: it has machine-1, machine-2\n/)
  })

  test.each<[string, string[], number, RegExp]>([
    ['a step that nobody offers', ['nothing'], 2, /there is no step nothing\n {2}try: there are .*greet/],
    [
      'an argument it lacks',
      ['greet'],
      2,
      /step greet is missing these required arguments: to \(Whom\.\)\n {2}try: see/,
    ],
    ['an argument too many', ['greet', '--args', '{"to":"x","at":1}'], 2, /unexpected arguments: at/],
    [
      'one of the wrong type',
      ['greet', '--args', '{"to":"x","fail":"hunter2"}'],
      2,
      /argument fail of step greet is not/,
    ],
    ['arguments that are no JSON', ['greet', '--args', '{to: hunter2}'], 2, /the JSON of --args is not JSON/],
    ['arguments that are not there on standard input', ['greet', '--args', '-'], 2, /the arguments in - are not JSON/],
    ['a file that is not there', ['greet', '--args', '/nope.json'], 2, /the arguments in \/nope\.json cannot be read/],
    ['a machine without its folder', ['greet', '--machine', 'x'], 2, /--state-dir and --machine go together/],
    ['a machine behind SSH without a disk', ['greet', '--target', 'ssh://me@host'], 2, /which disk of ssh:\/\/me@host/],
    ['no name', [], 2, /missing required argument 'NAME'/],
    [
      'a step that fails',
      ['greet', '--args', '{"to":"x","fail":"step"}'],
      1,
      /the step greet failed\n {2}because: nobody to greet at http:\/\/me:\*+@host\/\n/,
    ],
    [
      'a step with a defect',
      ['greet', '--args', '{"to":"x","fail":"defect"}'],
      1,
      /the step greet failed\n {2}because: Cannot read .*\n {2}try: look at \S+steps\.ts:22:\d+\n/,
    ],
    [
      'a program that fails',
      ['greet', '--args', '{"to":"x","fail":"program"}'],
      1,
      /the step greet failed\n {2}because: running false: it ended with exit code 1\n/,
    ],
  ])('%s', async (_, args, code, message) => {
    const run = command(['step', 'run', ...args, '--steps', await stepsFile(GREET)])
    expect(await run.ended, run.stdout + run.stderr).toBe(code)
    expect(run.stderr).toMatch(message)
    expect(run.stderr).not.toMatch(/hunter2|this is a defect/)
  })
})

describe('ironstage step new', () => {
  test.each([
    ['wipe-nvme', 'wipe-nvme', 'wipe_nvme', 'wipeNvme'],
    ['flash_bios_2', 'flash-bios-2', 'flash_bios_2', 'flashBios2'],
    ['delete', 'delete', 'delete', 'myDelete'],
    ['define-step', 'define-step', 'define_step', 'myDefineStep'],
  ])('%s makes %s.ts with the step %s', async (name, file, step, variable) => {
    const dir = join(await scratch(), 'new')
    const made = command(['step', 'new', name, '--dir', dir])
    expect(await made.ended, made.stderr).toBe(0)
    expect(await readdir(dir)).toEqual([`${file}.test.ts`, `${file}.ts`])
    expect(await readFile(join(dir, `${file}.ts`), 'utf8')).toContain(
      `export const ${variable} = defineStep({\n  name: '${step}'`,
    )
    const run = command(['step', 'run', step, '--steps', join(dir, `${file}.ts`), '--args', '{"note": "hi"}'])
    expect(await run.ended, run.stderr).toBe(0)
    expect(run.stdout).toContain('/dev/sda')
  })

  test('never writes over what is there', async () => {
    const dir = await scratch()
    await writeFile(join(dir, 'mine.test.ts'), 'mine')
    const made = command(['step', 'new', 'mine', '--dir', dir])
    expect(await made.ended).toBe(2)
    expect(made.stderr).toMatch(/mine\.test\.ts exists; .*mine\.ts was made before\n {2}try: choose another name/)
    expect(await readFile(join(dir, 'mine.test.ts'), 'utf8')).toBe('mine')
    expect(await command(['step', 'new', 'mine', '--dir', dir]).ended).toBe(2)
  })

  test.each([
    'Wipe',
    'wipe nvme',
    '-x',
    '9lives',
    'a--b',
    'a/b',
    '../a',
    'x'.repeat(61),
    'install_coreos',
    'erase-devices',
  ])('refuses the name %j', async (name) => {
    const dir = await scratch()
    const made = command(['step', 'new', '--dir', dir, '--', name])
    expect(await made.ended).toBe(2)
    expect(made.stderr).toMatch(/cannot be the name of a step|there is a step/)
    expect(await readdir(dir)).toEqual([])
  })
})

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

  test.each<[string, string | null, RegExp]>([
    ['is not there', null, /the steps file \S+ is not there\n {2}try: .*step new/],
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
    ['exports a bare definition', `export const a = ${bare('a')}`, /its export a looks like a step, but is none/],
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
    ['takes a standard name', `${from}export const a = ${made('install_coreos')}`, /install_coreos is already there/],
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
    const { loadManagers } = await import('../../runs/index.js')
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
