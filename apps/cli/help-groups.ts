import { Command } from 'commander'

/** How `ironstage --help` lists the commands: the most used first. */
const HELP_GROUPS: Readonly<Record<string, readonly string[]>> = {
  'Rehearse a deployment:': ['up', 'deploy', 'agent', 'fleet', 'coreos-installer'],
  'Configs and hosts:': ['ignition', 'bmh', 'rehearse', 'chaos'],
  'Control a running lab:': ['fault', 'clock', 'journal'],
  'Hardware labs:': ['run'],
  'Compare with your Ironic:': ['record', 'replay', 'diff'],
  'CoreOS as the ramdisk:': ['images', 'iso', 'pxe'],
  'CoreOS files:': ['stream', 'download', 'cache'],
  'CoreOS in a cluster:': ['release', 'machine-os', 'boot-image'],
  'Steps, state and tools:': ['step', 'state', 'openapi', 'doctor', 'completion', 'errors', 'help'],
}

const EPILOGUE = `
Every command and subcommand has --help, which names the environment variable of
each option (IRONSTAGE_PORT); its key in the --config file has the same words
(port). iso, pxe and coreos-installer have only coreos-installer's own options.
Exit codes: 0 for success, 1 for a failure, 2 for wrong usage: an option or an
argument is wrong, or names a file that cannot be read.

First steps: ironstage deploy, or ironstage up --nodes 3`

/**
 * Puts commands into groups, in the groups' order; one without a group comes last, under the default title.
 *
 * @param program with all of its commands
 */
export function groupCommands(program: Command): void {
  const order = Object.values(HELP_GROUPS).flat()
  const place = (command: Command): number => {
    const found = order.indexOf(command.name())
    return found < 0 ? order.length : found
  }
  program.addHelpCommand(new Command('help').argument('[command]').description('show the help of a command'))
  const all = program.commands as Command[]
  all.sort((a, b) => place(a) - place(b))
  for (const command of [...all, ...(program.createHelp().visibleCommands(program) as Command[])])
    for (const [title, names] of Object.entries(HELP_GROUPS))
      if (names.includes(command.name())) command.helpGroup(title)
  program.addHelpText('after', EPILOGUE)
}
