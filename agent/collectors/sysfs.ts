import type { Executor } from '../../targets/index.js'

/** Trimmed text of a file; null when there is none. */
export async function readSysfsText({ files }: Executor, path: string): Promise<string | null> {
  try {
    return Buffer.from(await files.read(path))
      .toString('utf8')
      .trim()
  } catch (error) {
    if (isMissing(error)) return null
    throw error
  }
}

/** Names in a folder; empty when there is no such folder. */
export async function namesIn({ files }: Executor, path: string): Promise<string[]> {
  try {
    return await files.list(path)
  } catch (error) {
    if (isMissing(error)) return []
    throw error
  }
}

const isMissing = (error: unknown): boolean =>
  error instanceof Error && ['ENOENT', 'ENOTDIR', 'EINVAL', 'ENODEV'].includes((error as { code?: string }).code ?? '')
