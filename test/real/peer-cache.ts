import { access, mkdir, mkdtemp, rename, rm } from 'node:fs/promises'
import { homedir } from 'node:os'
import { join } from 'node:path'

/** Peers stay here between runs, and all checkouts share them. */
const CACHE = join(process.env['XDG_CACHE_HOME'] || join(homedir(), '.cache'), 'ironstage-peers')

/**
 * Returns the path of a file or folder of the cache, and builds it the first time. It appears in the cache only when it
 * is complete, so an interrupted run leaves nothing that looks usable.
 *
 * @param name changes with everything that the result depends on
 * @param build builds in the folder that it gets, and returns the path of the result in there
 */
export async function cachedPeer(name: string, build: (building: string) => Promise<string>): Promise<string> {
  const path = join(CACHE, name)
  if (await exists(path)) return path
  await mkdir(CACHE, { recursive: true })
  const building = await mkdtemp(join(CACHE, 'building-'))
  try {
    await rename(await build(building), path).catch(async (error: unknown) => {
      // Another run has built the same meanwhile.
      if (!(await exists(path))) throw error
    })
  } finally {
    await rm(building, { recursive: true, force: true })
  }
  return path
}

export const exists = (path: string): Promise<boolean> =>
  access(path).then(
    () => true,
    () => false,
  )
