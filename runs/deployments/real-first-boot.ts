import { seconds, UserError } from '../../runtime/index.js'
import { listBlockDevices } from '../../steps/index.js'
import { verifyBoot, type BootNonce, type VerifiedBoot, type VerifyBootOptions } from '../../targets/index.js'
import type { DeploymentReport } from './deployment-report.js'
import type { RealDeploymentOptions } from './real-deployment.js'
import type { RealTarget } from '../targets/real-target.js'

/** What was asked of an installation. */
export interface AskedOfBoot {
  hostname: string
  appendKargs: readonly string[]
  deleteKargs: readonly string[]
  nonce: BootNonce | null
}

const PATIENCE = seconds(120)

/**
 * Waits until the machine has gone into its reboot, and, where that was asked for, until it runs what was installed.
 *
 * @throws UserError when it stays up; BootNotVerified
 */
export async function rebooted(
  { on, clock, logger, signal }: RealDeploymentOptions,
  before: VerifyBootOptions['before'],
  disk: ChosenDisk,
  { nonce, hostname, appendKargs, deleteKargs }: AskedOfBoot,
): Promise<VerifiedBoot | null> {
  const { access, shell } = on.ssh!
  if (nonce !== null)
    return verifyBoot({
      ...{ ssh: access, before, clock, logger, signal },
      expected: { nonce, disk, hostname, appendKargs, deleteKargs },
    })
  const limit = clock.now() + PATIENCE
  while (await shell.alive()) {
    if (clock.now() > limit)
      throw new UserError('not-rebooted', `${shell.name} was asked to reboot and did not`, {
        remedy: 'the disk is installed; look at why its system does not go down',
      })
    await clock.sleep(seconds(1), { signal })
  }
  return null
}

/** What stays with a disk over a boot; kernel names do not. */
export type ChosenDisk = VerifyBootOptions['expected']['disk']

export async function chosenDisk({ target, disk }: RealTarget): Promise<ChosenDisk> {
  // What stands for a disk has a serial number for this session only.
  if (/^\/dev\/loop\d+$/.test(disk.path)) return { serial: null, wwn: null }
  const found = (await listBlockDevices(target)).find(({ name }) => name === disk.path)
  return { serial: found?.serial ?? null, wwn: found?.wwn ?? null }
}

/** What is known of a disk that its own system has taken over. */
export function afterBoot(
  { disk: { path, size } }: RealTarget,
  node: string,
  took: DeploymentReport['seconds'],
  verified: VerifiedBoot | null,
): DeploymentReport {
  const checks = [
    { what: 'Ignition config and kernel arguments', ok: true, found: 'read back by install_coreos' },
    ...(verified
      ? verified.checks.map(({ what, ok, found }) => ({ what: `first boot, ${what}`, ok, found }))
      : [{ what: 'first boot', ok: true, found: 'not looked at: the machine went into its reboot' }]),
  ]
  return {
    node,
    disk: { file: path, size, table: 'gpt', guid: null },
    partitions: [],
    ...{ ignition: null, kernel_arguments: [], seconds: took, checks, ok: checks.every(({ ok }) => ok) },
  }
}
