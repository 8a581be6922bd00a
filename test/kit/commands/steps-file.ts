import { mkdtemp, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** A new folder. */
export const scratch = (): Promise<string> => mkdtemp(join(tmpdir(), 'ironstage-step-'))

/** The lines that a command has printed for programs. */
export const json = (text: string): Record<string, unknown>[] =>
  text
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, unknown>)

/** A file of steps with this text; gives its path. */
export async function stepsFile(text: string, name = 'steps.ts'): Promise<string> {
  const file = join(await scratch(), name)
  await writeFile(file, text)
  return file
}

/** A step that writes a file and a disk, and that fails as its arguments say. */
export const GREET = `
import { defineStep, type StepContext } from 'ironstage'
import { runCommand, StepError } from 'ironstage/steps'
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
