import { UserError } from '../../base/runtime/index.js'
import { ERRORS } from '../errors.js'
import { shellWord } from '../supervised/shell-words.js'
import type { SupervisedExecutor } from '../supervised/supervised-executor.js'

// Requirements of the real coreos-installer that it notices only after it has written.

/** Null where the kernel reads GPT, and where no configuration of the kernel can be read. */
export async function missingGptParser(host: SupervisedExecutor): Promise<UserError | null> {
  const lines = await host.lines(
    `{ gzip -dc /proc/config.gz || cat "/boot/config-$(uname -r)" "/lib/modules/$(uname -r)/config"; } 2>/dev/null |
  grep -q '^# CONFIG_EFI_PARTITION is not set' && printf 'm\\n'`,
  )
  if (!lines.some(({ tag }) => tag === 'm')) return null
  return new UserError(
    'gpt-parser',
    'the kernel of this host cannot read GPT partition tables (CONFIG_EFI_PARTITION), so coreos-installer will not find ' +
      'the partitions that it wrote',
    ERRORS['gpt-parser'],
  )
}

/**
 * Null where a udevd runs, for which coreos-installer waits after it has written.
 *
 * @param root folder of the tree that the installer runs in, by chroot
 */
export async function missingUdev(host: SupervisedExecutor, root = ''): Promise<UserError | null> {
  const inTree = root === '' ? '' : `chroot ${shellWord(root)} `
  const [line] = await host.lines(`
if ! ${inTree}sh -c 'command -v udevadm' >/dev/null 2>&1; then printf 'w there is no udevadm\\n'
elif [ ! -S /run/udev/control ]; then printf 'w no udevd is running (there is no /run/udev/control)\\n'
fi`)
  if (line === undefined) return null
  return new UserError(
    'no-udev',
    `${line.text}, so coreos-installer will fail after it has written the disk`,
    ERRORS['no-udev'],
  )
}
