import { defined } from '../../../base/runtime/index.js'
import { checkConsole, type Customization } from '../../../coreos/index.js'
import type { CustomizeFlags } from './customize-options.js'
import { namedFiles, type LiveCommand } from './live-input.js'
import { keyfilesOfNmstate } from './nmstate.js'
import { usageError } from '../usage-error.js'

/**
 * The files read, in the order of the options.
 *
 * @throws UserError for an invalid console
 */
export async function wishesOf(flags: CustomizeFlags, { environment }: LiveCommand): Promise<Customization> {
  const { destDevice, destConsole = [], destKargAppend = [], destKargDelete = [] } = flags
  for (const spec of destConsole) {
    const objection = checkConsole(spec)
    if (objection !== undefined)
      throw usageError(
        `--dest-console is ${JSON.stringify(spec)}: ${objection}`,
        'name a console as the kernel does, for example ttyS0,115200n8',
        'bad-option',
      )
  }
  return {
    destIgnition: await namedFiles(flags.destIgnition),
    ...defined({ destDevice }),
    destConsole,
    destKargAppend,
    destKargDelete,
    networkKeyfile: await namedFiles(flags.networkKeyfile),
    networkNmstate: await keyfilesOfNmstate(flags.networkNmstate ?? [], environment),
    ignitionCa: await namedFiles(flags.ignitionCa),
    preInstall: await namedFiles(flags.preInstall),
    postInstall: await namedFiles(flags.postInstall),
    installerConfig: await namedFiles(flags.installerConfig),
    liveIgnition: await namedFiles(flags.liveIgnition),
  }
}
