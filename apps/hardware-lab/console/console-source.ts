import { chmod, writeFile } from 'node:fs/promises'
import { homedir } from 'node:os'
import { join, resolve } from 'node:path'
import { parseSshTarget, shellLine } from '../../../targets/index.js'
import { ipmiArguments } from '../bmc/ipmi-bmc.js'
import { readHostAccount, redfishClient, type OpenBmcOptions } from '../bmc/open-bmc.js'
import { RedfishBmc } from '../bmc/redfish-bmc.js'
import type { Host } from '../hosts/host.js'
import type { ConsoleProgram } from './console-process.js'

export interface HostConsoleOptions extends OpenBmcOptions {
  /** Folder for what programs need, which only this user may read. */
  scratch: string
  signal: AbortSignal
}

/**
 * The program that shows the console of a host; null for a host whose console is not captured.
 *
 * @throws UserError of the BMC, which is asked where its console is
 */
export async function consoleProgram(host: Host, options: HostConsoleOptions): Promise<ConsoleProgram | null> {
  const { console: own, bmc } = host
  const { variables } = options
  if (own !== undefined && 'command' in own) return { argv: own.command as [string, ...string[]], variables }
  if (own !== undefined) return { argv: sshArguments(own, options), variables }
  if (bmc?.console === 'sol') return sol(host, options)
  if (bmc?.console === 'redfish') return byRedfish(host, options)
  return null
}

/** OpenSSH works with the user's own configuration and agent; it may ask for nothing. */
function sshArguments(
  { ssh, line, key, config }: { ssh: string; line?: string; key?: string; config?: string },
  { folder }: HostConsoleOptions,
): [string, ...string[]] {
  const { user, host, port } = parseSshTarget(`ssh://${ssh}`)
  const path = (name: string) => (name.startsWith('~/') ? join(homedir(), name.slice(2)) : resolve(folder, name))
  return [
    ...(['ssh', '-tt', '-o', 'BatchMode=yes', '-o', 'ServerAliveInterval=30'] as const),
    ...(config === undefined ? [] : ['-F', config === 'none' ? 'none' : path(config)]),
    ...(key === undefined ? [] : ['-i', path(key), '-o', 'IdentitiesOnly=yes']),
    ...(!port ? [] : ['-p', String(port)]),
    ...(!user ? [] : ['-l', user]),
    host,
    ...(line === undefined ? [] : [line]),
  ]
}

async function sol(host: Host, options: HostConsoleOptions, port?: number): Promise<ConsoleProgram> {
  const { ipmi, redfish } = host.bmc!
  const address = ipmi ?? `${new URL(redfish!).hostname}${port === undefined ? '' : `:${port}`}`
  const { username, password } = await readHostAccount(host, options)
  const argv = shellLine([...ipmiArguments({ address, username }), 'sol', 'activate'])
  const before = shellLine([...ipmiArguments({ address, username }), 'sol', 'deactivate'])
  // A session that was not ended, such as one of a killed run, would keep others out.
  return {
    argv: ['sh', '-c', `ipmitool ${before} >/dev/null 2>&1; exec ipmitool ${argv}`],
    variables: { ...options.variables, IPMI_PASSWORD: password },
  }
}

/** The console that the service names: by SSH with the account of the BMC, or else by IPMI. */
async function byRedfish(host: Host, options: HostConsoleOptions): Promise<ConsoleProgram> {
  const { clock, logger } = options
  const { username, password } = await readHostAccount(host, options)
  const client = redfishClient(host, { username, password }, options)
  await using bmc = new RedfishBmc({ client, system: host.bmc!.system, clock, logger })
  const { ssh, ipmi } = await bmc.serialConsole(options.signal)
  if (!ssh) return await sol(host, options, ipmi)
  // OpenSSH gets a password from a program only.
  const ask = join(options.scratch, 'console-password')
  await writeFile(ask, '#!/bin/sh\nprintf "%s\\n" "$IRONSTAGE_CONSOLE_PASSWORD"\n', { mode: 0o700 })
  await chmod(ask, 0o700)
  const asking = { SSH_ASKPASS: ask, SSH_ASKPASS_REQUIRE: 'force', IRONSTAGE_CONSOLE_PASSWORD: password }
  return {
    argv: [
      ...(['ssh', '-tt', '-o', 'NumberOfPasswordPrompts=1', '-o', 'StrictHostKeyChecking=yes'] as const),
      '-o',
      'ServerAliveInterval=30',
      '-p',
      String(ssh.port),
      '-l',
      username,
      new URL(host.bmc!.redfish!).hostname.replace(/^\[|\]$/g, ''),
      ...(ssh.command === undefined ? [] : [ssh.command]),
    ],
    variables: { ...options.variables, ...asking },
  }
}
