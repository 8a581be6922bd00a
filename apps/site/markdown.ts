/** Applies a function to the parts of a text in Markdown that are outside of fenced blocks. */
function outsideBlocks(text: string, change: (prose: string) => string): string {
  return text
    .split(/^(```[^]*?^```$|~~~~[^]*?^~~~~$)/m)
    .map((part, index) => (index % 2 === 0 ? change(part) : part))
    .join('')
}

/** A link or picture: its text, its target, the anchor in it. */
export interface MarkdownLink {
  whole: string
  isPicture: boolean
  text: string
  target: string
  anchor: string | undefined
}

/** Code in a line, which has no links; or a link, whose text may have code. */
const CODE_OR_LINK = /`[^`]*`|(!?)\[((?:`[^`]*`|[^[\]`])*)\]\(([^()\s]*)\)/g

/** Replaces each link outside of blocks and of code in a line. */
export function replaceLinks(text: string, replace: (link: MarkdownLink) => string): string {
  return outsideBlocks(text, (prose) =>
    prose.replace(CODE_OR_LINK, (whole: string, sign?: string, words?: string, address?: string) =>
      address === undefined ? whole : replace(linkOf(whole, sign, words, address)),
    ),
  )
}

/** All links of a text. */
export function linksOf(text: string): MarkdownLink[] {
  const found: MarkdownLink[] = []
  replaceLinks(text, (link) => {
    found.push(link)
    return link.whole
  })
  return found
}

function linkOf(whole: string, sign = '', text = '', address = ''): MarkdownLink {
  const [target = '', anchor] = address.split('#')
  return { whole, isPicture: sign === '!', text, target, anchor }
}

/** The anchor of a heading, as GitHub makes it: a link holds in the checkout and on the site. */
export const headingAnchor = (heading: string): string =>
  heading
    .trim()
    .toLowerCase()
    .replace(/[^\p{Letter}\p{Number}\p{Mark}_ -]/gu, '')
    .replace(/ /g, '-')

/** The anchors of all headings of a text; one that comes again has a number. */
export function anchorsOf(text: string): Set<string> {
  const anchors = new Set<string>()
  outsideBlocks(text, (prose) => {
    for (const [, heading] of prose.matchAll(/^#{1,6} (.*)$/gm)) {
      const shown = heading!.replace(/[`*]/g, '').replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
      const plain = headingAnchor(shown)
      let anchor = plain
      for (let again = 1; anchors.has(anchor); again++) anchor = `${plain}-${again}`
      anchors.add(anchor)
    }
    return prose
  })
  return anchors
}
