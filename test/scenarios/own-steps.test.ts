import { mkdtemp, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { createLab, installCoreos, type LabNode } from '../../lab/index.js'
import { loadManagers } from '../../apps/runs/index.js'
import type { RequestedStep } from '../../base/wire/index.js'
import { systemClock } from '../../base/runtime/index.js'
import { HttpTransport, IronicClient } from '../../base/wire/index.js'
import { command } from '../kit/commands/command.js'
import { ignition } from '../kit/deployed.js'

const SOURCE = `
import { defineStep } from 'ironstage'
import { runCommand, StepError } from 'ironstage/steps'

export const labelDisk = defineStep({
  name: 'label_disk',
  interface: 'deploy',
  on: ['deploy', 'clean'],
  priority: { clean: 5 },
  args: {
    properties: {
      label: { type: 'string', pattern: '^[a-z]+$', default: 'unnamed', description: 'Name of the partition.' },
      sizes: { type: 'array', items: { type: 'integer' }, description: 'Sizes of more partitions, in MiB.' },
    },
  },
  run: async ({ target, hardware, progress, signal }, { label, sizes = [] }) => {
    if (label === 'bad') throw new StepError('nothing can be called bad')
    const disk = (await hardware.blockDevices()).at(-1)!
    progress.stage(\`labelling \${disk.name}\`)
    await runCommand(target.executor, ['sgdisk', '--zap-all', disk.name], { effect: 'writes', signal })
    for (const [index, size] of [16, ...sizes].entries())
      await runCommand(
        target.executor,
        ['sgdisk', '-n', \`\${index + 1}:0:+\${size}M\`, '-c', \`\${index + 1}:\${label}\`, disk.name],
        { effect: 'writes', signal },
      )
    progress.stage(\`labelled \${label}\`)
    return { disk: disk.name, booted: await hardware.bootMode() }
  },
})
`

async function stepsFile(): Promise<string> {
  const file = join(await mkdtemp(join(tmpdir(), 'ironstage-own-')), 'label-disk.ts')
  await writeFile(file, SOURCE)
  return file
}

const asked = (args: Record<string, unknown>): RequestedStep => ({
  step: 'label_disk',
  interface: 'deploy',
  priority: 90,
  args,
})

/** A lab whose agents have the file's steps, a node in it, and the stages that its step told. */
async function labWith(deploySteps: RequestedStep[]) {
  const lab = await createLab({ managers: await loadManagers([await stepsFile()]) })
  const node = await lab.enroll({ deploySteps })
  const stages: string[] = []
  lab.events.listen((event) => {
    if (event.kind === 'progress' && event.step === 'label_disk' && 'stage' in event.progress)
      stages.push(event.progress.stage)
  })
  return { lab, node, stages }
}

const settledAfterDeploy = async (node: LabNode) => {
  await node.deploy()
  return node.settled()
}

describe('one file of steps', () => {
  test('in a lab: its step cleans by its own priority, and deploys when asked, before the installation', async () => {
    const { lab, node, stages } = await labWith([asked({ label: 'data' }), installCoreos({ ignition })])
    await using _ = lab
    expect(await settledAfterDeploy(node)).toMatchObject({ provision_state: 'active', last_error: null })
    expect(stages).toEqual(['labelling /dev/sdb', 'labelled unnamed', 'labelling /dev/sdb', 'labelled data'])
    expect((await node.machine())!.boot()).toMatchObject({ outcome: 'disk' })
  })

  test.each<[string, Record<string, unknown>, RegExp]>([
    ['of the wrong form', { label: 'UPPER' }, /argument label of step label_disk is not valid: it must match pattern/],
    ['of the wrong type inside', { sizes: [1, 'x'] }, /argument sizes of step label_disk is not valid: .* at 1/],
    ['that it does not know', { lable: 'data' }, /unexpected arguments: lable/],
    ['that it fails on itself', { label: 'bad' }, /nothing can be called bad/],
  ])('in a lab, with an argument %s: the deployment fails and says so', async (_, args, sentence) => {
    const { lab, node } = await labWith([asked(args)])
    await using _lab = lab
    expect(await settledAfterDeploy(node)).toMatchObject({
      provision_state: 'deploy failed',
      last_error: expect.stringMatching(sentence),
    })
  })

  test('served: a client over HTTP asks for its step in deploy_steps', async () => {
    const up = command(['up', '--port', '0', '--nodes', '1', '--steps', await stepsFile()])
    const [, url] = await up.printed(/ready at (\S+)/)
    const clock = systemClock()
    await using transport = new HttpTransport({ clock })
    const client = new IronicClient({ transport, endpoint: url!, clock })
    const to = async (verb: string, state: 'manageable' | 'available' | 'active', more = {}) => {
      await client.provision('node-0', verb, more)
      return client.waitFor('node-0', [state], { every: 10 })
    }
    await to('manage', 'manageable')
    await to('provide', 'available')
    const node = await to('active', 'active', { deploy_steps: [asked({ label: 'served' })] })
    expect(node).toMatchObject({ provision_state: 'active', last_error: null })
    up.stop()
    expect(await up.ended, up.stderr).toBe(0)
  })

  test('in an agent for an Ironic elsewhere', async () => {
    const agent = command(['agent', '--standalone', '--token', 'T', '--steps', await stepsFile()])
    const [, url] = await agent.printed(/ is at (\S+), token/)
    const answer = await fetch(`${url}/v1/commands?wait=true&agent_token=T`, {
      method: 'POST',
      body: JSON.stringify({ name: 'clean.get_clean_steps', params: { node: {}, ports: [] } }),
    })
    const { command_result: offered } = (await answer.json()) as {
      command_result: { clean_steps: Record<string, unknown[]> }
    }
    expect(offered.clean_steps['CustomHardwareManager']).toMatchObject([
      { step: 'label_disk', priority: 5, interface: 'deploy', argsinfo: { label: { required: false } } },
    ])
    agent.stop()
    expect(await agent.ended, agent.stderr).toBe(0)
  })

  test('in one deployment from the command line: it cleans', async () => {
    const disk = join(await mkdtemp(join(tmpdir(), 'ironstage-own-')), 'sda.img')
    const run = command(['deploy', '--steps', await stepsFile(), '--disk-file', disk, '--disk-size', '1GiB'])
    expect(await run.ended, run.stderr).toBe(0)
    expect(run.stdout).toContain('label_disk: labelled unnamed')
  })

  test('alone, and as a plan', async () => {
    const argv = ['step', 'run', 'label_disk', '--steps', await stepsFile(), '--args', '{"label": "alone"}']
    const run = command([...argv, '--json'])
    expect(await run.ended, run.stderr).toBe(0)
    expect(run.stdout).toContain('"result":{"disk":"/dev/sdb","booted":"uefi"}')
    const plan = command([...argv, '--plan'])
    expect(await plan.ended, plan.stderr).toBe(0)
    expect(plan.stdout).toContain('would run sgdisk -n 1:0:+16M -c 1:alone /dev/sdb\n')
  })
})
