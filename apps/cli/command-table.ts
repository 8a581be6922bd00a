import { defineCommand, type TableCommand } from './command-shape.js'
import { HARDWARE_LAB_COMMANDS } from './hardware-lab-commands.js'
import { LAB_COMMANDS } from './lab-commands.js'
import * as takes from './options/option-lists.js'
import type { CommandOptionName } from './options/resolve-options.js'
import { RELEASE_COMMANDS } from './streams/release-commands.js'
import { STREAM_COMMANDS } from './streams/stream-commands.js'

/** Commands that only have commands below them. */
export const COMMAND_FAMILIES = {
  step: 'list, show, run and write steps',
  cache: 'list, check and delete cached images',
  state: 'check, repair and export a state folder',
  images: 'create and serve live images for machines',
  ignition: 'work on Ignition configs; - is standard input',
  bmh: 'work on BareMetalHosts; - is standard input',
  hardware: 'import and export the hardware of machines; - is standard input',
  bmc: 'list and show the dialects of BMCs, check one of your own, and make machines of dumps',
  rehearse: 'rehearse changes of a cluster with simulated operators',
  fault: 'add, list and lift faults of a running lab',
  clock: 'show, set and advance the time of a running lab',
  run: 'install the machines of a hardware lab from a hosts file',
  stream: 'work on CoreOS stream, release and build metadata',
  'boot-image': 'create and describe boot images of machines and clouds',
  release: 'create and describe cluster releases in container images',
  'machine-os': 'build, copy and verify the CoreOS image of a release',
} as const

