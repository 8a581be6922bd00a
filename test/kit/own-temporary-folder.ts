import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** Makes one temporary folder for all tests of a run, and removes it with everything in it. */
export default async function ownTemporaryFolder(): Promise<() => Promise<void>> {
  // Short: the path of a Unix socket has 107 characters at most.
  const folder = await mkdtemp(join(tmpdir(), 'is-'))
  process.env['TMPDIR'] = folder
  return () => rm(folder, { recursive: true, force: true, maxRetries: 3 })
}
