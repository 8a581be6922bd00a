import { command, type OwnCommand } from './command-shape.js'
import * as takes from './options/option-lists.js'
import type { OptionName } from './options/options.js'

/** The commands that work on the machines of a lab. */
export const HARDWARE_LAB_COMMANDS: readonly OwnCommand<OptionName>[] = [
  command({
    usage: 'run [FILE]',
    description: 'install the machines of a lab, as a file of hosts says (default: hosts.yaml)',
    options: takes.RUN_OPTIONS,
    descriptions: {
      plan: 'only say what would be done; nothing is contacted',
      check: 'only look at the hosts, after booting their live systems; no disk is written',
      'state-dir': 'folder for all that the run knows (default: beside FILE, with .state in place of .yaml)',
      faults: 'with --rehearse: YAML or JSON file of faults, as in docs/control.md; match.machine is the host',
      seed: 'with --rehearse: decides when faults of some probability strike (default: 1)',
    },
    load: async () => {
      const { run } = await import('./commands/run.js')
      return (options, { environment, operands: [file] }) => run(options, environment, file)
    },
  }),
  command({
    usage: 'run init [FILE]',
    description: 'write a file of hosts with comments, and its schema for editors (default: hosts.yaml)',
    options: takes.RUN_INIT_OPTIONS,
    load: async () => {
      const { runInit } = await import('./commands/run-init.js')
      return (options, { environment, operands: [file] }) => runInit(options, environment, file)
    },
  }),
]