export const COMMAND_TABLE: readonly TableCommand<CommandOptionName>[] = [
  defineCommand({
    usage: 'up',
    description: 'run a mock Ironic with simulated machines until it is stopped',
    options: takes.UP_OPTIONS,
    descriptions: {
      advertise: 'host at which conductors reach the machines of --role machines (default: their listen address)',
    },
    config: { of: 'Ironic', example: '[conductor] automated_clean = ...' },
    load: async () => {
      const { up } = await import('./commands/up-command.js')
      return (options, { environment, configFiles }) => up(options, environment, configFiles)
    },
  }),
  defineCommand({
    usage: 'deploy',
    description: 'take one machine from enroll to a booted CoreOS and verify its disk',
    options: takes.DEPLOY_OPTIONS,
    load: async () => {
      const { deploy } = await import('./commands/deploy-command.js')
      return (options, { environment }) => deploy(options, environment)
    },
  }),
  defineCommand({
    usage: 'agent',
    description: 'run one agent on a simulated machine for an Ironic elsewhere',
    options: takes.AGENT_OPTIONS,
    descriptions: {
      'ironic-url':
        'Ironic to call; env takes the URL from OS_ENDPOINT or IRONIC_ENDPOINT (default: as the agent options say)',
    },
    config: { of: 'ironic-python-agent', example: '[DEFAULT] api_url = ...' },
    load: async () => {
      const { agent } = await import('./commands/agent-command.js')
      return (options, { environment, configFiles }) => agent(options, environment, configFiles)
    },
  }),
  defineCommand({
    usage: 'fleet',
    description: 'run machines with BMCs and agents for an Ironic elsewhere',
    options: takes.FLEET_OPTIONS,
    descriptions: {
      tls: 'serve the BMCs over HTTPS; creates a certificate unless --tls-cert names one',
      'state-dir': 'keep machines, accounts and disks in this folder (default: nothing outlives the command)',
      'ironic-url': 'URL of the Ironic: for --enroll, and to find the address by which it reaches this host',
      database: 'PostgreSQL database of the Ironic: the machines are enrolled through one of its APIs (default: none)',
      'redfish-port': 'Redfish port of the BMCs; 0 picks a free one (default: 8000)',
      seed: 'random seed for faults with a probability (default: 1)',
    },
    load: async () => {
      const { fleet } = await import('./commands/fleet-command.js')
      return (options, { environment }) => fleet(options, environment)
    },
  }),
  defineCommand({
    usage: 'openapi',
    description: "print Ironic's API as an OpenAPI 3.1 document",
    options: takes.OPENAPI_OPTIONS,
    load: async () => {
      const { openapi } = await import('./commands/openapi-command.js')
      return (options, { environment }) => openapi(options, environment)
    },
  }),
  defineCommand({
    usage: 'errors [CODE...]',
    description: 'list the error codes, with meaning and remedy',
    options: takes.ERRORS_OPTIONS,
    load: async () => {
      const { errors } = await import('./commands/errors-command.js')
      return (options, { environment, operands }) => errors(options, environment, operands)
    },
  }),
  defineCommand({
    usage: 'bmc list',
    description: 'list the BMCs that a hardware file can name',
    options: takes.BMC_OPTIONS,
    load: async () => {
      const { bmcList } = await import('./commands/bmc-command.js')
      return (options, { environment }) => bmcList(options, environment)
    },
  }),
  defineCommand({
    usage: 'bmc show NAME',
    description: 'show a BMC, by its name or its file, with all of its values',
    options: takes.BMC_OPTIONS,
    load: async () => {
      const { bmcShow } = await import('./commands/bmc-command.js')
      return (options, { environment, operands: [name = ''] }) => bmcShow(options, environment, name)
    },
  }),
  defineCommand({
    usage: 'bmc check FILE',
    description: 'check a file with a BMC of your own',
    options: takes.BMC_OPTIONS,
    load: async () => {
      const { bmcCheck } = await import('./commands/bmc-command.js')
      return (options, { environment, operands: [file = ''] }) => bmcCheck(options, environment, file)
    },
  }),
  defineCommand({
    usage: 'bmc import FOLDER|ZIP',
    description: 'make a machine of a dump of a BMC: a hardware file, the record of its BMC, and the dump behind it',
    options: takes.BMC_IMPORT_OPTIONS,
    descriptions: {
      'keep-identities': 'keep serial numbers, UUIDs, addresses, names and accounts (default: made-up ones)',
    },
    load: async () => {
      const { bmcImport } = await import('./commands/bmc-command.js')
      return (options, { environment, operands: [name = ''] }) => bmcImport(options, environment, name)
    },
  }),
  defineCommand({
    usage: 'bmc dump URL',
    description: 'read all resources of a BMC into a folder, slowly, without its secrets; nothing is changed',
    options: takes.BMC_DUMP_OPTIONS,
    descriptions: {
      'bmc-user': 'user of the BMC (default: admin)',
      'bmc-password': 'password of the BMC',
      'bmc-password-file': 'file with the password of the BMC; other users can read a password on the command line',
    },
    load: async () => {
      const { bmcDump } = await import('./commands/bmc-command.js')
      return (options, { environment, operands: [url = ''] }) => bmcDump(options, environment, url)
    },
  }),
  defineCommand({
    usage: 'step list',
    description: 'list the steps that an agent offers',
    options: takes.STEP_LIST_OPTIONS,
    load: async () => {
      const { stepList } = await import('./commands/step-command.js')
      return (options, { environment }) => stepList(options, environment)
    },
  }),
  defineCommand({
    usage: 'step show NAME',
    description: 'show the arguments of a step and how to request it',
    options: takes.STEP_SHOW_OPTIONS,
    load: async () => {
      const { stepShow } = await import('./commands/step-command.js')
      return (options, { environment, operands: [name = ''] }) => stepShow(options, environment, name)
    },
  }),
  defineCommand({
    usage: 'step run NAME',
    description: 'run one step on a simulated or real machine, without an Ironic',
    options: takes.STEP_RUN_OPTIONS,
    load: async () => {
      const { stepRun } = await import('./commands/step-command.js')
      return (options, { environment, operands: [name = ''] }) => stepRun(options, environment, name)
    },
  }),
  defineCommand({
    usage: 'step new NAME',
    description: 'write a step and its passing test',
    options: takes.STEP_NEW_OPTIONS,
    load: async () => {
      const { stepNew } = await import('./commands/step-new.js')
      return (options, { environment, operands: [name = ''] }) => stepNew(options, environment, name)
    },
  }),
  defineCommand({
    usage: 'doctor',
    description: 'say what works on this computer, and what to do about the rest',
    options: takes.DOCTOR_OPTIONS,
    load: async () => {
      const { doctor } = await import('./commands/doctor-command.js')
      return (options, { environment }) => doctor(options, environment)
    },
  }),
  defineCommand({
    usage: 'completion SHELL',
    description: 'print a completion script for a shell',
    operands: { SHELL: 'bash, zsh or fish' },
    options: [],
    load: async () => {
      const { completion } = await import('./commands/completion-command.js')
      return (_, { environment, program, operands: [shell = ''] }) => completion(shell, program, environment)
    },
  }),
  defineCommand({
    usage: 'cache list',
    description: 'list the cached images',
    options: takes.CACHE_LIST_OPTIONS,
    load: async () => {
      const { cacheList } = await import('./commands/cache-command.js')
      return (options, { environment }) => cacheList(options, environment)
    },
  }),
  defineCommand({
    usage: 'cache prune',
    description: 'delete images beyond --cache-size, and unfinished downloads',
    options: takes.CACHE_PRUNE_OPTIONS,
    descriptions: { all: 'delete all images that are not in use' },
    load: async () => {
      const { cachePrune } = await import('./commands/cache-command.js')
      return (options, { environment }) => cachePrune(options, environment)
    },
  }),
  defineCommand({
    usage: 'cache verify',
    description: 'read every image again and delete damaged ones',
    options: takes.CACHE_VERIFY_OPTIONS,
    load: async () => {
      const { cacheVerify } = await import('./commands/cache-command.js')
      return (options, { environment }) => cacheVerify(options, environment)
    },
  }),
  defineCommand({
    usage: 'state check',
    description: 'report which parts of a state folder can be read',
    options: takes.STATE_OPTIONS,
    load: async () => {
      const { stateCheck } = await import('./commands/state-command.js')
      return (options, { environment }) => stateCheck(options, environment)
    },
  }),
  defineCommand({
    usage: 'state repair',
    description: 'rebuild damaged databases from their readable rows',
    options: takes.STATE_OPTIONS,
    load: async () => {
      const { stateRepair } = await import('./commands/state-command.js')
      return (options, { environment }) => stateRepair(options, environment)
    },
  }),
  defineCommand({
    usage: 'state export',
    description: 'print the readable records as JSON, secrets masked',
    options: takes.STATE_EXPORT_OPTIONS,
    load: async () => {
      const { stateExport } = await import('./commands/state-command.js')
      return (options, { environment }) => stateExport(options, environment)
    },
  }),
  defineCommand({
    usage: 'images serve',
    description: 'serve a live CoreOS that runs the agent, for all machines together and for each of them',
    options: takes.IMAGES_SERVE_OPTIONS,
    load: async () => {
      const { imagesServe } = await import('./commands/images-command.js')
      return (options, { environment }) => imagesServe(options, environment)
    },
  }),
  defineCommand({
    usage: 'ignition validate FILE...',
    description: 'check configs as Ignition does',
    options: takes.IGNITION_VALIDATE_OPTIONS,
    load: async () => {
      const { ignitionValidate } = await import('./commands/ignition-command.js')
      return (options, { environment, operands }) => ignitionValidate(options, environment, operands)
    },
  }),
  defineCommand({
    usage: 'ignition merge FILE...',
    description: 'merge configs in order and print the result',
    options: takes.IGNITION_MERGE_OPTIONS,
    load: async () => {
      const { ignitionMerge } = await import('./commands/ignition-command.js')
      return (options, { environment, operands }) => ignitionMerge(options, environment, operands)
    },
  }),
  defineCommand({
    usage: 'ignition translate FILE',
    description: 'print a config in another version of the spec',
    options: takes.IGNITION_TRANSLATE_OPTIONS,
    load: async () => {
      const { ignitionTranslate } = await import('./commands/ignition-command.js')
      return (options, { environment, operands }) => ignitionTranslate(options, environment, operands)
    },
  }),
  defineCommand({
    usage: 'ignition show FILE',
    description: 'show the contents of a config, without secrets',
    options: takes.IGNITION_SHOW_OPTIONS,
    load: async () => {
      const { ignitionShow } = await import('./commands/ignition-command.js')
      return (options, { environment, operands }) => ignitionShow(options, environment, operands)
    },
  }),
  defineCommand({
    usage: 'ignition agent-config',
    description: 'print a config that runs the agent on a live CoreOS',
    options: takes.AGENT_CONFIG_OPTIONS,
    load: async () => {
      const { ignitionAgentConfig } = await import('./commands/ignition-agent.js')
      return (options, { environment }) => ignitionAgentConfig(options, environment)
    },
  }),
  defineCommand({
    usage: 'rehearse upgrade [SCENARIO|FILE...]',
    description: 'rehearse an upgrade of a cluster and check the outcome',
    options: takes.REHEARSE_OPTIONS,
    descriptions: { all: 'rehearse every scenario' },
    load: async () => {
      const { rehearseUpgrade } = await import('./commands/rehearse-command.js')
      return (options, { environment, operands }) => rehearseUpgrade(options, environment, operands)
    },
  }),
  ...STREAM_COMMANDS,
  ...RELEASE_COMMANDS,
  ...LAB_COMMANDS,
  ...HARDWARE_LAB_COMMANDS,
  defineCommand({
    usage: 'record',
    description: 'record the exchanges of clients, an Ironic and its agents',
    options: takes.RECORD_OPTIONS,
    load: async () => {
      const { record } = await import('./commands/record-command.js')
      return (options, { environment }) => record(options, environment)
    },
  }),
  defineCommand({
    usage: 'replay RECORDING',
    description: 'replay a recording against another Ironic and list the differences',
    options: takes.REPLAY_OPTIONS,
    load: async () => {
      const { replay } = await import('./commands/replay-command.js')
      return (options, { environment, operands: [file = ''] }) => replay(options, environment, file)
    },
  }),
  defineCommand({
    usage: 'diff RECORDING...',
    description: 'list the calls and answers in which two recordings differ',
    options: takes.DIFF_OPTIONS,
    load: async () => {
      const { diff } = await import('./commands/replay-command.js')
      return (options, { environment, operands }) => diff(options, environment, operands)
    },
  }),
  defineCommand({
    usage: 'bmh explain FILE...',
    description: 'print the requests that BareMetal Operator makes to Ironic for hosts',
    options: takes.BMH_EXPLAIN_OPTIONS,
    load: async () => {
      const { bmhExplain } = await import('./commands/bmh-command.js')
      return (options, { environment, operands }) => bmhExplain(options, environment, operands)
    },
  }),
  defineCommand({
    usage: 'hardware import FILE',
    description: 'print an Ironic inventory, HardwareData or output of lshw as a hardware file',
    options: takes.HARDWARE_IMPORT_OPTIONS,
    load: async () => {
      const { hardwareImport } = await import('./commands/hardware-command.js')
      return (options, { environment, operands: [file = ''] }) => hardwareImport(options, environment, file)
    },
  }),
  defineCommand({
    usage: 'hardware export MACHINE',
    description: 'print the hardware of a machine of a running lab, by its id or its node',
    options: takes.HARDWARE_EXPORT_OPTIONS,
    load: async () => {
      const { hardwareExport } = await import('./commands/hardware-command.js')
      return (options, { environment, operands: [machine = ''] }) => hardwareExport(options, environment, machine)
    },
  }),
]
