import { writeFile } from 'node:fs/promises'
import { entryLine, type JournalEntry } from '../../lab/index.js'
import { UserError } from '../../runtime/index.js'
import type { Environment } from '../environment.js'
import { LabClient } from '../lab-client.js'
import type { JOURNAL_OPTIONS } from '../options/option-lists.js'
import type { Options } from '../options/options.js'

type JournalOptions = Options<(typeof JOURNAL_OPTIONS)[number]>

/** `ironstage journal`: prints what happened in a lab, and with `--follow` what happens. */
export async function journal(options: JournalOptions, environment: Environment): Promise<number> {
  const { url, follow, har, last, json = false } = options
  const client = new LabClient(url, environment)
  const query = queryOf(options)
  if (har !== undefined) {
    if (follow) throw usage('--har writes what there is, and --follow goes on', 'leave one of them out')
    const archive = await client.ask('GET', `/journal.har?${query}`)
    await writeFile(har, `${JSON.stringify(archive, null, 2)}\n`).catch((cause: unknown) => {
      throw new UserError('file-unreadable', `${har} cannot be written`, {
        cause,
        remedy: 'name a file in a folder that you may write',
      })
    })
    return 0
  }
  const print = (entry: JournalEntry) =>
    environment.stdout.write(`${json ? JSON.stringify(entry) : entryLine(entry)}\n`)
  const entries: JournalEntry[] = []
  for (let path: string | null = `/journal?${query}&limit=1000`; path !== null;) {
    const page = (await client.ask('GET', path)) as { entries: JournalEntry[]; next: string | null }
    entries.push(...page.entries)
    path = page.next === null ? null : page.next.slice(page.next.indexOf('/_lab') + '/_lab'.length)
  }
  for (const entry of last === undefined ? entries : last === 0 ? [] : entries.slice(-last)) print(entry)
  const after = entries.at(-1)?.id ?? 0
  if (!follow) return 0
  for await (const entry of followed(client, `/events?${query}&after=${after}`)) print(entry)
  return 0
}

async function* followed(client: LabClient, path: string): AsyncGenerator<JournalEntry> {
  let left = ''
  for await (const part of client.stream(path)) {
    const events = (left + part).split('\n\n')
    left = events.pop()!
    for (const event of events) {
      const data = /^data: (.*)$/m.exec(event)?.[1]
      if (data === undefined) continue
      if (/^event: lost$/m.test(event)) {
        const { message } = JSON.parse(data) as { message: string }
        throw new UserError('journal-lost', message, { remedy: 'begin again, or ask for fewer entries' })
      }
      yield JSON.parse(data) as JournalEntry
    }
  }
}

function queryOf({ node = [], kind, route }: JournalOptions): string {
  if (node.length > 1) throw usage('the journal of one node at a time', 'name one --node')
  const query = new URLSearchParams()
  if (node[0] !== undefined) query.set('node', node[0])
  if (kind !== undefined) query.set('kind', kind.join(','))
  if (route !== undefined) query.set('route', route)
  return query.toString()
}

const usage = (message: string, remedy: string): UserError => new UserError('usage', message, { kind: 'usage', remedy })
