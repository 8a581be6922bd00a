import { bytesSource, makeCpio, type Representation } from '../../base/bytes/index.js'
import { shortDigest } from './live-files.js'

/** Fixed modification time, since these files never change. */
const MODIFIED = Date.UTC(2026, 0, 1)

/**
 * Placeholder for a kernel and ramdisk without CoreOS. A simulated machine checks only that the ramdisk is not CoreOS's.
 */
export function oldRamdisk(kind: string): Representation | undefined {
  switch (kind) {
    case 'kernel':
      return bytesRepresentation(Buffer.from('a kernel for simulated machines\n'.repeat(64)))
    case 'initramfs':
      return bytesRepresentation(
        makeCpio([{ path: 'etc/ironic-python-agent.d/README', bytes: Buffer.from('the agent of old\n') }]),
      )
    default:
      return undefined
  }
}

const bytesRepresentation = (bytes: Uint8Array): Representation => ({
  source: bytesSource(bytes),
  etag: `"${shortDigest(bytes)}"`,
  modified: MODIFIED,
  type: 'application/octet-stream',
})
