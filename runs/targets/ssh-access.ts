import { UserError, type Clock, type Logger, type Random } from '../../runtime/index.js'
import { parsePins, parseSshTarget, type SecretSource, type SshShellOptions } from '../../targets/index.js'

/** How a machine behind SSH is to be reached, beside what `~/.ssh` says. */
export interface SshRequest {
  /** Fingerprints of host keys, by phase, as `--host-key` takes them. */
  hostKeys: readonly string[]
  /** Instead of `~/.ssh/config` and the system's; null reads neither. */
  configFile?: string | null | undefined
  /** Images are brought onto the machine whole before they are installed; else they are passed on while they are. */
  stageImage?: boolean
}

export const isSsh = (target: string): boolean => target.startsWith('ssh:')

/**
 * What a target and its request come to.
 *
 * @param environment `HOME`, `USER` or `LOGNAME`, and `SSH_AUTH_SOCK` are taken from it
 * @throws UserError (usage) for an address or a fingerprint that is none
 */
export function sshAccess(
  target: string,
  { hostKeys, configFile }: SshRequest,
  parts: {
    environment: Readonly<Record<string, string | undefined>>
    secrets: SecretSource
    clock: Clock
    random: Random
    logger: Logger
  },
): SshShellOptions {
  const { environment, ...more } = parts
  const { HOME: home, USER: user, LOGNAME: logname, SSH_AUTH_SOCK: agentSocket } = environment
  const address = parseSshTarget(target)
  if (home === undefined || home === '')
    throw new UserError('no-home', 'your home folder, where SSH keeps its known hosts, is not known', {
      kind: 'usage',
      remedy: 'set HOME',
    })
  return {
    ...more,
    address,
    pins: parsePins(hostKeys),
    surroundings: {
      ...{ home, userName: user ?? logname ?? 'root', agentSocket: agentSocket || null },
      ...(configFile === undefined ? {} : { configFile }),
    },
  }
}
