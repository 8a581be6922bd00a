import { defineStep } from '../sdk/define-step.js'
import { runCommand } from '../sdk/run-command.js'
import { StepError, type Step, type StepContext } from '../sdk/step.js'

interface ContainerArgs {
  container_url: string
  pull_options?: string | string[]
  run_options?: string | string[]
}

/** IPA's defaults for pulling and running. */
const PULL_OPTIONS = ['--tls-verify=false']
const RUN_OPTIONS = ['--rm', '--network=host', '--tls-verify=false']

function containerStep(name: string): Step {
  return defineStep<ContainerArgs>({
    name,
    interface: 'deploy',
    on: ['clean', 'deploy', 'service'],
    abortable: true,
    abortableOn: ['clean', 'deploy', 'service'],
    args: {
      properties: {
        container_url: { type: 'string', minLength: 1, pattern: '^[^-]', description: 'Container image URL' },
        pull_options: { type: ['string', 'array'], items: { type: 'string' }, description: 'Pull options' },
        run_options: { type: ['string', 'array'], items: { type: 'string' }, description: 'Run options' },
      },
      required: ['container_url'],
    },
    run: runContainer,
  })
}

/** Pulls a container image and runs it to its end on the live system. */
export const genericContainerStep = containerStep('generic_container_step')

/** The same step under its former name. */
export const containerCleanStep = containerStep('container_clean_step')

async function runContainer({ target, progress, signal }: StepContext, args: ContainerArgs): Promise<null> {
  const { container_url: image } = args
  const podman = async (verb: string, options: readonly string[]) => {
    progress.stage(`podman ${verb} ${image}`)
    await runCommand(target.executor, ['podman', verb, ...options, image], {
      effect: 'writes',
      signal,
      onLine: (line) => progress.line(line),
    })
  }
  await podman('pull', splitOptionWords(args.pull_options, PULL_OPTIONS))
  await podman('run', splitOptionWords(args.run_options, RUN_OPTIONS))
  return null
}

function splitOptionWords(options: string | string[] | undefined, defaults: readonly string[]): readonly string[] {
  const list = typeof options === 'string' ? options.split(/\s+/).filter((word) => word !== '') : (options ?? defaults)
  const odd = list.find((word) => word === '--' || word.includes('\0'))
  if (odd !== undefined) throw new StepError('an option of podman cannot be used')
  return list
}
