/** Names of a new step: of its files, of the step, and of its variable. */
export interface StepNames {
  /** `wipe-nvme` */
  file: string
  /** `wipe_nvme` */
  step: string
  /** `wipeNvme` */
  variable: string
}

/** A step that works: it reads, takes arguments, writes a file and runs a program. */
export const stepSource = ({ step, variable }: StepNames): string => `import { defineStep } from 'ironstage'
import { runCommand } from 'ironstage/steps'

/** Writes a note into the ramdisk and reports the disks of the machine. */
export const ${variable} = defineStep({
  name: '${step}',
  interface: 'deploy',
  on: ['deploy', 'clean'],
  args: {
    properties: {
      note: { type: 'string', minLength: 1, description: 'What to leave in the note.' },
      times: { type: 'integer', minimum: 1, default: 1, description: 'How often to say it.' },
    },
    required: ['note'],
  },
  run: async ({ target, hardware, progress, logger, signal }, { note, times }) => {
    progress.stage('looking at the disks')
    const disks = await hardware.blockDevices()
    logger('info', \`\${target.name} has \${disks.length} disks\`)

    progress.stage('leaving the note')
    const text = new TextEncoder().encode(\`\${note}\\n\`.repeat(times))
    await target.executor.files.write('/run/${step}.note', text)
    await runCommand(target.executor, ['sync'], { effect: 'writes', signal })
    return { disks: disks.map((disk) => disk.name) }
  },
})
`

/** Test of the new step: a whole deployment, and one that is refused. */
export const testSource = ({ file, step, variable }: StepNames): string => `import { createLab } from 'ironstage'
import { managersWith } from 'ironstage/steps'
import { expect, test } from 'vitest'
import { ${variable} } from './${file}.js'

const asked = (args: Record<string, unknown>) => ({ step: '${step}', interface: 'deploy', priority: 50, args }) as const

test('${step} runs in a deployment', async () => {
  await using lab = await createLab({ managers: managersWith(${variable}) })
  const node = await lab.enroll({ deploySteps: [asked({ note: 'hello' })] })
  const stages: string[] = []
  lab.events.listen((event) => {
    if (event.kind !== 'progress' || event.step !== '${step}') return
    if ('stage' in event.progress) stages.push(event.progress.stage)
  })

  await node.deploy()

  expect(await node.settled()).toMatchObject({ provision_state: 'active', last_error: null })
  expect(stages).toEqual(['looking at the disks', 'leaving the note'])
})

test('${step} refuses arguments that it does not take', async () => {
  await using lab = await createLab({ managers: managersWith(${variable}) })
  const node = await lab.enroll({ deploySteps: [asked({ note: '' })] })

  await node.deploy()

  expect(await node.settled()).toMatchObject({
    provision_state: 'deploy failed',
    last_error: expect.stringContaining('argument note of step ${step} is not valid'),
  })
})
`
