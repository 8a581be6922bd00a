import MiniSearch, { type SearchOptions } from 'minisearch'

/**
 * Lists of everything have every word: they come behind pages that are about it. The site's pages carry this function as
 * text, so it uses nothing from outside.
 */
function placeWeight(address: string): number {
  if (/\/?reference\/(api|changelog)|\/?internals\//.test(address)) return 0.3
  return /\/?reference\//.test(address) ? 0.7 : 1
}

/** The setting of the site's search that VitePress does not have by itself. */
export const OWN_SEARCH_OPTIONS = { boostDocument: placeWeight }

/** How VitePress' search box asks its index. */
const SEARCH_OPTIONS: SearchOptions = {
  fuzzy: 0.2,
  prefix: true,
  boost: { title: 4, text: 2, titles: 1 },
  ...OWN_SEARCH_OPTIONS,
}

const INDEX_OPTIONS = {
  fields: ['title', 'titles', 'text'],
  storeFields: ['title', 'titles'],
  searchOptions: SEARCH_OPTIONS,
}

/** A page as HTML. */
export interface RenderedPage {
  /** Its address, without a suffix. */
  to: string
  html: string
}

/** Finds sections of the site by words: their addresses, the best first. */
export type SiteSearch = (words: string) => string[]

/** The search of the site over pages as VitePress renders them. */
export function searchPages(pages: readonly RenderedPage[]): SiteSearch {
  const index = new MiniSearch(INDEX_OPTIONS)
  for (const page of pages) for (const section of sectionsOf(page)) index.add(section)
  return searchIn(index)
}

/** The search of the site over the index that VitePress built, a document in JSON. */
export const searchIndex = (json: string): SiteSearch => searchIn(MiniSearch.loadJSON(json, INDEX_OPTIONS))

const searchIn =
  (index: MiniSearch): SiteSearch =>
  (words) =>
    index.search(words).map(({ id }) => (id as string).replace(/^\//, '').replace(/\.html(?=#|$)/, ''))

interface SearchedSection {
  id: string
  title: string
  titles: string[]
  text: string
}

const HEADING = /<h(\d)[^>]*>(.*?)<a[^>]* href="#([^"]*)"[^>]*>.*?<\/a><\/h\1>/gis

/** Sections as VitePress' index has them: a heading, those above it, the text up to the next one. */
function sectionsOf({ to, html }: RenderedPage): SearchedSection[] {
  const headings = [...html.matchAll(HEADING)]
  const above: string[] = []
  return headings.map((match, place) => {
    const [whole, level, title, anchor] = match
    const text = html.slice(match.index + whole.length, headings[place + 1]?.index)
    above.length = Number(level) - 1
    above.push(plainText(title!).trim())
    return {
      id: `${to}#${anchor}`,
      title: above.at(-1)!,
      titles: above.slice(0, -1).filter((one) => one !== undefined),
      text: plainText(text),
    }
  })
}

const plainText = (html: string): string => html.replace(/<[^>]*>/g, '')
