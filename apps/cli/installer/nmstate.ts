import { execFile } from 'node:child_process'
import { access, constants } from 'node:fs/promises'
import { parse } from 'yaml'
import { type Keyfile, LiveImageError } from '../../../coreos/index.js'
import type { Environment } from '../environment.js'

/**
 * The NetworkManager keyfiles of network states, made by the nmstate that is on this computer: coreos-installer is linked
 * with it, and what it makes of a state follows no other description.
 *
 * @throws LiveImageError in coreos-installer's words; in ours where there is no nmstate
 */
export async function keyfilesOfNmstate(
  paths: readonly string[],
  { variables }: Pick<Environment, 'variables'>,
): Promise<Keyfile[]> {
  const keyfiles: Keyfile[] = []
  for (const path of paths) {
    await LiveImageError.during('opening nmstate file', () => access(path, constants.R_OK))
    const generated = await LiveImageError.during('generating configuration from nmstate', () =>
      generate(path, variables['PATH']),
    )
    keyfiles.push(...generated.map(([name, text]) => ({ name, bytes: Buffer.from(text) })))
  }
  return keyfiles
}

/** Output of `nmstatectl gc`: configurations by the program that takes them, NetworkManager's as pairs of name and contents. */
async function generate(path: string, searched = ''): Promise<[name: string, text: string][]> {
  const printed = await new Promise<string>((resolve, reject) => {
    execFile('nmstatectl', ['gc', path], { env: { PATH: searched }, maxBuffer: 2 ** 24 }, (error, stdout, stderr) => {
      if (!error) resolve(stdout)
      else if (error.code === 'ENOENT') reject(new LiveImageError(NONE))
      else reject(new LiveImageError(stderr.trim() || error.message))
    })
  })
  const { NetworkManager: made } = (parse(printed) ?? {}) as { NetworkManager?: [string, string][] }
  if (!made) throw new LiveImageError('extracting NetworkManager generated config')
  return made
}

const NONE =
  'there is no nmstatectl on this computer; make keyfiles with nmstatectl gc where there is one, and give them with ' +
  '--network-keyfile'
