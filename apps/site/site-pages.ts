import { posix } from 'node:path'
import { defined } from '../../base/runtime/index.js'
import type { DescribedCommand } from '../cli/index.js'
import { apiPages } from './api-pages.js'
import { commandPages } from './command-pages.js'
import { controlPages } from './control-pages.js'
import type { MadePage } from './made-page.js'
import { replaceLinks, type MarkdownLink } from './markdown.js'
import { SITE_PAGES, SITE_SECTIONS, type MadePages, type PageGroup, type SitePage } from './structure.js'

/** The facts about the project that the site shows; an empty one is not published. */
export interface SiteProject {
  version: string
  repository: string
  homepage: string
}

/** The checkout that a site is made of. */
export interface SiteSource {
  project: SiteProject
  program: DescribedCommand
  /** The text of a file of the checkout. */
  read(path: string): string
}

/** A page as VitePress takes it. */
interface StagedPage {
  /** Its address, without a suffix. */
  to: string
  markdown: string
}

interface SidebarItem {
  text: string
  link?: string
  collapsed?: boolean
  items?: SidebarItem[]
}

/** Pages, the lists beside them, and the files that they lead to. */
export interface StagedSite {
  pages: StagedPage[]
  sidebar: Record<string, SidebarItem[]>
  nav: { text: string; link: string; activeMatch: string }[]
  /** Files of the checkout that the site carries: their paths by those on the site. */
  files: Map<string, string>
}

/** Folders whose files users copy: the site carries those that a page links to. */
const CARRIED = /^(examples|ci|templates|images|clients|docs)\//

/** The site as files for VitePress; nothing is written. */
export function stageSite(source: SiteSource): StagedSite {
  const made: Record<MadePages, MadePage[]> = {
    commands: commandPages(source.program),
    'control API': controlPages(),
    'TypeScript API': apiPages(source.read('docs/api.md')),
  }
  const files = new Map<string, string>()
  const pages = SITE_PAGES.map((page) => ({ to: page.to, markdown: pageText(page, source, files) }))
  for (const { to, markdown } of Object.values(made).flat())
    pages.push({ to, markdown: withHead(markdown, 'editLink: false') })
  pages.push({ to: 'index', markdown: homePage(source.project, files) })
  const sidebar = Object.fromEntries(
    SITE_SECTIONS.map(({ folder, groups }) => [`/${folder}/`, groups.map((group) => sidebarGroup(group, made))]),
  )
  const nav = SITE_SECTIONS.map(({ text, folder, groups }) => ({
    text,
    link: `/${groups[0]!.pages[0]!.to}`,
    activeMatch: `^/${folder}/`,
  }))
  return { pages, sidebar, nav, files }
}

function sidebarGroup({ text, pages, made, isClosed }: PageGroup, all: Record<MadePages, MadePage[]>): SidebarItem {
  const items = [...pages, ...(made === undefined ? [] : all[made])]
  return {
    text,
    ...defined({ collapsed: isClosed }),
    items: items.map((page) => ({ text: page.text, link: `/${page.to}` })),
  }
}

function pageText(page: SitePage, { project, read }: SiteSource, files: Map<string, string>): string {
  const { repository } = project
  const edit = repository === '' ? 'editLink: false' : `edit: ${repository}/edit/main/${page.source}`
  const linked = replaceLinks(read(page.source), (link) => siteLink(link, page.source, project, files))
  const text = linked
    // Names of blocks that a test reads, and of no language.
    .replace(/^```(output|console)\b/gm, '```text')
    // A picture that is shown at another size is in HTML.
    .replace(/<img ([^>]*)src="([^"]*)"/g, (_, before: string, target: string) => {
      const path = posix.normalize(posix.join(posix.dirname(page.source), target))
      return `<img ${before}src="/${carriedPicture(path, files)}"`
    })
  return withHead(text, edit)
}

/** A page with VitePress' settings in front; one without sections has no list of them. */
function withHead(text: string, edit: string): string {
  const aside = /^##+ /m.test(text) ? '' : 'aside: false\n'
  return `---\n${edit}\n${aside}---\n\n${text}`
}

/** A link of a file of the checkout as the site has it. */
function siteLink(link: MarkdownLink, source: string, project: SiteProject, files: Map<string, string>): string {
  const { whole, isPicture, text, target, anchor } = link
  if (target === '' || /^[a-z]+:/.test(target)) return whole
  const path = posix.normalize(posix.join(posix.dirname(source), target))
  const behind = anchor === undefined ? '' : `#${anchor}`
  if (isPicture) return `![${text}](/${carriedPicture(path, files)})`
  const page = pageOf(path)
  if (page !== undefined) return `[${text}](/${page}${behind})`
  if (project.repository !== '') return `[${text}](${project.repository}/blob/main/${path}${behind})`
  // Without a repository a reader cannot have tests and sources.
  if (!CARRIED.test(path)) return text
  files.set(`files/${path}`, path)
  return `<a href="${basePath(project)}files/${path}" target="_blank">${text.replace(/`([^`]*)`/g, '<code>$1</code>')}</a>`
}

/** The path on the site of a picture, which it carries from now on. */
function carriedPicture(path: string, files: Map<string, string>): string {
  const shown = `pictures/${posix.basename(path)}`
  files.set(shown, path)
  return shown
}

function pageOf(path: string): string | undefined {
  if (path === 'README.md') return 'index'
  if (path === 'docs/api.md') return 'reference/api/ironstage'
  return SITE_PAGES.find(({ source }) => source === path)?.to
}

/** The path below which the site is served. */
export const basePath = ({ homepage }: SiteProject): string =>
  homepage === '' ? '/' : new URL(homepage).pathname.replace(/\/?$/, '/')

const FEATURES = [
  {
    title: 'You write a client of Ironic',
    details:
      "An Ironic that behaves like upstream's, machines that deploy in a second, and faults at the moment that you choose.",
    link: '/tutorials/first-deployment',
  },
  {
    title: 'You write a deploy or clean step',
    details: 'Run your step in a whole deployment on a simulated machine, then on a disk, then behind a real Ironic.',
    link: '/tutorials/first-step',
  },
  {
    title: 'You run a hardware lab',
    details:
      'Install a lab overnight from one file: rehearse the run first, resume it after a kill, read the report in the morning.',
    link: '/tutorials/first-night',
  },
]

function homePage({ version }: SiteProject, files: Map<string, string>): string {
  files.set('pictures/dashboard-fleet.png', 'docs/pictures/dashboard-fleet.png')
  const front = {
    layout: 'home',
    editLink: false,
    hero: {
      name: 'ironstage',
      text: 'Rehearse bare-metal CoreOS deployments',
      tagline: `A mock Ironic, simulated machines with real bytes on their disks, and the install_coreos step. Version ${version}.`,
      actions: [
        { theme: 'brand', text: 'First deployment', link: '/tutorials/first-deployment' },
        { theme: 'alt', text: 'Which command for what', link: '/how-to/tasks' },
        { theme: 'alt', text: 'Thirty questions', link: '/how-to/questions' },
      ],
    },
    features: FEATURES,
  }
  // YAML reads JSON.
  return `---\n${JSON.stringify(front, undefined, 2)}\n---\n\n![The dashboard: which of forty machines fail, why, and what to do](/pictures/dashboard-fleet.png)\n`
}
