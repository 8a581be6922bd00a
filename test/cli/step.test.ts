import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { command } from '../kit/commands/command.js'
import { GREET, json, scratch, stepsFile } from '../kit/commands/steps-file.js'

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
      step: 'erase_devices',
      interface: 'deploy',
      on: ['clean'],
      priority: { clean: 10 },
      abortable: true,
      reboot_requested: false,
      argsinfo: {},
      manager: 'GenericHardwareManager',
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
      greeted: 'you',
      password: '******',
      ignition: '******',
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
      event: 'planned',
      write: 'run',
      command: 'wipefs --all /dev/sdb',
      stdin_bytes: null,
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
    ['arguments that are not JSON', ['greet', '--args', '{to: hunter2}'], 2, /the JSON of --args is not JSON/],
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
      /the step greet failed\n {2}because: Cannot read .*\n {2}try: look at \S+steps\.ts:23:\d+\n/,
    ],
    [
      'a program that fails',
      ['greet', '--args', '{"to":"x","fail":"program"}'],
      1,
      /the step greet failed\n {2}because: running false: it ended with exit code 1\n/,
    ],
  ])('refuses %s', async (_, args, code, message) => {
    const run = command(['step', 'run', ...args, '--steps', await stepsFile(GREET)])
    expect(await run.ended, run.stdout + run.stderr).toBe(code)
    expect(run.stderr).toMatch(message)
    expect(run.stderr).not.toMatch(/hunter2|this is a defect/)
  })
})
