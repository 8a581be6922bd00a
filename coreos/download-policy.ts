import { mirroredUrl } from './metadata/mirror.js'
import { UserError } from '../runtime/index.js'

/** What may be asked for published files. */
export interface DownloadPolicy {
  /** Base URL of a mirror: nothing else is asked. Its files have the paths that they have where they come from. */
  mirror?: string
  /** Asks nobody. */
  offline?: boolean
  /** Lets http pass, and files without the signature that their metadata speaks of. */
  insecure?: boolean
}

/** Where a file is to be had. */
export const mirroredLocation = (location: string, { mirror }: DownloadPolicy): string =>
  mirror === undefined ? location : mirroredUrl(mirror, location)

/** Refuses what must not be asked, redirects included, before anything is sent. */
export function refuseForbiddenUrls({
  mirror,
  offline = false,
  insecure = false,
}: DownloadPolicy): (url: string) => void {
  return (url) => {
    const { protocol, host, hostname } = new URL(url)
    const shown = `${protocol}//${host}`
    if (offline)
      throw new UserError('offline', `${shown} would have to be asked, and this is to be done offline`, {
        remedy: 'fetch it once without --offline; what is kept is used from then on',
      })
    if (mirror !== undefined && !within(mirror, url))
      throw new UserError('outside-mirror', `${shown} would have to be asked, which is not the mirror ${mirror}`, {
        remedy: 'let the mirror have the file itself, without redirects to others',
      })
    if (protocol !== 'https:' && !insecure && !isLoopback(hostname))
      throw new UserError('http-refused', `${shown} is asked by ${protocol.slice(0, -1)}, where https is demanded`, {
        remedy: 'use https, or allow it with --insecure',
      })
  }
}

const within = (mirror: string, url: string): boolean => {
  const [base, asked] = [new URL(mirror), new URL(url)]
  const path = base.pathname.replace(/\/*$/, '/')
  return base.origin === asked.origin && asked.pathname.startsWith(path)
}

export const isLoopback = (hostname: string): boolean => /^(localhost\.?|127(\.\d+){3}|\[::1\])$/.test(hostname)
