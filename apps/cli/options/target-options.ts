import { openRealTarget, planText, type RealTarget, type RealTargetRequest } from '../../runs/index.js'
import { readPartitions } from '../../../steps/index.js'
import { defined, systemRandom, type Clock } from '../../../base/runtime/index.js'
import type { TargetCapability } from '../../../targets/index.js'
import type { Environment } from '../environment.js'
import { logTo } from '../output/command-log.js'
import type { CommandOptionValues } from './resolve-options.js'
import { secretSource, targetEnvironment } from './secret-source.js'
import type { REAL_TARGET_OPTIONS } from './option-lists.js'
import { usageError } from '../usage-error.js'

type TargetOptions = CommandOptionValues<(typeof REAL_TARGET_OPTIONS)[number]>

/** Options that a simulated machine has no use for. */
const ONLY_REAL = [
  'device',
  'yes-erase',
  'allow',
  'target-is-disposable',
  'target-root',
  'installer',
  'host-key',
  'ssh-config',
  'stage-image',
  'check',
] as readonly Exclude<(typeof REAL_TARGET_OPTIONS)[number], 'target' | 'plan'>[]

/** Options that only a machine behind SSH has a use for. */
const ONLY_SSH = ['host-key', 'ssh-config', 'stage-image'] as const

/**
 * Settings of a real target from the options; null for a simulated machine.
 *
 * @throws UserError (usage) for options that do not go together, and for targets that cannot be reached
 */
export function realTarget(options: TargetOptions): RealTargetRequest | null {
  const { target = 'sim' } = options
  if (target === 'sim') {
    const misplaced = ONLY_REAL.find((name) => options[name] !== undefined)
    if (misplaced === undefined) return null
    throw targetUsageError(
      `--${misplaced} is for a real target, and this one is simulated`,
      'name the target with --target, or leave it out',
    )
  }
  const misplaced = target.startsWith('ssh:') ? undefined : ONLY_SSH.find((name) => options[name] !== undefined)
  if (misplaced !== undefined)
    throw targetUsageError(
      `--${misplaced} is for a machine behind SSH`,
      'name one with --target ssh://user@host, or leave it out',
    )
  return {
    target,
    device: options.device,
    yesErase: options['yes-erase'],
    allow: (options.allow ?? []) as TargetCapability[],
    disposable: options['target-is-disposable'] ?? false,
    installer: options.installer,
    root: options['target-root'],
    ssh: {
      hostKeys: options['host-key'] ?? [],
      stageImage: options['stage-image'] ?? false,
      ...defined({
        configFile:
          options['ssh-config'] === undefined
            ? undefined
            : options['ssh-config'] === 'none'
              ? null
              : options['ssh-config'],
      }),
    },
  }
}

/**
 * Does what `--plan` and `--check` ask for.
 *
 * @param does what the command would do with the disk
 * @returns the exit code; undefined when neither was asked for
 */
export async function onlyShown(
  request: RealTargetRequest,
  { plan = false, check = false, json = false }: { plan?: boolean; check?: boolean; json?: boolean },
  does: string,
  environment: Environment,
  clock: Clock,
): Promise<number | undefined> {
  const { stdout } = environment
  if (plan) {
    const lines = planText(request, does)
    stdout.either(json, { event: 'plan', lines }, lines)
    return 0
  }
  if (!check) return undefined
  await using on = await openFor(request, environment, clock, json, true)
  const { disk, installer } = on
  const { installerFails = null } = on.target
  const isReady = disk.inUse === null && installerFails === null
  const { type, partitions } = await readPartitions(on.target, disk.path)
  if (json) {
    const { confinement } = on.target
    const lack = installerFails && { code: installerFails.code, message: installerFails.message }
    stdout.json({ event: 'check', disk, table: type, partitions, installer, installer_fails: lack, confinement })
    return isReady ? 0 : 1
  }
  const lines = [
    `${request.target}: only checked, nothing was written`,
    `  disk       ${disk.path} (${disk.number}), ${disk.size} bytes${disk.model === null ? '' : `, ${disk.model}`}`,
    `  in use     ${disk.inUse ?? 'no'}`,
    `  confined   ${on.target.confinement}`,
    `  installer  ${installer ?? 'none: coreos-installer was not found on PATH; --installer built-in takes that of ironstage'}`,
    ...(installerFails === null
      ? []
      : [`  will fail  ${installerFails.message}`, `             ${installerFails.remedy}`]),
    `would be destroyed: ${type === null ? 'what is on it; there is no partition table' : `the partition table (${type})${partitions.length === 0 ? '' : ' and'}`}`,
    ...partitions.map(
      ({ name, partitionLabel, filesystem, label }) =>
        `  ${name}  ${partitionLabel ?? '-'}  ${filesystem ?? 'no file system'}${label === null ? '' : ` "${label}"`}`,
    ),
  ]
  stdout.lines(lines)
  return isReady ? 0 : 1
}

export function openFor(
  request: RealTargetRequest,
  environment: Environment,
  clock: Clock,
  json: boolean,
  readOnly = false,
): Promise<RealTarget> {
  return openRealTarget({
    ...request,
    readOnly,
    clock,
    random: systemRandom,
    logger: logTo(environment, json),
    signal: environment.stopped,
    environment: targetEnvironment(environment),
    secrets: secretSource(environment),
  })
}

const targetUsageError = (message: string, remedy: string) => usageError(message, remedy, 'target')
