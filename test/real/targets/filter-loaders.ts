import { chmod, mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { cachedPeer } from '../peer-cache.js'
import { debianProgram, succeeds } from '../peers.js'

/** Programs that load a filter of system calls; `none`: a machine that has none of them. */
export const FILTER_LOADERS = ['setpriv', 'perl', 'bwrap', 'python3', 'none'] as const
export type TestedLoader = (typeof FILTER_LOADERS)[number]

/** Makes a folder for the beginning of PATH, by which this host has only one of the loaders. */
export async function loaderFolder(loader: TestedLoader, folder: string): Promise<string> {
  if (loader === 'bwrap') await debianProgram('bwrap', 'bubblewrap')
  if (loader === 'python3') await debianProgram('python3', 'python3')
  await mkdir(folder, { recursive: true })
  const program = async (name: string, text: string) => {
    await writeFile(join(folder, name), `#!/bin/sh\n${text}\n`)
    await chmod(join(folder, name), 0o755)
  }
  for (const other of ['perl', 'bwrap', 'python3']) if (other !== loader) await program(other, 'exit 1')
  if (loader === 'setpriv') {
    const root = await newUtilLinux()
    const libraries = join(root, 'usr/lib', (await succeeds('dpkg-architecture', '-qDEB_HOST_MULTIARCH')).trim())
    const linker = (await succeeds('sh', '-c', `ls ${libraries}/ld-linux*.so.*`)).trim()
    await program('setpriv', `exec ${linker} --library-path ${libraries} ${join(root, 'usr/bin/setpriv')} "$@"`)
  }
  return folder
}

/** The util-linux of Debian 13, whose setpriv loads filters, with the libraries that it needs; unpacked, not installed. */
export const newUtilLinux = (): Promise<string> =>
  cachedPeer('util-linux-trixie', async (building) => {
    const at = (name: string) => join(building, name)
    for (const name of ['lists/partial', 'archives/partial']) await mkdir(at(name), { recursive: true })
    const keys = '/usr/share/keyrings/debian-archive-keyring.gpg'
    await writeFile(at('sources'), `deb [signed-by=${keys}] http://deb.debian.org/debian trixie main\n`)
    const options = [`Dir::Etc::sourcelist=${at('sources')}`, 'Dir::Etc::sourceparts=/dev/null']
    options.push(
      `Dir::State::Lists=${at('lists')}`,
      `Dir::Cache=${building}`,
      'Acquire::IndexTargets::deb::DEP-11::DefaultEnabled=false',
    )
    const apt = options.flatMap((option) => ['-o', option])
    await succeeds('apt-get', ...apt, 'update')
    const text = 'cd "$1" && shift && apt-get "$@" && for d in *.deb; do dpkg-deb --extract "$d" tree; done'
    await succeeds('sh', '-c', text, 'download', building, ...apt, 'download', 'util-linux', 'libcap-ng0', 'libc6')
    return at('tree')
  })
