import { debianProgram } from '../../real/peers.js'

/**
 * Installs Debian's Chromium.
 *
 * @throws when it cannot be installed: a missing browser is a failure, never a skip
 */
export default async function installChromium(): Promise<void> {
  await debianProgram('chromium', 'chromium')
}
