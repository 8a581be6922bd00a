import type { Executor } from '../../targets/index.js'

/** Firmware that booted the target, and that will boot its disk. */
export const bootMode = async (executor: Executor): Promise<'uefi' | 'bios'> =>
  (await executor.files.exists('/sys/firmware/efi')) ? 'uefi' : 'bios'
