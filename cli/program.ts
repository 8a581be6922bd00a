import { Command, CommanderError, Option } from 'commander'
import { errorChain, packageVersion, UserError, userError, type ConfigFile } from '../lab/index.js'
import { agent, AGENT_OPTIONS } from './agent.js'
import { BMH_EXPLAIN_OPTIONS, bmhExplain } from './bmh.js'
import {
  CACHE_LIST_OPTIONS,
  CACHE_PRUNE_OPTIONS,
  CACHE_VERIFY_OPTIONS,
  cacheList,
  cachePrune,
  cacheVerify,
} from './cache.js'
import { groupCommands } from './command-groups.js'
import { configFiles } from './config-files.js'
import { COREOS_INSTALLER, coreosInstaller } from './coreos-installer.js'
import { DEPLOY_OPTIONS, deploy } from './deploy.js'
import { Stopped, type Environment, type Output } from './environment.js'
import {
  IGNITION_MERGE_OPTIONS,
  IGNITION_SHOW_OPTIONS,
  IGNITION_TRANSLATE_OPTIONS,
  IGNITION_VALIDATE_OPTIONS,
  ignitionMerge,
  ignitionShow,
  ignitionTranslate,
  ignitionValidate,
} from './ignition.js'
import { AGENT_CONFIG_OPTIONS, ignitionAgentConfig } from './ignition-agent.js'
import { IMAGES_SERVE_OPTIONS, imagesServe } from './images.js'
import { addLiveCommands } from './live-commands.js'
import { addMetadataCommands } from './metadata-commands.js'
import { OPENAPI_OPTIONS, openapi } from './openapi.js'
import { OPTIONS, resolveOptions, variableOf, type OptionName, type Options } from './options.js'
import { STEP_LIST_OPTIONS, STEP_RUN_OPTIONS, STEP_SHOW_OPTIONS, stepList, stepRun, stepShow } from './step.js'
import { STEP_NEW_OPTIONS, stepNew } from './step-new.js'
import { up, UP_OPTIONS } from './up.js'

/** Runs the command that the arguments name; gives its exit code: 0, 1 for a failure, 2 for wrong usage. */
export async function run(environment: Environment): Promise<number> {
  const { argv, stdout, stderr } = environment
  let code = 0
  const program = new Command('ironstage')
    .description(
      'Rehearse bare-metal CoreOS deployments: a mock Ironic, simulated machines, and the install_coreos step.',
    )
    .version(packageVersion())
    .exitOverride()
    .configureOutput({ writeOut: (text) => void stdout.write(text), writeErr: (text) => void stderr.write(text) })
  const add = <N extends OptionName>(
    name: string,
    description: string,
    names: readonly N[],
    action: Action<N>,
    { under = program, operand, takes }: { under?: Command; operand?: string; takes?: Format } = {},
  ) => {
    const command = under.command(name).description(description).exitOverride()
    if (operand !== undefined) command.argument(`<${operand}>`)
    for (const option of names) command.addOption(asFlag(option))
    command.addOption(configFlag(takes))
    command.action(async () => {
      const { IRONSTAGE_CONFIG, ...variables } = environment.variables
      const { config = IRONSTAGE_CONFIG || undefined, ...flags } = byName(command.opts())
      const named = [config ?? []].flat() as string[]
      const { own, ini } = takes ? await configFiles(named, takes.of) : { own: named[0], ini: [] }
      const options = await resolveOptions(names, own === undefined ? flags : { ...flags, config: own }, variables)
      code = await action(options, environment, command.args[0] ?? '', ini, command.args)
    })
  }
  add('up', 'run a mock Ironic with simulated machines until it is stopped', UP_OPTIONS, up, {
    takes: { of: 'Ironic', example: '[conductor] automated_clean = ...' },
  })
  add('deploy', 'take one machine from enroll to a booted CoreOS and read its disk back', DEPLOY_OPTIONS, deploy)
  add('agent', 'run one agent on a simulated machine for an Ironic elsewhere', AGENT_OPTIONS, agent, {
    takes: { of: 'ironic-python-agent', example: '[DEFAULT] api_url = ...' },
  })
  add('openapi', "print Ironic's API as an OpenAPI 3.1 document", OPENAPI_OPTIONS, openapi)
  const under = program
    .command('step')
    .description('work on steps: list, show, run one, begin a new one')
    .exitOverride()
  const named = { under, operand: 'NAME' }
  add('list', 'list the steps that an agent offers', STEP_LIST_OPTIONS, stepList, { under })
  add('show', 'show what a step takes and how it is asked for', STEP_SHOW_OPTIONS, stepShow, named)
  add('run', 'run one step on a simulated machine, with no Ironic', STEP_RUN_OPTIONS, stepRun, named)
  add('new', 'write a step and its passing test', STEP_NEW_OPTIONS, stepNew, named)
  const kept = { under: program.command('cache').description('look after the images that are kept').exitOverride() }
  add('list', 'list the images that are kept', CACHE_LIST_OPTIONS, cacheList, kept)
  add('prune', 'delete images beyond --cache-size, and what was never finished', CACHE_PRUNE_OPTIONS, cachePrune, kept)
  add('verify', 'read every image again and delete those that are damaged', CACHE_VERIFY_OPTIONS, cacheVerify, kept)
  const images = program.command('images').description('live images for machines to boot').exitOverride()
  add(
    'serve',
    'serve a live CoreOS that runs the agent, for all and for each machine',
    IMAGES_SERVE_OPTIONS,
    imagesServe,
    {
      under: images,
    },
  )
  const configs = program
    .command('ignition')
    .description('work on Ignition configs; - is standard input')
    .exitOverride()
  const files = { under: configs, operand: 'FILE...' }
  const one = { under: configs, operand: 'FILE' }
  add('validate', 'say what Ignition says of configs', IGNITION_VALIDATE_OPTIONS, onFiles(ignitionValidate), files)
  add(
    'merge',
    'print configs as one, each merged onto those before',
    IGNITION_MERGE_OPTIONS,
    onFiles(ignitionMerge),
    files,
  )
  add('translate', 'print a config in another version', IGNITION_TRANSLATE_OPTIONS, onFiles(ignitionTranslate), one)
  add('show', 'tell what is in a config, without secrets', IGNITION_SHOW_OPTIONS, onFiles(ignitionShow), one)
  add(
    'agent-config',
    'print the config that makes a live CoreOS run the agent',
    AGENT_CONFIG_OPTIONS,
    ignitionAgentConfig,
    {
      under: configs,
    },
  )
  const hosts = program.command('bmh').description('work on BareMetalHosts; - is standard input').exitOverride()
  add('explain', 'print what BareMetal Operator asks of Ironic for hosts', BMH_EXPLAIN_OPTIONS, onFiles(bmhExplain), {
    ...{ under: hosts, operand: 'FILE...' },
  })
  addLiveCommands(program, environment, (given) => (code = given))
  addMetadataCommands(program, environment, (given) => (code = given))
  program.command(COREOS_INSTALLER.name).description(COREOS_INSTALLER.description)
  groupCommands(program)
  try {
    // Its arguments are another program's, down to what is said of wrong ones.
    if (argv[0] === COREOS_INSTALLER.name) return await coreosInstaller(argv.slice(1), environment)
    await program.parseAsync(argv, { from: 'user' })
    return code
  } catch (error) {
    return failed(error, stderr)
  }
}

