import { realpath, stat } from 'node:fs/promises'
import { resolve } from 'node:path'

/** Ironic's default of `[conductor]file_url_allowed_paths`. */
export const FILE_URL_PATHS: readonly string[] = ['/var/lib/ironic']

/** Folders that Ironic refuses in file URLs even where they are allowed. */
const FORBIDDEN_PATHS = ['/dev', '/sys', '/proc', '/boot', '/etc', '/run']

/** A file URL that must not be read; the message is the reason in Ironic's words. */
export class FileUrlRefused extends Error {
  override name = 'FileUrlRefused'
}

export const isFileUrl = (url: string): boolean => /^\s*file:/i.test(url)

/**
 * Path of the file that a URL names, with all links followed.
 *
 * @param allowedPaths folders whose files may be read
 * @throws FileUrlRefused for another host, another folder or no regular file, in the words of ironic 39.0.0
 *   common/image_service.py FileImageService.validate_href
 */
export async function fileOfUrl(url: string, allowedPaths: readonly string[]): Promise<string> {
  const named = pathIn(url)
  checkAllowed(named, allowedPaths)
  // The file does not exist: the message does not say what is behind a link.
  const path = await realpath(named).catch(() => undefined)
  if (path === undefined) throw new FileUrlRefused('Specified image file not found.')
  // Ironic compares the path as it is named, so that a link in an allowed folder leads out of it.
  const real = await Promise.all(allowedPaths.map((folder) => realpath(folder).catch(() => folder)))
  checkAllowed(path, real)
  const found = await stat(path).catch(() => undefined)
  if (!found?.isFile()) throw new FileUrlRefused('Specified image file not found.')
  return path
}

function pathIn(url: string): string {
  if (!URL.canParse(url)) throw new FileUrlRefused('Security: the file URL cannot be read')
  const { host, pathname } = new URL(url)
  if (host !== '') throw new FileUrlRefused(`Security: the file URL names the host ${host}`)
  try {
    const path = resolve(decodeURIComponent(pathname))
    if (!path.includes('\0')) return path
  } catch {
    // Refused below.
  }
  throw new FileUrlRefused('Security: the file URL cannot be read')
}

const isWithin = (path: string, folder: string): boolean =>
  path === folder || path.startsWith(folder.endsWith('/') ? folder : `${folder}/`)

function checkAllowed(path: string, allowedPaths: readonly string[]): void {
  const forbidden = FORBIDDEN_PATHS.find((folder) => isWithin(path, folder))
  if (forbidden !== undefined) throw new FileUrlRefused(`Security: The path ${forbidden} is not permitted in file URLs`)
  if (!allowedPaths.some((folder) => isWithin(path, folder)))
    throw new FileUrlRefused(`Security: Path ${path} is not allowed for image source file URLs`)
}
