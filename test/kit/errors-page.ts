import { format, resolveConfig } from 'prettier'
import { LISTED_ERRORS } from '../../apps/cli/commands/errors-command.js'

/** `docs/errors.md`: the codes of all errors, as Markdown. */
export async function errorsPage(): Promise<string> {
  const rows = LISTED_ERRORS.map(
    ({ code, sentence, remedy }) =>
      `| \`${code}\` | ${sentence.replaceAll('|', '\\|')} | ${remedy.replaceAll('|', '\\|')} |`,
  )
  const page = `# Errors

Errors have these codes in logs, in the output of \`--json\` and as \`UserError.code\`. The message of an error says more:
which file, node or option it was. \`ironstage errors CODE\` prints a row of this table.

| code | means | what to do |
|---|---|---|
${rows.join('\n')}
`
  return format(page, {
    ...(await resolveConfig(new URL('../../docs/errors.md', import.meta.url))),
    parser: 'markdown',
  })
}