/** The configuration files of an OpenStack service, beside those of ironstage. */
interface Format {
  of: string
  example: string
}

type Action<N extends OptionName> = (
  options: Options<N>,
  environment: Environment,
  operand: string,
  /** In the {@link Format} that the command takes. */
  configFiles: readonly ConfigFile[],
  /** All of them, where a command takes several. */
  operands: readonly string[],
) => Promise<number>

/** For commands that work on files. */
const onFiles =
  <N extends OptionName>(
    action: (options: Options<N>, environment: Environment, files: readonly string[]) => Promise<number>,
  ): Action<N> =>
  (options, environment, _operand, _configFiles, operands) =>
    action(options, environment, operands)

function configFlag(takes: Format | undefined): Option {
  const flag = '--config <FILE>'
  if (!takes) return new Option(flag, 'YAML file with any of these options (IRONSTAGE_CONFIG)')
  const what =
    `YAML file with any of these options, or a file of ${takes.of} (${takes.example}), or a folder with ` +
    'some of these; may be repeated (IRONSTAGE_CONFIG)'
  return new Option(flag, what).argParser((text, before: string[] | undefined) => [...(before ?? []), text])
}

function asFlag(name: OptionName): Option {
  const { description, schema, ...rest } = OPTIONS[name]
  const value = 'value' in rest ? ` <${rest.value}>` : ''
  const option = new Option(`--${name}${value}`, `${description} (${variableOf(name)})`)
  // A repeated list is gathered; its pieces are checked with everything else.
  if (schema.type === 'array') option.argParser((text, before: string[] | undefined) => [...(before ?? []), text])
  return option
}

/** Commander hands `--append-karg` over as `appendKarg`, and `--no-cache` as `cache`, which is true without. */
const byName = (flags: Record<string, unknown>): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(flags).map(([key, value]) => {
      const name = key.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)
      return value === false ? [`no-${name}`, true] : [name, value]
    }),
  )

/** One sentence, what caused it, and what to do. */
function failed(error: unknown, stderr: Output): number {
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2
  const stopped = error instanceof Stopped ? error : undefined
  if (stopped) return stopped.signal === 'SIGINT' ? 130 : 143
  const user = userError(error)
  const [sentence, ...causes] = errorChain(user ?? error)
  stderr.write(`ironstage: ${sentence}\n`)
  for (const cause of causes) stderr.write(`  because: ${cause}\n`)
  if (user?.remedy) stderr.write(`  try: ${user.remedy}\n`)
  if (!user && error instanceof Error) stderr.write(`  this is a defect of ironstage:\n${error.stack ?? ''}\n`)
  return user instanceof UserError && user.kind === 'usage' ? 2 : 1
}
