import { mirroredUrl } from './metadata/mirror.js'
import { isLoopback } from '../base/bytes/index.js'
import { UserError } from '../base/runtime/index.js'

/** Servers from which published files may be downloaded. */
export interface DownloadPolicy {
  /** Base URL of a mirror, the only server to use. Its files have the same paths as on the original server. */
  mirror?: string
  /** Forbids all downloads. */
  offline?: boolean
  /** Allows http, and files whose signature is missing although their metadata names one. */
  insecure?: boolean
}

/** URL of a file, on the mirror if there is one. */
export const mirroredLocation = (location: string, { mirror }: DownloadPolicy): string =>
  mirror === undefined ? location : mirroredUrl(mirror, location)

/** Returns a check that throws for a forbidden URL, redirects included, before a request is sent. */
export function refuseForbiddenUrls({
  mirror,
  offline = false,
  insecure = false,
}: DownloadPolicy): (url: string) => void {
  return (url) => {
    const { protocol, host, hostname } = new URL(url)
    const shown = `${protocol}//${host}`
    if (offline)
      throw new UserError('offline', `a file of ${shown} is needed, and --offline forbids downloads`, {
        remedy: 'fetch it once without --offline; the cached file is used from then on',
      })
    if (mirror !== undefined && !isUnderMirror(mirror, url))
      throw new UserError('outside-mirror', `a file of ${shown} is needed, which is not on the mirror ${mirror}`, {
        remedy: 'put the file on the mirror itself, without redirects to other servers',
      })
    if (protocol !== 'https:' && !insecure && !isLoopback(hostname))
      throw new UserError('http-refused', `${shown} uses ${protocol.slice(0, -1)}, but https is required`, {
        remedy: 'use https; where a command has --insecure, that allows http',
      })
  }
}

const isUnderMirror = (mirror: string, url: string): boolean => {
  const base = new URL(mirror)
  const asked = new URL(url)
  const path = base.pathname.replace(/\/*$/, '/')
  return base.origin === asked.origin && asked.pathname.startsWith(path)
}
