import { writeFile } from 'node:fs/promises'
import { homedir } from 'node:os'
import { join, resolve } from 'node:path'
import type { ImageCacheRequest } from '../../../lab/index.js'
import { openRealTarget, sshAccess, type RealTargetRequest } from '../../runs/index.js'
import { defined, readNamedText, type Clock, type Logger, type Random } from '../../../base/runtime/index.js'
import {
  parseSshTarget,
  type TargetCapability,
  type SecretSource,
  type SshShellOptions,
} from '../../../targets/index.js'
import type { ImageReach } from '../../../steps/index.js'
import { readHostAccount, openBmc } from '../bmc/open-bmc.js'
import { programLines } from '../console/console-process.js'
import { consoleProgram } from '../console/console-source.js'
import { deviceOf, sshUrlOf } from '../hosts/host-names.js'
import type { Host, HostsFile } from '../hosts/host.js'
import { ignitionOf } from '../hosts/host-ignition.js'
import { KnownSecrets } from '../hosts/known-secrets.js'
import { imageFileOf, ImageFiles } from '../images/host-image-files.js'
import type { HostAccess } from './host-access.js'

export interface RealAccessOptions {
  file: HostsFile
  /** Folder for SSH settings, which only this user may read. */
  folder: string
  variables: Readonly<Record<string, string | undefined>>
  /** As for `openRealTarget`. */
  environment: Readonly<Record<string, string | undefined>>
  secrets: SecretSource
  images?: ImageCacheRequest
  /** How hosts get images; by default through their SSH connections. */
  reach?: ImageReach
  clock: Clock
  random: Random
  logger: Logger
}

/** Access to hosts that are there. */
export function realAccess(options: RealAccessOptions): HostAccess {
  const { file, clock, random, logger } = options
  const secrets = new KnownSecrets()
  const imageFiles = new ImageFiles({ clock, random, logger }, options.reach)
  const parts = (signal: AbortSignal) => ({ folder: file.folder, variables: options.variables, signal })
  const ssh = async (host: Host): Promise<SshShellOptions> => {
    const hostKeys = host.ssh['host-keys'] ?? []
    const access = sshAccess(
      sshUrlOf(host),
      { hostKeys, configFile: await configFile(host, options) },
      { environment: options.environment, secrets: options.secrets, clock, random, logger },
    )
    return { ...access, address: parseSshTarget(sshUrlOf(host)) }
  }
  return {
    ssh,
    mask: (text) => secrets.mask(text),
    openBmc: (host, signal) => openBmc(host, { ...parts(signal), known: secrets, clock, random, logger, signal }),
    bmcAccount: (host, signal) => readHostAccount(host, { ...parts(signal), known: secrets, clock, random, logger }),
    openConsole: async (host, signal) => {
      const more = { known: secrets, clock, random, logger, signal, scratch: options.folder }
      const program = await consoleProgram(host, { ...parts(signal), ...more })
      return program && programLines(program, clock, signal)
    },
    ignition: (host, signal) => ignitionOf(host, parts(signal)),
    openTarget: async (host, { readOnly, signal, reboot = false }) => {
      const [device, yesErase] = deviceOf(host)
      const allow = [...((host.allow ?? []) as TargetCapability[]), ...(reboot ? (['reboot'] as const) : [])]
      const request: RealTargetRequest = {
        target: sshUrlOf(host),
        device,
        yesErase,
        allow: [...new Set(allow)],
        disposable: host['target-is-disposable'] ?? false,
        installer: host.installer,
        ssh: { hostKeys: host.ssh['host-keys'] ?? [], configFile: await configFile(host, options) },
        ...defined({ images: options.images, reach: options.reach }),
      }
      const { environment, secrets: source } = options
      const parts = { environment, secrets: source, clock, random, logger, signal }
      const opened = await openRealTarget({ ...request, readOnly, ...parts })
      const image = imageFileOf(host)
      if (image === undefined || reboot) return opened
      try {
        return await imageFiles.on(opened, image, host)
      } catch (error) {
        await opened[Symbol.asyncDispose]()
        throw error
      }
    },
  }
}

/** The user's SSH configuration, or one of the run's own that names the key of the file in front of it. */
async function configFile(
  { name, ssh: { key, config } }: Host,
  { folder, file }: RealAccessOptions,
): Promise<string | null | undefined> {
  const named = config === undefined ? undefined : config === 'none' ? null : resolve(file.folder, config)
  if (key === undefined) return named
  const path = join(folder, `ssh-config-${name}`)
  const keyPath = key.startsWith('~/') ? join(homedir(), key.slice(2)) : resolve(file.folder, key)
  const rest = named === null ? '' : await readNamedText(named ?? join(homedir(), '.ssh/config')).catch(() => '')
  await writeFile(path, `Host *\n  IdentityFile "${keyPath}"\n  IdentitiesOnly yes\n\n${rest}`, { mode: 0o600 })
  return path
}
