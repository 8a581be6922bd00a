import { defined } from '../../../base/runtime/index.js'
import { entryLine, type JournalEntry, type JournalKind, type MissingProcess } from '../../../control/index.js'
import type { Environment } from '../environment.js'
import { withLab } from '../with-lab.js'
import { writeOutput } from '../output/write-output.js'
import type { JOURNAL_OPTIONS } from '../options/option-lists.js'
import type { CommandOptionValues } from '../options/resolve-options.js'
import { usageError } from '../usage-error.js'

type JournalCommandOptions = CommandOptionValues<(typeof JOURNAL_OPTIONS)[number]>

/** `ironstage journal`: prints what happened in a lab, and with `--follow` what happens. */
export function journal(options: JournalCommandOptions, environment: Environment): Promise<number> {
  const { url, follow, har, last, json = false } = options
  const query = makeJournalQuery(options)
  if (har !== undefined && follow)
    throw usageError('--har writes the stored entries, and --follow waits for new ones', 'leave one of them out')
  return withLab(url, environment, async (lab) => {
    if (har !== undefined) {
      await writeOutput(har, `${JSON.stringify(await lab.journalHar(query), null, 2)}\n`)
      return 0
    }
    const print = (entry: JournalEntry) => environment.stdout.either(json, entry, entryLine(entry))
    const entries: JournalEntry[] = []
    let after: JournalPlace = 0
    let missing: readonly MissingProcess[] = []
    for (let isMore = true; isMore;) {
      const page = await lab.journal({ ...query, after, limit: 1000 })
      entries.push(...page.entries)
      after = placeBehind(page.entries) ?? after
      missing = page.missing ?? []
      isMore = page.next !== null
    }
    for (const { process, why } of missing)
      environment.stderr.line(`ironstage: the entries of ${process} are missing: ${why}`)
    // A node that was deleted still has entries; a name that never had any is checked.
    if (entries.length === 0 && query.node !== undefined && follow !== true) await lab.node(query.node)
    for (const entry of last === undefined ? entries : last === 0 ? [] : entries.slice(-last)) print(entry)
    if (follow) for await (const entry of lab.events({ ...query, after })) print(entry)
    return 0
  })
}

/** The id of an entry, or a place in the journals of several processes. */
type JournalPlace = number | string

function placeBehind(entries: readonly JournalEntry[]): JournalPlace | undefined {
  const last = entries.at(-1)
  return last?.cursor ?? last?.id
}

/** @throws UserError (usage) */
function makeJournalQuery({ node = [], kind, route }: JournalCommandOptions) {
  if (node.length > 1) throw usageError('the journal of one node at a time', 'name one --node')
  return defined({ node: node[0], kind: kind?.flatMap((each) => each.split(',')) as JournalKind[] | undefined, route })
}
