import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { parseArgs } from 'node:util'
import { build } from 'vitepress'
import { describeProgram } from '../dist/apps/cli/index.js'
import { basePath, brokenLinks, searchIndex, siteQuestions, stageSite, unanswered } from '../dist/apps/site/index.js'

// Writes the documentation site into dist/site/: `npm run docs:site`. A release names the folder of its files, whose pages say
// its version and the names under which it is published: `--release FOLDER`.

const root = join(import.meta.dirname, '..')
process.chdir(root)
const { release } = parseArgs({ options: { release: { type: 'string' } } }).values
const fileOf = (path) => (release && existsSync(join(release, path)) ? join(release, path) : join(root, path))
const read = (path) => readFileSync(fileOf(path), 'utf8')
const { version } = JSON.parse(read('package.json'))
const { repository, homepage } = JSON.parse(read('project.json'))
const project = { version, repository, homepage }

const site = stageSite({ project, read, program: describeProgram() })
const folder = join(root, 'dist/site-pages')
rmSync(folder, { recursive: true, force: true })
const write = (path, text) => {
  mkdirSync(dirname(join(folder, path)), { recursive: true })
  writeFileSync(join(folder, path), text)
}
for (const { to, markdown } of site.pages) write(`${to}.md`, markdown)
for (const [to, path] of site.files) {
  mkdirSync(dirname(join(folder, 'public', to)), { recursive: true })
  cpSync(fileOf(path), join(folder, 'public', to), { recursive: true })
}
const { sidebar, nav } = site
write('site.json', JSON.stringify({ project, base: basePath(project), sidebar, nav }))
await build(join(root, 'apps/site'))

const built = join(root, 'dist/site')
const files = readdirSync(built, { recursive: true }).map((path) => path.replaceAll('\\', '/'))
const pages = files
  .filter((path) => path.endsWith('.html') && path !== '404.html')
  .map((path) => ({ path, html: readFileSync(join(built, path), 'utf8') }))
const problems = brokenLinks(pages, new Set(files), basePath(project))
const index = files.find((path) => /@localSearchIndexroot\..*\.js$/.test(path))
const search = searchIndex((await import(join(built, index))).default)
for (const question of siteQuestions(read('docs/questions.md'))) {
  const seen = unanswered(question, search)
  if (seen) problems.push(`the search for "${question.words}" finds ${seen.join(', ')} in place of its answer`)
}
for (const problem of problems) console.error(problem)
console.log(`${pages.length} pages in dist/site`)
process.exitCode = problems.length === 0 ? 0 : 1
