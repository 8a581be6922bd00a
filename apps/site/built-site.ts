/** A page of the built site. */
interface BuiltPage {
  /** Its path below the site: `how-to/ci.html`. */
  path: string
  html: string
}

/**
 * Links of built pages that lead nowhere, a line each.
 *
 * @param files paths of all files of the site
 */
export function brokenLinks(pages: readonly BuiltPage[], files: ReadonlySet<string>, base: string): string[] {
  const anchors = new Map(pages.map(({ path, html }) => [path, anchorsIn(html)]))
  return pages.flatMap(({ path, html }) =>
    [...new Set(addressesIn(html))].flatMap((address) => {
      const { pathname, hash } = new URL(address, `http://site${base}${path}`)
      if (!pathname.startsWith(base)) return [`${path}: ${address} is outside of the site`]
      const below = decodeURI(pathname.slice(base.length))
      const target = below === '' || below.endsWith('/') ? `${below}index.html` : below
      if (!files.has(target)) return [`${path}: ${address} is no file`]
      const anchor = decodeURIComponent(hash.slice(1))
      const isThere = anchor === '' || anchors.get(target)?.has(anchor)
      return isThere ? [] : [`${path}: ${address} has no such anchor`]
    }),
  )
}

const anchorsIn = (html: string): Set<string> => new Set([...html.matchAll(/ id="([^"]*)"/g)].map(([, id]) => id!))

/** Addresses in a page that are on the site itself. */
const addressesIn = (html: string): string[] =>
  [...html.matchAll(/ (?:href|src)="([^"]*)"/g)]
    .map(([, address]) => address!.replace(/&amp;/g, '&'))
    .filter((address) => !/^(https?|mailto|data):/.test(address))
