import { useEffect, useState } from 'preact/hooks'
import type { JournalEntry, MachineReport } from '../../../control/index.js'
import { useFollowed, type FollowedSubject } from '../parts/followed.js'
import { runWithNotice } from '../parts/notices.js'
import { makeLabClient } from '../state/page-connection.js'
import { callText, hasFailed, isCall, statusText, type ShownExchange } from '../state/exchanges.js'
import { formatRoute } from '../state/page-route.js'

/** Calls that are listed. */
const MAX_BMC_CALLS = 12

const BMC_SUBJECT: FollowedSubject<readonly JournalEntry[]> = {
  read: async (client, machine) => (await client.journal({ machine, kind: 'bmc', last: MAX_BMC_CALLS })).entries,
  entriesOf: (machine) => ({ machine, kind: 'bmc' }),
  soon: 400,
}

/** The BMC: what was asked of it, and what it does at the next boot. */
export function MachineBmc({ machine, node }: { machine: MachineReport; node: string | null }) {
  const { bmc, id } = machine
  const { value: entries } = useFollowed(id, BMC_SUBJECT)
  if (!bmc) return null
  const calls = (entries ?? []).filter(isCall).reverse()
  return (
    <section class="panel" aria-label="BMC">
      <h2>BMC</h2>
      <BmcFacts machine={machine} bmc={bmc} />
      {calls.length === 0 ? <p class="quiet">Nothing was asked of it.</p> : <BmcCalls calls={calls} />}
      <p>
        <a href={formatRoute({ view: 'exchanges', query: { node: node ?? id, party: 'bmc' } })}>All calls of the BMC</a>
      </p>
    </section>
  )
}

interface BmcFactsProps {
  machine: MachineReport
  bmc: NonNullable<MachineReport['bmc']>
}

function BmcFacts({ machine: { firmware, power, id }, bmc }: BmcFactsProps) {
  const [isEjected, setEjected] = useState(false)
  useEffect(() => setEjected(false), [firmware.media.length])
  const eject = (): void =>
    void runWithNotice(async () => setEjected((await makeLabClient().ejectFromMachine(id)).firmware.media.length === 0))
  return (
    <dl class="terms">
      <dt>Address</dt>
      <dd class="mono">
        {bmc.address}, system {bmc.systemId}
      </dd>
      <dt>Power</dt>
      <dd>{power}</dd>
      <dt>Next boot</dt>
      <dd>
        {firmware.override
          ? `from ${firmware.override.target} (${firmware.override.enabled.toLowerCase()})`
          : 'by the boot order'}
      </dd>
      <dt>Media</dt>
      <dd>
        {firmware.media.length === 0 || isEjected
          ? 'none inserted'
          : firmware.media.map(({ device, image }) => (
              <p key={device}>
                {device}: <span class="mono">{image}</span>
              </p>
            ))}
        {firmware.media.length > 0 && !isEjected && <button onClick={eject}>Eject all</button>}
      </dd>
    </dl>
  )
}

function BmcCalls({ calls }: { calls: readonly ShownExchange[] }) {
  return (
    <div class="scrolled" tabIndex={0} role="region" aria-label="Calls of the BMC">
      <table>
        <thead>
          <tr>
            <th scope="col">Lab time</th>
            <th scope="col">Call</th>
            <th scope="col">Answer</th>
          </tr>
        </thead>
        <tbody>
          {calls.map((call) => (
            <tr key={call.id}>
              <td class="mono">{call.labTime.slice(11, 23)}</td>
              <td class="mono">{callText(call)}</td>
              <td class={hasFailed(call) ? 'error-text' : ''}>
                {statusText(call)}
                {call.fault !== null && (
                  <>
                    {' '}
                    <a href="#/faults">{call.fault}</a>
                  </>
                )}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}
