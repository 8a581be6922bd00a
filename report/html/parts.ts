import { markup, type Html, type HtmlValue } from './html.js'
import type { Tone } from './html-page.js'

/** Facts as a list of terms. Those without a value are left out. */
export const factList = (list: readonly (readonly [name: string, value: HtmlValue])[]): Html =>
  markup`<dl class="facts">${list
    .filter(
      ([, value]) => value !== null && value !== undefined && value !== false && value !== '' && !isEmptyHtml(value),
    )
    .map(([name, value]) => markup`<dt>${name}</dt><dd>${value}</dd>`)}</dl>`

/** A chain of causes, the outermost first. */
export const causeList = (sentences: readonly HtmlValue[], remedy: string | null): Html =>
  markup`${sentences.length > 0 && markup`<ol class="causes">${sentences.map((sentence) => markup`<li>${sentence}</li>`)}</ol>`}${
    remedy !== null && markup`<p class="remedy"><b>What to do:</b> ${remedy}</p>`
  }`

const isEmptyHtml = (value: HtmlValue): boolean => Array.isArray(value) && value.length === 0

export interface HtmlColumn {
  title: string
  kind?: 'number' | 'time' | 'wide'
}

export const htmlTable = (columns: readonly HtmlColumn[], rows: readonly (readonly HtmlValue[])[]): Html =>
  markup`<div class="scroll"><table>
<thead><tr>${columns.map(({ title, kind }) => markup`<th scope="col"${kind ? markup` class="${kind}"` : ''}>${title}</th>`)}</tr></thead>
<tbody>${rows.map(
    (row) =>
      markup`<tr>${row.map((value, index) => markup`<td${columns[index]?.kind ? markup` class="${columns[index].kind}"` : ''}>${value}</td>`)}</tr>
`,
  )}</tbody>
</table></div>`

export const htmlBadge = (text: string, tone: Tone): Html => markup`<span class="badge ${tone}">${text}</span>`

/** Results of checks: what, and what was found. */
export const checkTable = (checks: readonly { what: string; ok: boolean; found: string }[]): Html =>
  htmlTable(
    [{ title: 'Check' }, { title: 'Result' }, { title: 'Found', kind: 'wide' }],
    checks.map(({ what, ok, found }) => [what, htmlBadge(ok ? '✓ ok' : '✗ not ok', ok ? 'good' : 'bad'), found]),
  )

/** Long text that is opened when it is wanted. Nothing for an empty one. */
export const foldText = (title: string, text: string): Html | null =>
  text === '' ? null : markup`<details><summary>${title}</summary><pre>${text}</pre></details>`
