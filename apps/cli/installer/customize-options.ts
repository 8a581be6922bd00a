import { InvalidArgumentError, type Command } from 'commander'
import { ListOption } from '../tool-command.js'

/** Options as commander parses them. */
export interface CustomizeFlags {
  destIgnition?: string[]
  destDevice?: string
  destConsole?: string[]
  destKargAppend?: string[]
  destKargDelete?: string[]
  networkKeyfile?: string[]
  networkNmstate?: string[]
  ignitionCa?: string[]
  preInstall?: string[]
  postInstall?: string[]
  installerConfig?: string[]
  liveIgnition?: string[]
}

/** An option that may be given several times, one value each. */
export const repeatableOption = (flags: string, description: string): ListOption =>
  new ListOption(flags, `${description}; may be repeated`)

const CONSOLE = /^(tty0|hvc0|ttysclp0|(ttyS|ttyAMA)[0-9]+(,[0-9]+([neo][5-8]?)?)?)$/

function consoles(text: string, before: string[] | undefined): string[] {
  for (const prefix of ['console=', '/dev/'])
    if (text.startsWith(prefix)) throw new InvalidArgumentError(`spec should not start with "${prefix}"`)
  // The numbers are checked later with everything else, by code that help need not load.
  if (!CONSOLE.test(text)) throw new InvalidArgumentError('invalid or unsupported console argument')
  return [...(before ?? []), text]
}

/** The options that `iso customize` and `pxe customize` share, coreos-installer's. */
export function addCustomizeOptions(command: Command): Command {
  const installs = 'run the installer at boot'
  return command
    .addOption(repeatableOption('--dest-ignition <path>', `Ignition config for the installed system; ${installs}`))
    .option('--dest-device <path>', `disk to install to, which is overwritten without asking; ${installs}`)
    .addOption(
      repeatableOption('--dest-console <spec>', `console of the installed system; ${installs}`).argParser(consoles),
    )
    .addOption(
      repeatableOption('--dest-karg-append <arg>', `kernel argument to add to the installed system; ${installs}`),
    )
    .addOption(
      repeatableOption('--dest-karg-delete <arg>', `kernel argument to take from the installed system; ${installs}`),
    )
    .addOption(
      repeatableOption('--network-keyfile <path>', 'NetworkManager keyfile for the live and the installed system'),
    )
    .addOption(
      repeatableOption('--network-nmstate <path>', 'the same as nmstate writes it; needs nmstatectl on this computer'),
    )
    .addOption(repeatableOption('--ignition-ca <path>', 'PEM bundle that Ignition trusts in both'))
    .addOption(repeatableOption('--pre-install <path>', 'script to run before an installation'))
    .addOption(repeatableOption('--post-install <path>', 'script to run after an installation'))
    .addOption(repeatableOption('--installer-config <path>', `config file of coreos-installer; ${installs}`))
    .addOption(repeatableOption('--live-ignition <path>', 'Ignition config for the live system'))
}
