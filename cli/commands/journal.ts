import { writeFile } from 'node:fs/promises'
import { entryLine, type JournalEntry, type JournalKind } from '../../lab/index.js'
import { UserError } from '../../runtime/index.js'
import type { Environment } from '../environment.js'
import { withLab } from '../lab-client.js'
import type { JOURNAL_OPTIONS } from '../options/option-lists.js'
import type { Options } from '../options/options.js'

type JournalOptions = Options<(typeof JOURNAL_OPTIONS)[number]>

/** `ironstage journal`: prints what happened in a lab, and with `--follow` what happens. */
export function journal(options: JournalOptions, environment: Environment): Promise<number> {
  const { url, follow, har, last, json = false } = options
  const query = queryOf(options)
  if (har !== undefined && follow)
    throw usage('--har writes what there is, and --follow goes on', 'leave one of them out')
  return withLab(url, environment, async (lab) => {
    if (har !== undefined) {
      await writeArchive(har, await lab.journalHar(query))
      return 0
    }
    const print = (entry: JournalEntry) =>
      environment.stdout.write(`${json ? JSON.stringify(entry) : entryLine(entry)}\n`)
    const entries: JournalEntry[] = []
    for (let isMore = true; isMore;) {
      const after = entries.at(-1)?.id ?? 0
      const page = await lab.journal({ ...query, after, limit: 1000 })
      entries.push(...page.entries)
      isMore = page.next !== null
    }
    for (const entry of last === undefined ? entries : last === 0 ? [] : entries.slice(-last)) print(entry)
    if (follow) for await (const entry of lab.events({ ...query, after: entries.at(-1)?.id ?? 0 })) print(entry)
    return 0
  })
}

async function writeArchive(file: string, archive: unknown): Promise<void> {
  await writeFile(file, `${JSON.stringify(archive, null, 2)}\n`).catch((cause: unknown) => {
    throw new UserError('file-unreadable', `${file} cannot be written`, {
      ...{ cause, remedy: 'name a file in a folder that you may write' },
    })
  })
}

/** @throws UserError (usage) */
function queryOf({ node = [], kind, route }: JournalOptions) {
  if (node.length > 1) throw usage('the journal of one node at a time', 'name one --node')
  return {
    ...(node[0] === undefined ? {} : { node: node[0] }),
    ...(kind === undefined ? {} : { kind: kind as JournalKind[] }),
    ...(route === undefined ? {} : { route }),
  }
}

const usage = (message: string, remedy: string): UserError => new UserError('usage', message, { kind: 'usage', remedy })
