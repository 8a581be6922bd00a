import type { WantedItem, WantedReport, WantedVerdict } from '../../../control/index.js'
import { useFollowed, type FollowedSubject } from '../parts/followed.js'

const WANTED_SUBJECT: FollowedSubject<WantedReport> = {
  read: (client, id) => client.wanted(id),
  entriesOf: (node) => ({ node }),
  soon: 500,
}

/** A sign and a word for each verdict: colour alone tells some people nothing. */
const VERDICT_WORDS: Readonly<Record<WantedVerdict, readonly [sign: string, word: string]>> = {
  same: ['=', 'as wanted'],
  different: ['≠', 'differs'],
  pending: ['…', 'pending'],
  unknown: ['?', 'unknown'],
}

const NOT_ASKED = ['–', 'as it is'] as const

/** Members without a wish are right as they are. */
const isAsked = ({ wanted, verdict }: WantedItem): boolean => wanted !== null || verdict !== 'same'

/** Wishes of Ironic and of the BareMetalHost beside the machine's own state. */
export function NodeWanted({ id }: { id: string }) {
  const { value: report, problem } = useFollowed(id, WANTED_SUBJECT)
  if (!report) return problem === null ? null : <p class="error-text">{problem}</p>
  const { items, host } = report
  return (
    <section class="panel" aria-label="Wanted and actual">
      <h2>Wanted and actual</h2>
      <p class="quiet">{sumText([...items, ...(host?.items ?? [])])}</p>
      <WantedTable label="Ironic" items={items} />
      {host && (
        <>
          <h3>
            BareMetalHost {host.namespace}/{host.name}: {host.state === '' ? 'no state yet' : host.state}
          </h3>
          {host.error !== '' && <p class="error-text">{host.error}</p>}
          <WantedTable label="Spec and status" items={host.items} />
        </>
      )}
    </section>
  )
}

/** `1 differs, 2 pending, 5 as wanted.` */
function sumText(items: readonly WantedItem[]): string {
  const counts = (['different', 'pending', 'unknown', 'same'] as const).map((verdict) => {
    const count = items.filter((item) => item.verdict === verdict && isAsked(item)).length
    return count === 0 ? '' : `${count} ${VERDICT_WORDS[verdict][1]}`
  })
  return `${counts.filter(Boolean).join(', ')}.`
}

function WantedTable({ label, items }: { label: string; items: readonly WantedItem[] }) {
  return (
    <table class="wanted" aria-label={label}>
      <thead>
        <tr>
          <th scope="col">What</th>
          <th scope="col">Wanted</th>
          <th scope="col">Actual</th>
          <th scope="col">Result</th>
        </tr>
      </thead>
      <tbody>
        {items.map((item) => {
          const { what, wanted, actual, verdict } = item
          const [sign, word] = isAsked(item) ? VERDICT_WORDS[verdict] : NOT_ASKED
          return (
            <tr key={what} class={verdict}>
              <th scope="row">{what}</th>
              <td data-label="wanted">{wanted ?? <span class="quiet">not asked for</span>}</td>
              <td data-label="actual">{actual ?? <span class="quiet">nothing</span>}</td>
              <td class="verdict">
                <span aria-hidden="true">{sign}</span> {word}
              </td>
            </tr>
          )
        })}
      </tbody>
    </table>
  )
}
