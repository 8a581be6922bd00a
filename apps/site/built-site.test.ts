import { expect, test } from 'vitest'
import { brokenLinks } from './built-site.js'

const PAGES = [
  { path: 'index.html', html: '<a href="/lab/how-to/ci.html#github">x</a><img src="/lab/pictures/a.png">' },
  {
    path: 'how-to/ci.html',
    html: '<h2 id="github">x</h2><a href="#github"></a><a href="../">x</a><a href="https://example.org/no">x</a>',
  },
]
const FILES = new Set(['index.html', 'how-to/ci.html', 'pictures/a.png'])

test('links to pages, anchors, pictures, folders and other hosts are whole', () => {
  expect(brokenLinks(PAGES, FILES, '/lab/')).toEqual([])
})

test.each([
  { html: '<a href="/lab/how-to/cd.html">', problem: '/lab/how-to/cd.html is no file' },
  { html: '<a href="/lab/how-to/ci.html#gitlab">', problem: '/lab/how-to/ci.html#gitlab has no such anchor' },
  { html: '<a href="#none">', problem: '#none has no such anchor' },
  { html: '<img src="/lab/pictures/b.png">', problem: '/lab/pictures/b.png is no file' },
  { html: '<a href="/how-to/ci.html">', problem: '/how-to/ci.html is outside of the site' },
])('$problem', ({ html, problem }) => {
  expect(brokenLinks([...PAGES, { path: 'a.html', html }], new Set([...FILES, 'a.html']), '/lab/')).toEqual([
    `a.html: ${problem}`,
  ])
})
