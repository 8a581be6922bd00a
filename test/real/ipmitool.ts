import { chmod, mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { cachedPeer } from './peer-cache.js'
import { debianFolder, tool } from './peers.js'

/**
 * The folder with Debian's ipmitool. The packages are unpacked only: once installed, one would start a service. A script
 * says where its library is; Ironic finds it on its PATH.
 */
export const ipmitoolFolder = (): Promise<string> =>
  cachedPeer('ipmitool', async (building) => {
    const packages = join(building, 'packages')
    await mkdir(packages)
    for (const name of ['ipmitool', 'libfreeipmi17']) await debianFolder(name, packages)
    const script = join(building, 'ipmitool')
    // The folder moves once it is built.
    const lines = ['#!/bin/sh', 'root=$(dirname "$(readlink -f "$0")")/packages/root/usr']
    lines.push('export LD_LIBRARY_PATH=$(echo "$root"/lib/*-linux-gnu)', 'exec "$root/bin/ipmitool" "$@"')
    await writeFile(script, `${lines.join('\n')}\n`)
    await chmod(script, 0o755)
    return building
  })

export interface IpmitoolAccess {
  port: number
  username?: string
  password?: string
  /** Options before the command. */
  options?: readonly string[]
}

/** Runs ipmitool against a BMC on loopback. */
export async function ipmitool(
  { port, username = 'admin', password = 'secret-1', options = [] }: IpmitoolAccess,
  ...command: readonly string[]
): Promise<{ code: number; stdout: string; stderr: string }> {
  const program = join(await ipmitoolFolder(), 'ipmitool')
  const access = ['-I', 'lanplus', '-H', '127.0.0.1', '-p', String(port), '-U', username, '-P', password]
  return tool(program, ...access, '-N', '2', '-R', '2', ...options, ...command)
}
