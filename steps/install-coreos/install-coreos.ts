import { maskedUrl, sha256Hex } from '../../base/bytes/index.js'
import { MASKED_IGNITION, summarizeIgnition } from '../../ignition/index.js'
import { errorChain } from '../../base/runtime/index.js'
import { defineStep } from '../sdk/define-step.js'
import { listBlockDevices, sysText, type BlockDevice } from '../hardware/block-devices.js'
import { bootMode } from '../hardware/boot-mode.js'
import { createBootEntry } from '../hardware/efi.js'
import { nodeWithHints } from '../hardware/node-with-hints.js'
import { rescanDevice } from '../hardware/rescan.js'
import { chooseRootDevice } from '../hardware/root-device.js'
import { forbiddenDisk } from '../hardware/writable-root.js'
import { deletableArrays, deleteArray, listRaidArrays, type RaidArray } from '../hardware/software-raid.js'
import type { StagedAsset, Target } from '../../targets/index.js'
import { runToEnd } from '../sdk/run-command.js'
import { StepError, type StepContext } from '../sdk/step.js'
import { fullDiskReason } from '../sdk/disk-full.js'
import { INSTALL_ARGS, type InstallCoreosArgs } from './args.js'
import { installerArgv } from './argv.js'
import { resolveInput, type InstallInput } from './install-input.js'
import { stagedImage } from './staged-image.js'
import { readBack } from './read-back.js'
import { runInstaller } from './run-installer.js'
import { makeUnbootable } from './unbootable.js'

/**
 * Installs CoreOS with coreos-installer. Reads its input from arguments or, as OpenShift's own step does, from configdrive
 * and instance_info. Advertised with priority 0: it runs only on request, as from BareMetal Operator with priority 80.
 *
 * Returns null, as OpenShift's step does: Ironic only logs a step's result.
 *
 * @example
 * import { installCoreosStep } from 'ironstage/steps'
 *
 * const { argsinfo } = installCoreosStep.advertise('deploy')
 */
export const installCoreos = defineStep<InstallCoreosArgs>({
  name: 'install_coreos',
  interface: 'deploy',
  on: ['deploy'],
  args: INSTALL_ARGS,
  run: async (context, args) => {
    const { target, node, environment, progress, logger } = context
    refuseFailing(target)
    const input = resolveInput({ args, node, environment, liveHostname: await liveHostname(context) })
    logInput(context, input)
    // Stage first: a missing image must leave arrays and disks unchanged.
    await using staged = await stagedImage(context, input)
    progress.stage('finding the root device')
    const device = await prepareDisk(context)
    logger('info', `installing to ${device.name}`, { model: device.model, size: device.size, serial: device.serial })
    try {
      await installOnDevice(context, input, device.name, staged)
    } catch (error) {
      // A stopped agent leaves the installer running: nothing has failed, and there is no cleanup.
      context.signal.throwIfAborted()
      if (!input.preserveOnError) await leaveUnbootable(context, device.name, error)
      throw asStepError(error)
    }
    logger('info', `CoreOS is installed on ${device.name}`, { target: target.name })
    return null
  },
})

/** @throws StepError where the installer would fail after it has written */
function refuseFailing({ installerFails, planned = false }: Target): void {
  if (!installerFails || planned) return
  const { message, remedy = '' } = installerFails
  throw new StepError(`${message}. Nothing was written: ${remedy}`)
}

/**
 * Chooses the disk to install to, and deletes software RAID arrays. The upstream step deletes arrays before it looks for
 * the disk; here nothing is deleted when there is no disk to install to.
 */
async function prepareDisk(context: StepContext): Promise<BlockDevice> {
  const { target, logger, progress } = context
  const devices = await listBlockDevices(target)
  const arrays = await arraysToDelete(context, devices)
  const remaining = devices.filter((device) => !arrays.some((array) => array.name === device.name))
  const chosen = chooseRootDevice(remaining, await nodeWithHints(context))
  if (!target.disks.mayWrite(chosen)) throw forbiddenDisk(target, chosen, 'is the disk that would be installed to')
  if (arrays.length > 0) progress.stage('deleting software RAID')
  for (const array of arrays) await deleteArray(target, array, logger)
  return chosen
}

/** Arrays to delete; none when the node's `automated_clean` is false, as in the upstream step. */
async function arraysToDelete({ target, node, logger }: StepContext, devices: BlockDevice[]): Promise<RaidArray[]> {
  if (node['automated_clean'] === false || !target.has('software-raid')) return []
  const arrays = await listRaidArrays(target)
  const deletable = deletableArrays(target, arrays, devices)
  for (const { name } of arrays)
    if (!deletable.some((array) => array.name === name))
      logger('warn', `keeping ${name}: it has members on disks that may not be written; the installation may fail`)
  return deletable
}

