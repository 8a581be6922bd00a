import { basename } from 'node:path'
import type { StreamArtifact } from '../../../coreos/index.js'
import type { Printer } from './printer.js'

/** For a terminal: one line for each file, rewritten as it grows. Nothing for logs and pipes. */
export function fetchProgress(stderr: Printer): {
  onProgress?: (artifact: StreamArtifact, received: number, total: number | null) => void
} {
  if (!stderr.isTTY) return {}
  let shown = ''
  return {
    onProgress({ location }, received, total) {
      const name = basename(new URL(location).pathname)
      const amount = total ? `${Math.floor((100 * received) / total)} %` : `${(received / 2 ** 20).toFixed(0)} MiB`
      const line = `${name}: ${amount}`
      if (line === shown) return
      shown = line
      stderr.replaceLine(line, { hasEnded: received === total })
    },
  }
}
