import type { Executor } from '../../targets/index.js'

/** How the target was booted, which is how it will boot its disk. */
export const bootMode = async (executor: Executor): Promise<'uefi' | 'bios'> =>
  (await executor.files.exists('/sys/firmware/efi')) ? 'uefi' : 'bios'
