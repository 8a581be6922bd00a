import { readFileSync } from 'node:fs'
import { headingAnchor } from '../../../dist/apps/site/markdown.js'
import { OWN_SEARCH_OPTIONS } from '../../../dist/apps/site/search.js'

// `npm run docs:site` writes this file with all pages; paths are those of the root of the checkout.
const { project, base, sidebar, nav } = JSON.parse(readFileSync('dist/site-pages/site.json', 'utf8'))

/** Three disks in a rack. */
const ICON =
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="6" fill="#3451b2"/>' +
  '<path d="M7 10h14M7 16h14M7 22h14" stroke="#fff" stroke-width="4"/><path d="M24 10h2M24 16h2M24 22h2" stroke="#9f9" stroke-width="4"/></svg>'

export default {
  title: 'ironstage',
  description: 'Rehearse bare-metal CoreOS deployments',
  lang: 'en-GB',
  base,
  srcDir: '../../dist/site-pages',
  outDir: '../../dist/site',
  cacheDir: '../../dist/site-cache',
  // The index of the search is one file.
  vite: { build: { chunkSizeWarningLimit: 2000 } },
  head: [['link', { rel: 'icon', href: `data:image/svg+xml,${encodeURIComponent(ICON)}` }]],
  markdown: {
    anchor: { slugify: headingAnchor },
  },
  themeConfig: {
    nav: [...nav, { text: `v${project.version}`, link: '/reference/changelog' }],
    sidebar,
    outline: [2, 3],
    search: { provider: 'local', options: { miniSearch: { searchOptions: OWN_SEARCH_OPTIONS } } },
    ...(project.repository === ''
      ? {}
      : {
          editLink: { pattern: ({ frontmatter }) => frontmatter.edit, text: 'Edit this page' },
          socialLinks: [{ icon: 'github', link: project.repository }],
        }),
  },
}
