import { errorChain } from '../../base/runtime/index.js'
import { bootMode, chooseRootDevice, createBootEntry, listBlockDevices } from '../../steps/index.js'
import { AgentError } from '../../base/wire/index.js'
import type { CommandContext, Extension } from './extension.js'

/** Values of a missing boot partition: the disk holds a whole image, with its own boot loader. */
const WHOLE_DISK: readonly unknown[] = [undefined, null, '', '0x00000000']

/** Extension `image`: configures the firmware to boot the written image. */
export const imageExtension: Extension = {
  install_bootloader: {
    kind: 'async',
    required: ['root_uuid'],
    optional: ['efi_system_part_uuid', 'prep_boot_part_uuid', 'target_boot_mode', 'ignore_bootloader_failure'],
    run: async ({ root_uuid: root, ignore_bootloader_failure: ignore }, context) => {
      try {
        await installBootloader(root, context)
      } catch (error) {
        if (!(ignore ?? context.ignoreBootloaderFailure)) throw error
        context.signal.throwIfAborted()
        context.logger('error', `no boot loader was set up, which was to be ignored: ${errorChain(error).join(': ')}`)
      }
      return null
    },
  },
}

async function installBootloader(root: unknown, context: CommandContext): Promise<void> {
  const { target, node, clock, logger, signal } = context
  const device = chooseRootDevice(await listBlockDevices(target), node())
  if ((await bootMode(target.executor)) === 'uefi') {
    if (!target.has('efi-variables'))
      throw new AgentError('CommandExecutionError', `${target.name} does not allow changing its EFI boot entries`)
    return createBootEntry(target, device.name, { clock, logger, signal })
  }
  if (WHOLE_DISK.includes(root)) return logger('info', `${device.name} holds a whole image and boots by itself`)
  // IPA refuses too by default, since it would run programs found on the disk (CVE-2026-43003).
  throw new AgentError(
    'CommandExecutionError',
    'installing a boot loader for BIOS is not supported: deploy images of whole disks, or boot by UEFI',
  )
}
