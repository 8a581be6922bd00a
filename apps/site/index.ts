/** The documentation site: its structure, its pages as VitePress takes them, its search, and checks of what is built. */
export { brokenLinks } from './built-site.js'
export { anchorsOf, headingAnchor, linksOf } from './markdown.js'
export { siteQuestions, unanswered } from './questions.js'
export { searchIndex, searchPages } from './search.js'
export { basePath, stageSite, type SiteSource } from './site-pages.js'
export { SITE_PAGES, SITE_SECTIONS } from './structure.js'
