import { bytesSource, cpio, type Representation } from '../../bytes/index.js'
import { digest } from './live-files.js'

/** Of the day that the format was settled: these never change. */
const MODIFIED = Date.UTC(2026, 0, 1)

/**
 * Kernel and ramdisk of the kind that Ironic boots without CoreOS, with the agent in the ramdisk: for simulated machines,
 * to which only matters that the ramdisk is none of CoreOS.
 */
export function oldRamdisk(kind: string): Representation | undefined {
  switch (kind) {
    case 'kernel':
      return file(Buffer.from('a kernel for simulated machines\n'.repeat(64)))
    case 'initramfs':
      return file(cpio([{ path: 'etc/ironic-python-agent.d/README', bytes: Buffer.from('the agent of old\n') }]))
    default:
      return undefined
  }
}

const file = (bytes: Uint8Array): Representation => ({
  ...{ source: bytesSource(bytes), etag: `"${digest(bytes)}"`, modified: MODIFIED, type: 'application/octet-stream' },
})
