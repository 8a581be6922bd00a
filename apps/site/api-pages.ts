import type { MadePage } from './made-page.js'

/** A page for each entry of the package, from the report of all its exports (`docs/api.md`). */
export function apiPages(report: string): MadePage[] {
  const [, ...entries] = report.split(/^## /m)
  return entries.map((entry) => {
    const [name = '', ...lines] = entry.split('\n')
    return {
      to: `reference/api/${name.replace('/', '-')}`,
      text: name,
      markdown: `# ${name}\n\nThe exports of \`${name}\`: what each is, its declaration, and examples.\n${lines.join('\n').replace(/^### /gm, '## ')}`,
    }
  })
}
