import { defineCommand, type TableCommand } from './command-shape.js'
import * as takes from './options/option-lists.js'
import type { CommandOptionName } from './options/resolve-options.js'

/** The commands that work on the machines of a lab. */
export const HARDWARE_LAB_COMMANDS: readonly TableCommand<CommandOptionName>[] = [
  defineCommand({
    usage: 'run [FILE]',
    description: 'install the machines of a hardware lab from a hosts file (default: hosts.yaml)',
    options: takes.RUN_OPTIONS,
    descriptions: {
      plan: 'print the plan; contact nothing',
      check: 'only inspect the hosts, after booting their live systems; no disk is written',
      'state-dir': 'state folder of the run (default: FILE with .state in place of .yaml)',
      faults: 'with --rehearse: YAML or JSON file of faults, as in docs/control.md; match.machine is the host',
      seed: 'with --rehearse: random seed for faults with a probability (default: 1)',
    },
    load: async () => {
      const { run } = await import('./commands/run-hosts-command.js')
      return (options, { environment, operands: [file] }) => run(options, environment, file)
    },
  }),
  defineCommand({
    usage: 'run init [FILE]',
    description: 'write a commented hosts file and its schema for editors (default: hosts.yaml)',
    options: takes.RUN_INIT_OPTIONS,
    load: async () => {
      const { runInit } = await import('./commands/run-init.js')
      return (options, { environment, operands: [file] }) => runInit(options, environment, file)
    },
  }),
  defineCommand({
    usage: 'run attach ID',
    description: 'resume an interrupted run by its id',
    options: takes.RUN_ATTACH_OPTIONS,
    descriptions: { 'state-dir': 'state folder of the run (default: search the current folder)' },
    load: async () => {
      const { runAttach } = await import('./commands/run-attach.js')
      return (options, { environment, operands: [id = ''] }) => runAttach(options, environment, id)
    },
  }),
  defineCommand({
    usage: 'run discover RANGE...',
    description: 'search addresses such as 192.0.2.0/28 for Redfish BMCs and print a hosts file',
    options: takes.RUN_DISCOVER_OPTIONS,
    descriptions: {
      'bmc-user': 'user of the BMCs (default: admin)',
      'bmc-password':
        'password of the BMCs; prefer --bmc-password-file (default: none; only list the services that answer)',
      out: 'write the hosts file here',
    },
    load: async () => {
      const { runDiscover } = await import('./commands/run-discover.js')
      return (options, { environment, operands }) => runDiscover(options, environment, operands)
    },
  }),
]
