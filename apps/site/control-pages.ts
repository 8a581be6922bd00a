import { defined } from '../../base/runtime/index.js'
import { controlOpenApi } from '../../control/index.js'
import { cellText, codeText, proseText, type MadePage } from './made-page.js'

/** As much of JSON Schema as the control API's document has. */
interface Schema {
  type?: string | string[]
  description?: string
  enum?: unknown[]
  const?: unknown
  properties?: Record<string, Schema>
  required?: string[]
  items?: Schema
  anyOf?: Schema[]
  oneOf?: Schema[]
}

interface Content {
  content?: Record<string, { schema?: Schema }>
  description?: string
}

interface Operation {
  summary: string
  description?: string
  tags: string[]
  parameters?: { name: string; in: string; required?: boolean; description?: string; schema: Schema }[]
  requestBody?: Content
  responses: Record<string, Content>
}

interface Call extends Operation {
  method: string
  path: string
}

/** A page for each subject of the control API, from its OpenAPI document. */
export function controlPages(): MadePage[] {
  const { paths } = controlOpenApi() as unknown as { paths: Record<string, Record<string, Operation>> }
  const calls: Call[] = Object.entries(paths).flatMap(([path, operations]) =>
    Object.entries(operations).map(([method, operation]) => ({ ...operation, path, method: method.toUpperCase() })),
  )
  const tags = [...new Set(calls.map(tagOf))]
  return tags.map((tag) => ({
    to: `reference/control-api/${tag}`,
    text: tag,
    markdown: subjectPage(
      tag,
      calls.filter((call) => tagOf(call) === tag),
    ),
  }))
}

/** Subjects of a call or two are on the page of the lab. */
const OWN_PAGES = ['faults', 'clock', 'journal', 'machines', 'nodes', 'snapshots', 'forks']

/** `journal.har` is about the journal. */
function tagOf({ tags: [tag = ''] }: Operation): string {
  const subject = tag.split('.')[0]!
  return OWN_PAGES.includes(subject) ? subject : 'lab'
}

const subjectPage = (tag: string, calls: readonly Call[]): string =>
  [
    `# Control API: ${tag}\n`,
    'A running lab answers these calls at the URL of its Ironic. `ironstage openapi --lab` prints the whole document.\n',
    ...calls.map(callText),
  ].join('\n')

function callText(call: Call): string {
  const { method, path, summary, description, parameters = [], requestBody, responses } = call
  const answers = Object.entries(responses).filter(([code]) => code.startsWith('2'))
  return [
    `## ${method} ${path.replace(/[{}]/g, (sign) => `\\${sign}`)}\n`,
    proseText(`${summary}.`),
    ...(description === undefined ? [] : ['', proseText(description)]),
    '',
    ...table(
      'Parameter',
      parameters.map(({ name, required, description: text, schema }) => ({
        name,
        schema: { ...schema, ...defined({ description: text }) },
        isRequired: required === true,
      })),
    ),
    ...table('Member of the body', membersOf(schemaIn(requestBody))),
    ...answers.flatMap(([code, answer]) => answerText(code, answer)),
  ].join('\n')
}

function answerText(code: string, answer: Content): string[] {
  const [type] = Object.keys(answer.content ?? {})
  const members = membersOf(schemaIn(answer))
  return [
    `Answers ${code}${type === undefined ? ', without a body' : `, \`${type}\``}.\n`,
    ...table('Member of the answer', members),
  ]
}

const schemaIn = (content: Content | undefined): Schema | undefined => Object.values(content?.content ?? {})[0]?.schema

interface Member {
  name: string
  schema: Schema
  isRequired: boolean
}

/** The members of an object and of those in it, a row each: `match.node`. Those of alternatives are all there, once. */
function membersOf(schema: Schema | undefined, above = '', depth = 0): Member[] {
  if (schema === undefined || depth > MAX_DEPTH) return []
  if (schema.items !== undefined) return membersOf(schema.items, `${above}[]`, depth)
  const own = Object.entries(schema.properties ?? {}).flatMap(([name, member]) => {
    const path = above === '' ? name : `${above}.${name}`
    const isRequired = schema.required?.includes(name) === true
    return [{ name: path, schema: member, isRequired }, ...membersOf(member, path, depth + 1)]
  })
  const choices = (schema.anyOf ?? schema.oneOf ?? []).flatMap((choice) => membersOf(choice, above, depth))
  const all = [...own, ...choices.map((member) => ({ ...member, isRequired: false }))]
  return all.filter(({ name }, place) => all.findIndex((other) => other.name === name) === place)
}

const MAX_DEPTH = 2

function table(title: string, members: readonly Member[]): string[] {
  if (members.length === 0) return []
  const isDescribed = members.some(({ schema }) => schema.description !== undefined)
  const row = (cells: readonly string[]): string => `| ${cells.slice(0, isDescribed ? 3 : 2).join(' | ')} |`
  return [
    row([title, 'Type', 'Is']),
    row(['---', '---', '---']),
    ...members.map(({ name, schema, isRequired }) =>
      row([`${codeText(name)}${isRequired ? ', required' : ''}`, typeText(schema), cellText(schema.description ?? '')]),
    ),
    '',
  ]
}

function typeText({ type, enum: words, const: only, anyOf, oneOf, items }: Schema): string {
  if (words !== undefined) return words.map((word) => codeText(String(word))).join(', ')
  if (only !== undefined) return codeText(JSON.stringify(only))
  const choices = anyOf ?? oneOf
  if (choices !== undefined) return [...new Set(choices.map(typeText))].join(' or ')
  if (items !== undefined) return `list of ${typeText(items)}`
  return [type ?? 'any'].flat().join(' or ')
}