async function installOnDevice(
  context: StepContext,
  input: InstallInput,
  device: string,
  staged: StagedAsset | null,
): Promise<void> {
  const { target, progress, logger, signal } = context
  const config = input.ignition && Buffer.from(JSON.stringify(input.ignition))
  const file = config && `${target.scratch ?? '/tmp'}/ironic-${nodeName(context)}.ign`
  progress.stage(`installing to ${device}`)
  try {
    if (file) await target.executor.files.write(file, config, { mode: 0o600 })
    await runInstaller(context, installerArgv(input, file && target.hostPath(file), device, staged), () =>
      staged?.failure(),
    )
  } finally {
    // The file holds secrets, and the live system may continue to run. A restarted agent still needs it.
    if (file && !signal.aborted) await target.executor.files.remove(file).catch(() => {})
  }
  // A plan installed nothing that could be read back or booted.
  if (target.planned) return
  progress.stage('reading the disk back')
  await rescanDevice(target, device, logger)
  const digest = config && sha256Hex(config)
  const differences = await readBack(target, device, input, digest, logger)
  if (differences.length > 0) throw await differenceError(target, differences)
  await makeBootEntry(context, device)
  if (input.ejectMedia) await ejectMedia(context)
}

/**
 * A disk that is a file may lack bytes without an error: Linux takes a write to a loop device for a whole one when its file
 * had room for a part of it (drivers/block/loop.c lo_complete_rq).
 */
async function differenceError(target: Target, differences: readonly string[]): Promise<StepError> {
  const text = `coreos-installer succeeded, but the disk is not as asked: ${differences.join('; ')}`
  const why = await fullDiskReason(target)
  return new StepError(why === undefined ? text : `${text}. ${why}`)
}

/** Runs after the read-back, so that the firmware never boots an unverified disk. */
async function makeBootEntry({ target, progress, logger, clock, signal }: StepContext, device: string): Promise<void> {
  if ((await bootMode(target.executor)) !== 'uefi') return
  if (!target.has('efi-variables')) {
    logger('info', `no EFI boot entry is made: ${target.name} does not allow it`)
    return
  }
  progress.stage('making the EFI boot entry')
  await createBootEntry(target, device, { clock, logger, signal })
}

/** Some servers boot the disk only without virtual media. The agent continues to run from memory. */
async function ejectMedia({ target, progress, logger }: StepContext): Promise<void> {
  progress.stage('ejecting virtual media')
  const { exit, stderr } = await runToEnd(target.executor, ['eject', '/dev/sr0'], { effect: 'writes' })
  if (exit.kind !== 'exited' || exit.code !== 0)
    logger('warn', `the medium that the live system was booted from is not ejected: ${stderr.trim()}`)
}

/** Best effort: the step reports its first error, and the target may be gone. */
async function leaveUnbootable({ target, logger }: StepContext, device: string, failure: unknown): Promise<void> {
  try {
    await makeUnbootable(target, device, logger)
  } catch (error) {
    logger('error', `${device} may still be bootable: ${errorChain(error).join(': ')}`, {
      after: errorChain(failure)[0],
    })
  }
}

/** Wraps errors other than StepError, which is complete in itself. */
const asStepError = (error: unknown): StepError =>
  error instanceof StepError
    ? error
    : new StepError(`install_coreos: ${errorChain(error).join(': ')}`, { cause: error })

/** Name of the config file, distinct for each node, since two targets may be loop devices of one host. */
function nodeName({ node }: StepContext): string {
  const uuid = node['uuid']
  return typeof uuid === 'string' && /^[\w-]+$/.test(uuid) ? uuid : 'node'
}

/** Name of the live system; where the agent could not set it, the one that it would have got. */
async function liveHostname({ target, environment }: StepContext): Promise<string | null> {
  const name = await sysText(target.executor, '/proc/sys/kernel/hostname')
  const isOwn = name !== null && !/^localhost(\.|$)/.test(name)
  return isOwn ? name : environment['IPA_DEFAULT_HOSTNAME'] || null
}

function logInput({ logger }: StepContext, input: InstallInput): void {
  const { ignition, ignitionWarnings, image, ...rest } = input
  for (const warning of ignitionWarnings) logger('warn', `the Ignition config: ${warning}`)
  logger('info', 'what is to be installed', {
    ...rest,
    image: image ? maskedUrl(image.url) : 'carried by the live system',
    ignition: ignition && { config: MASKED_IGNITION, ...summarizeIgnition(ignition) },
  })
}
