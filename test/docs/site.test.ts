import { existsSync, readFileSync } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { createMarkdownRenderer } from 'vitepress'
import { beforeAll, describe, expect, test } from 'vitest'
import { describeProgram } from '../../apps/cli/index.js'
import {
  anchorsOf,
  headingAnchor,
  linksOf,
  searchPages,
  SITE_PAGES,
  SITE_SECTIONS,
  siteQuestions,
  stageSite,
  unanswered,
  type SiteSource,
} from '../../apps/site/index.js'

/** The documentation site without its build, which `npm run docs:site` makes and checks. */

const root = fileURLToPath(new URL('../..', import.meta.url))
const read = (path: string): string => readFileSync(join(root, path), 'utf8')

/** Pages that the site has in another form: the API a page an entry, the home page in place of the README. */
const IN_ANOTHER_FORM = ['docs/api.md']

const SOURCE: SiteSource = {
  project: { version: '1.2.3', repository: '', homepage: '' },
  program: describeProgram(),
  read,
}

test('the site has every page of docs/, and each page once', async () => {
  const files = await readdir(join(root, 'docs'), { recursive: true })
  const pages = files.filter((file) => file.endsWith('.md')).map((file) => `docs/${file}`)
  const sources = SITE_PAGES.map(({ source }) => source)
  expect([...sources.filter((path) => path.startsWith('docs/')), ...IN_ANOTHER_FORM].sort()).toEqual(pages.sort())
  expect(new Set(SITE_PAGES.map(({ to }) => to)).size).toBe(SITE_PAGES.length)
  for (const { folder, groups } of SITE_SECTIONS)
    for (const { pages: all } of groups) for (const { to } of all) expect(to.split('/')[0]).toBe(folder)
})

describe('links', () => {
  const pages = [...SITE_PAGES.map(({ source }) => source), 'README.md', ...IN_ANOTHER_FORM]

  test.each(pages)('of %s lead to files and anchors', (page) => {
    const broken = linksOf(read(page)).flatMap(({ target, anchor, whole }) => {
      if (/^[a-z]+:/.test(target)) return []
      const path = target === '' ? page : join(page, '..', target)
      if (!existsSync(join(root, path))) return [`${whole} leads to no file`]
      if (anchor === undefined) return []
      return anchorsOf(read(path)).has(anchor) ? [] : [`${whole} leads to no heading`]
    })
    expect(broken).toEqual([])
  })

  test('are found in prose alone, with code in their text', () => {
    const text = 'a [`b`](c.md#d), `[no](x)`, ![e](f.png)\n\n```sh\n[no](y)\n```\n[g\nh](i)'
    expect(linksOf(text).map(({ target, anchor, isPicture }) => [target, anchor, isPicture])).toEqual([
      ['c.md', 'd', false],
      ['f.png', undefined, true],
      ['i', undefined, false],
    ])
  })

  test('to headings are those of GitHub', () => {
    expect(headingAnchor('Lines of `--json`')).toBe('lines-of---json')
    expect([...anchorsOf('# A b\n## 1. C, d?\n## A b\n```sh\n# no\n```')]).toEqual(['a-b', '1-c-d', 'a-b-1'])
  })
})

describe('staged', () => {
  const staged = stageSite(SOURCE)
  const page = (to: string): string => staged.pages.find((one) => one.to === to)!.markdown

  test('every list leads to a page, and every page is in a list', () => {
    const listed = Object.values(staged.sidebar).flatMap((groups) =>
      groups.flatMap(({ items = [] }) => items.map(({ link }) => link!.slice(1))),
    )
    const all = staged.pages.map(({ to }) => to).filter((to) => to !== 'index')
    expect(listed.sort()).toEqual(all.sort())
    expect(staged.nav.map(({ text }) => text)).toEqual(['Tutorials', 'How-to', 'Reference', 'Explanation', 'Internals'])
  })

  test('commands, calls and entries have pages of their own', () => {
    expect(page('reference/commands/fault')).toContain('| `--effect KIND[:KEY=VALUE,...]` |')
    expect(page('reference/control-api/faults')).toContain('## POST /_lab/faults')
    expect(page('reference/control-api/clock')).toMatch(
      /Member of the body[^]*`until\.node`[^]*`by`|`by`[^]*`until\.node`/,
    )
    expect(page('reference/api/ironstage-steps')).toContain('interface TargetCommand')
    expect(page('reference/control-api/lab')).not.toContain('undefined')
  })

  test('a link to a page is one of the site, one to a test is words, one to a file is carried', () => {
    expect(page('tutorials/first-fault')).toContain('(/how-to/control#faults)')
    expect(page('tutorials/first-fault')).not.toContain('pages.test.ts')
    expect(page('how-to/ci')).toContain('<a href="/files/ci/ironstage.sh" target="_blank">ci/ironstage.sh</a>')
    expect(staged.files.get('files/ci/ironstage.sh')).toBe('ci/ironstage.sh')
  })

  test('with a repository, tests are links and pages can be edited', () => {
    const project = { version: '1.2.3', repository: 'https://forge.example/o/r', homepage: 'https://o.example/docs' }
    const { pages } = stageSite({ ...SOURCE, project })
    const { markdown } = pages.find(({ to }) => to === 'tutorials/first-fault')!
    expect(markdown).toContain('](https://forge.example/o/r/blob/main/test/real/commands/pages.test.ts)')
    expect(markdown).toContain('edit: https://forge.example/o/r/edit/main/docs/first-fault.md')
    expect(page('tutorials/first-fault')).toContain('editLink: false')
  })
})

describe('the search of the site', () => {
  const questions = siteQuestions(read('docs/questions.md'))
  let search: ReturnType<typeof searchPages>

  beforeAll(async () => {
    const md = await createMarkdownRenderer('/', { anchor: { slugify: headingAnchor }, highlight: escaped })
    const pages = stageSite(SOURCE).pages.map(({ to, markdown }) => ({
      to,
      html: md.render(markdown, { path: `/${to}.md` }),
    }))
    search = searchPages(pages)
  }, 60_000)

  test('knows thirty questions, each with words', () => {
    expect(questions).toHaveLength(30)
    expect(questions.filter(({ words }) => words === '')).toEqual([])
    for (const { title, answers } of questions) expect(answers.length, `${title} has no page`).toBeGreaterThan(1)
  })

  test.each(questions)('answers "$words" within the first three results', (question) => {
    expect(unanswered(question, search)).toBeUndefined()
  })

  test('finds nothing for words that no page has', () => {
    expect(unanswered({ title: '', words: 'xyzzyplugh', answers: ['how-to/ci'] }, search)).toEqual([])
  })
})

/** Code as it is: colours are of no use to a search. */
const escaped = (code: string): string => `<pre>${code.replace(/&/g, '&amp;').replace(/</g, '&lt;')}</pre>`
