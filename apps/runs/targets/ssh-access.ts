import { UserError, defined, type Clock, type Logger, type Random } from '../../../base/runtime/index.js'
import { parsePins, parseSshTarget, type SecretSource, type SshShellOptions } from '../../../targets/index.js'
import { ERRORS } from '../errors.js'

/** Options for SSH, in addition to the user's configuration. */
export interface SshRequest {
  /** Fingerprints of host keys, by phase, as `--host-key` takes them. */
  hostKeys: readonly string[]
  /** Replaces `~/.ssh/config` and the system's file; null reads neither. */
  configFile?: string | null | undefined
  /** Copies whole images to the machine before the installation; otherwise the installer reads them through this host. */
  stageImage?: boolean
}

export const isSsh = (target: string): boolean => target.startsWith('ssh:')

/**
 * Options of the SSH connection to a target.
 *
 * @param parts its `environment` provides `HOME`, `USER` or `LOGNAME`, and `SSH_AUTH_SOCK`
 * @throws UserError (usage) for an invalid address or fingerprint
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
      remedy: ERRORS['no-home'].remedy,
    })
  return {
    ...more,
    address,
    pins: parsePins(hostKeys),
    surroundings: {
      home,
      userName: user ?? logname ?? 'root',
      agentSocket: agentSocket || null,
      ...defined({ configFile }),
    },
  }
}
