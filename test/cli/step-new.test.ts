import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { command } from '../kit/commands/command.js'
import { scratch } from '../kit/commands/steps-file.js'

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

  test('says first what its test needs and the folder does not have', async () => {
    const made = command(['step', 'new', 'wipe-nvme', '--dir', await scratch()])
    expect(await made.ended, made.stderr).toBe(0)
    expect(made.stdout).toMatch(/^ {2}first: {5}npm install --save-dev --ignore-scripts \/\S+ vitest$/m)
  })

  test('names itself as it was called', async () => {
    const dir = await scratch()
    const by = async (name: string, variables: Record<string, string>) => {
      const made = command(['step', 'new', name, '--dir', dir], { variables })
      expect(await made.ended, made.stderr).toBe(0)
      return /serve it: {2}(.*) up/.exec(made.stdout)?.[1]
    }
    expect(await by('first', {})).toBe('ironstage')
    expect(await by('second', { npm_command: 'exec' })).toBe('npx ironstage')
  })

  test('says nothing of packages that the folder has', async () => {
    const project = await scratch()
    for (const name of ['ironstage', 'vitest']) {
      await mkdir(join(project, 'node_modules', name), { recursive: true })
      await writeFile(join(project, 'node_modules', name, 'package.json'), JSON.stringify({ name, version: '0.1.0' }))
      await writeFile(join(project, 'node_modules', name, 'index.js'), '')
    }
    const installed = command(['step', 'new', 'mine', '--dir', join(project, 'steps')])
    expect(await installed.ended).toBe(0)
    expect(installed.stdout).not.toContain('npm install')
  })

  test('never writes over what is there', async () => {
    const dir = await scratch()
    await writeFile(join(dir, 'mine.test.ts'), 'mine')
    const made = command(['step', 'new', 'mine', '--dir', dir])
    expect(await made.ended).toBe(2)
    expect(made.stderr).toMatch(/mine\.test\.ts exists\n {2}try: choose another name/)
    expect(await readdir(dir)).toEqual(['mine.test.ts'])
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
