import type { Customization, Customized } from '../lab/index.js'
import type { CustomizeFlags } from './customize-options.js'
import type { Environment } from './environment.js'
import { namedFiles, type LiveCommand } from './live-files.js'
import { keyfilesOfNmstate } from './nmstate.js'

/** The files read, in the order of the options. */
export async function wishesOf(flags: CustomizeFlags, { environment }: LiveCommand): Promise<Customization> {
  const { destDevice, destConsole = [], destKargAppend = [], destKargDelete = [] } = flags
  return {
    destIgnition: await namedFiles(flags.destIgnition),
    ...(destDevice === undefined ? {} : { destDevice }),
    ...{ destConsole, destKargAppend, destKargDelete },
    networkKeyfile: await namedFiles(flags.networkKeyfile),
    networkNmstate: await keyfilesOfNmstate(flags.networkNmstate ?? [], environment),
    ignitionCa: await namedFiles(flags.ignitionCa),
    preInstall: await namedFiles(flags.preInstall),
    postInstall: await namedFiles(flags.postInstall),
    installerConfig: await namedFiles(flags.installerConfig),
    liveIgnition: await namedFiles(flags.liveIgnition),
  }
}

/** Nobody is asked in front of the machine, so it is said here. */
export function warnOfInstallation({ installs }: Customized, { stderr }: Environment): void {
  if (!installs) return
  const { device } = installs
  stderr.write(
    device === undefined
      ? 'Boot media will automatically run installer.\n'
      : `Boot media will automatically install to ${device} without confirmation.\n`,
  )
}
