import type { FidelityRow, FidelitySubject } from './fidelity-rows.js'

/** `docs/fidelity/NAME.md`: the differences of one subject as a table, as Markdown. */
export function fidelityPage(name: string, { title, introduction, compared_with, rows }: FidelitySubject): string {
  return `# Fidelity: ${title}

${introduction === undefined ? '' : `${introduction}\n\n`}[What these rows are](../fidelity.md). This page is made from \`${name}.yaml\` by \`npm run docs\`.

| ${compared_with} | Ours | Switch | Test |
|---|---|---|---|
${rows.map(rowOf).join('\n')}
`
}

const rowOf = ({ upstream, ours, switch: restores, test }: FidelityRow): string =>
  `| ${upstream} | ${ours} | ${restores ?? '-'} | \`${test.file}\` "${test.title}" |`
