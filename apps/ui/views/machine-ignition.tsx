import { useEffect, useState } from 'preact/hooks'
import type { MachineReport } from '../../../control/index.js'
import { clockText } from '../parts/clock-texts.js'
import { makeLabClient } from '../state/page-connection.js'

type IgnitionLogLine = { at: number; from: string; message: string }

/** The first boot of the system on the disk, and what Ignition did at it. */
export function MachineIgnition({ machine }: { machine: MachineReport }) {
  const { id, firstBoot, os } = machine
  const [lines, setLines] = useState<readonly IgnitionLogLine[]>([])
  const [isAll, setAll] = useState(false)
  const bootId = machine.boot?.id
  useEffect(() => {
    const controller = new AbortController()
    makeLabClient(controller.signal)
      .journalOfMachine(id)
      .then(
        ({ journal }) => setLines(journal),
        () => {},
      )
    return () => controller.abort()
  }, [id, bootId, firstBoot?.configDigest, firstBoot?.failure, JSON.stringify(os)])
  const shown = isAll ? lines : lines.filter(({ from }) => from.startsWith('ignition'))
  return (
    <section class="panel" aria-label="Ignition">
      <h2>Ignition and the system's journal</h2>
      {!firstBoot && <p class="quiet">The system on the disk has had no first boot.</p>}
      {firstBoot && <FirstBootFacts firstBoot={firstBoot} />}
      {lines.length > 0 && (
        <>
          <label>
            <input type="checkbox" checked={isAll} onChange={({ currentTarget }) => setAll(currentTarget.checked)} />{' '}
            the whole journal of the system
          </label>
          <pre class="json" tabIndex={0} aria-label="Journal of the system">
            {shown.map(({ at, from, message }) => `${clockText(at)} ${from}: ${message}`).join('\n')}
          </pre>
        </>
      )}
    </section>
  )
}

function FirstBootFacts({ firstBoot }: { firstBoot: NonNullable<MachineReport['firstBoot']> }) {
  return (
    <>
      {firstBoot.failure !== null ? (
        <p class="error-text">
          Failed{firstBoot.failedStage !== null && ` in its stage ${firstBoot.failedStage}`}: {firstBoot.failure}
        </p>
      ) : (
        <p>
          Applied a config of version {firstBoot.ignitionVersion ?? 'none'} on {firstBoot.disk}.
        </p>
      )}
      <dl class="terms">
        {firstBoot.hostname !== null && <Term name="Host name" values={[firstBoot.hostname]} />}
        <Term
          name="Users"
          values={firstBoot.users.map(({ name, sshKeyFingerprints: keys }) => [name, ...keys].join(' '))}
        />
        <Term name="Files" values={firstBoot.files} />
        <Term name="Units" values={firstBoot.units} />
        <Term name="Fetched" values={firstBoot.fetched} />
        <Term
          name="Planned disks"
          values={firstBoot.plannedDiskChanges.map(({ section, device, what }) => `${section} ${device}: ${what}`)}
        />
      </dl>
    </>
  )
}

function Term({ name, values }: { name: string; values: readonly string[] }) {
  if (values.length === 0) return null
  return (
    <>
      <dt>{name}</dt>
      <dd>
        {values.map((value) => (
          <p key={value} class="mono">
            {value}
          </p>
        ))}
      </dd>
    </>
  )
}
