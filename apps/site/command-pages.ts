import { flatCommands, type DescribedCommand, type DescribedOption } from '../cli/index.js'
import { cellText, codeText, proseText, type MadePage } from './made-page.js'

/** A page for each command of the program, with all that are below it. */
export const commandPages = (program: DescribedCommand): MadePage[] =>
  program.below.map((command) => ({
    to: `reference/commands/${command.path.at(-1)}`,
    text: command.path.at(-1)!,
    markdown: commandPage(command),
  }))

function commandPage(command: DescribedCommand): string {
  const [, ...below] = flatCommands(command)
  const title = `# ${command.path.join(' ')}\n\n${proseText(sentence(command.description))}\n`
  return [
    title,
    ...bodyOf(command),
    ...below.flatMap((one) => [
      `## ${one.path.slice(1).join(' ')}\n`,
      proseText(sentence(one.description)),
      '',
      ...bodyOf(one),
    ]),
  ].join('\n')
}

function bodyOf({ path, usage, operands, options, below }: DescribedCommand): string[] {
  if (below.length > 0 && operands.length === 0 && options.length === 0) return []
  const described = operands.filter(({ description }) => description !== '')
  return [
    '```text',
    `${path.join(' ')} ${usage}`,
    '```',
    '',
    ...described.map(({ name, description }) => `- ${codeText(name)}: ${proseText(description)}`),
    ...(described.length > 0 ? [''] : []),
    ...(options.length > 0 ? ['| option | is |', '|---|---|', ...options.map(optionRow), ''] : []),
  ]
}

function optionRow({ flag, short, value, description }: DescribedOption): string {
  const form = `${short === undefined ? '' : `${short}, `}${flag}${value === undefined ? '' : ` ${value.name}`}`
  return `| ${codeText(form)} | ${cellText(description).replace(/\((IRONSTAGE\\_[^)]*)\)$/, '<br>$1')} |`
}

const sentence = (text: string): string => `${text[0]!.toUpperCase()}${text.slice(1)}.`
