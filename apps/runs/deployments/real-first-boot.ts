import { seconds, UserError } from '../../../base/runtime/index.js'
import { listBlockDevices } from '../../../steps/index.js'
import { verifyBoot, type BootNonce, type VerifiedBoot, type VerifyBootOptions } from '../../../targets/index.js'
import type { DeploymentReport } from './deployment-report.js'
import type { RealDeploymentOptions } from './real-deployment.js'
import type { RealTarget } from '../targets/real-target.js'

/** Properties that the installed system must have. */
export interface ExpectedFirstBoot {
  hostname: string
  appendKargs: readonly string[]
  deleteKargs: readonly string[]
  nonce: BootNonce | null
}

const INSTALLED_REBOOT_TIMEOUT = seconds(120)

/**
 * Waits until the machine reboots, and with a nonce until it runs the installed system.
 *
 * @throws UserError when the machine does not reboot; BootNotVerified
 */
export async function waitForReboot(
  { on, clock, logger, signal }: RealDeploymentOptions,
  before: VerifyBootOptions['before'],
  disk: ChosenDisk,
  { nonce, hostname, appendKargs, deleteKargs }: ExpectedFirstBoot,
): Promise<VerifiedBoot | null> {
  const { access, shell } = on.ssh!
  if (nonce !== null)
    return verifyBoot({
      ssh: access,
      before,
      clock,
      logger,
      signal,
      expected: { nonce, disk, hostname, appendKargs, deleteKargs },
    })
  const limit = clock.now() + INSTALLED_REBOOT_TIMEOUT
  while (await shell.alive()) {
    if (clock.now() > limit)
      throw new UserError('not-rebooted', `${shell.name} was asked to reboot and did not`, {
        remedy: 'the disk is installed; look at why its system does not go down',
      })
    await clock.sleep(seconds(1), { signal })
  }
  return null
}

/** Serial number and WWN of a disk, which stay the same over a reboot, unlike kernel names. */
export type ChosenDisk = VerifyBootOptions['expected']['disk']

export async function chosenDisk({ target, disk }: RealTarget): Promise<ChosenDisk> {
  // A loop device has a serial number for this session only.
  if (/^\/dev\/loop\d+$/.test(disk.path)) return { serial: null, wwn: null }
  const found = (await listBlockDevices(target)).find(({ name }) => name === disk.path)
  return { serial: found?.serial ?? null, wwn: found?.wwn ?? null }
}

/** Report on a disk whose installed system is running. */
export function reportAfterReboot(
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
    ignition: null,
    kernel_arguments: [],
    seconds: took,
    checks,
    ok: checks.every(({ ok }) => ok),
  }
}
