import { errorChain, isObject } from '../../base/runtime/index.js'
import type { Target } from '../../targets/index.js'
import { programJson } from '../hardware/program-json.js'
import { runToEnd, runCommand } from '../sdk/run-command.js'
import { StepError, type StepContext } from '../sdk/step.js'
import { eraseOptionsOf } from './erasable.js'

export const isNvme = (disk: string): boolean => disk.startsWith('/dev/nvme')

/**
 * Makes a disk erase itself, if it can and the node does not forbid it.
 *
 * @returns the method used; null when the disk must be overwritten instead
 * @throws StepError when the disk fails to erase itself, unless `agent_continue_if_secure_erase_failed` is set
 */
export async function eraseItself(context: StepContext, disk: string): Promise<string | null> {
  const wanted = isNvme(disk) ? 'agent_enable_nvme_secure_erase' : 'agent_enable_ata_secure_erase'
  if (eraseOptionsOf(context.node)[wanted] === false) return null
  try {
    return isNvme(disk) ? await eraseNvme(context, disk) : await eraseAta(context, disk)
  } catch (error) {
    context.signal.throwIfAborted()
    if (eraseOptionsOf(context.node)['agent_continue_if_secure_erase_failed'] !== true) throw error
    context.logger('warn', `${disk} did not erase itself, and is overwritten: ${errorChain(error).join(': ')}`)
    return null
  }
}

/** The security part of `hdparm -I`; null for a disk without it, and where there is no hdparm. */
async function ataSecurity(target: Target, disk: string) {
  const { stdout, exit } = await runToEnd(target.executor, ['hdparm', '-I', disk], { effect: 'reads' })
  if (exit.kind !== 'exited' || exit.code !== 0) return null
  const lines = (stdout.split(/^Security:/m)[1] ?? '').split('\n').map((line) => line.trim().replace(/\s+/g, ' '))
  if (!lines.includes('supported')) return null
  return {
    enabled: lines.includes('enabled'),
    frozen: lines.includes('frozen'),
    enhanced: lines.some((line) => line === 'supported: enhanced erase'),
  }
}

async function eraseAta({ target, signal }: StepContext, disk: string): Promise<string | null> {
  const security = await ataSecurity(target, disk)
  if (security === null) return null
  if (security.frozen)
    throw new StepError(
      `${disk} cannot erase itself: the firmware has frozen its security feature. Power-cycle the disk, change the firmware's setting, or switch agent_enable_ata_secure_erase off.`,
      { type: 'BlockDeviceEraseError' },
    )
  const run = (option: string) =>
    runCommand(target.executor, ['hdparm', '--user-master', 'u', option, 'NULL', disk], { effect: 'writes', signal })
  // An interrupted erasure has left the same password.
  if (!security.enabled) await run('--security-set-pass')
  await run(security.enhanced ? '--security-erase-enhanced' : '--security-erase')
  if ((await ataSecurity(target, disk))?.enabled)
    throw new StepError(`${disk} still has its security password: it did not erase itself`, {
      type: 'BlockDeviceEraseError',
    })
  return security.enhanced ? 'erased itself (ATA enhanced secure erase)' : 'erased itself (ATA secure erase)'
}

async function eraseNvme({ target, signal }: StepContext, disk: string): Promise<string | null> {
  const { stdout } = await runToEnd(target.executor, ['nvme', 'id-ctrl', disk, '-o', 'json'], { effect: 'reads' })
  const abilities = programJson(stdout)
  if (!isObject(abilities) || (Number(abilities['oacs']) & 2) === 0) return null
  // A cryptographic erase takes no time; a disk without it erases the user data.
  const byKey = (Number(abilities['fna']) & 4) !== 0
  await runCommand(target.executor, ['nvme', 'format', disk, '-s', byKey ? '2' : '1', '-f'], {
    effect: 'writes',
    signal,
  })
  return byKey ? 'erased itself (NVMe format, cryptographic)' : 'erased itself (NVMe format, user data)'
}
