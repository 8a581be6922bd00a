import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** Gives all tests of a run one folder for what is temporary, and takes it away with whatever they have left there. */
export default async function ownTemporaryFolder(): Promise<() => Promise<void>> {
  // Short: the path of a Unix socket has 107 characters at most.
  const folder = await mkdtemp(join(tmpdir(), 'is-'))
  process.env['TMPDIR'] = folder
  return () => rm(folder, { recursive: true, force: true, maxRetries: 3 })
}
