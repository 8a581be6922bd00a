import { useState } from 'preact/hooks'
import type { DiskDrawing } from '../../../control/index.js'
import { clockText } from '../parts/clock-texts.js'
import { bytesText, diskBoxes, usedEnd, writesOf } from '../state/disk-layout.js'

const DRAWING_WIDTH = 1000

/** The disks, drawn to scale. */
export function MachineDisks({ disks }: { disks: readonly DiskDrawing[] }) {
  return (
    <section class="panel" aria-label="Disks">
      <h2>Disks</h2>
      {disks.length === 0 && <p class="quiet">It has none.</p>}
      {disks.map((disk) => (
        <Disk key={`${disk.name}-${disk.serial}`} disk={disk} />
      ))}
    </section>
  )
}

function Disk({ disk }: { disk: DiskDrawing }) {
  const { name, size, model, serial, table, partitions, written, lastRun, boot, problem } = disk
  const [isWhole, setWhole] = useState(false)
  const used = usedEnd(disk)
  const end = isWhole || used === null ? size : used
  const words = partitions.map(
    ({ number, name: title, filesystem, offset, length }) =>
      `${number} ${title ?? ''}: ${filesystem?.type ?? 'no filesystem'}, ${bytesText(length)} at ${bytesText(offset)}`,
  )
  return (
    <div class="disk">
      <h3>
        {name}{' '}
        <span class="quiet">
          {model}, {serial}, {bytesText(size)}
          {table === null ? ', no partition table' : `, ${table}`}
        </span>
      </h3>
      {problem !== null && <p class="error-text">{problem}</p>}
      {used !== null && (
        <p class="tools">
          <span class="quiet">
            {isWhole ? `All ${bytesText(size)}` : `The first ${bytesText(used)}; the rest is free`}
          </span>
          <button onClick={() => setWhole(!isWhole)}>
            {isWhole ? 'Zoom to the used part' : 'Show the whole disk'}
          </button>
        </p>
      )}
      <svg
        class="partitions"
        viewBox={`0 0 ${DRAWING_WIDTH} 40`}
        preserveAspectRatio="none"
        role="img"
        aria-label={`Partitions of ${name}: ${words.join('; ') || 'none'}`}
      >
        {diskBoxes(end, partitions, DRAWING_WIDTH, isWhole ? 24 : 6).map(({ index, left, width }) => (
          <rect key={index} class={`part-${index % 5}`} x={left} y={0} width={width} height={40}>
            <title>{words[index]}</title>
          </rect>
        ))}
      </svg>
      <WritesDrawing disk={disk} end={end} />
      <PartitionLegend disk={disk} words={words} />
      {lastRun && (
        <p class="quiet">
          The last boot that wrote changed {bytesText(lastRun.bytes)}, until {clockText(lastRun.at)}.
        </p>
      )}
      {written.length > 0 && <WritesTable disk={disk} />}
      {boot && <BootFacts boot={boot} />}
    </div>
  )
}

/** The writes up to an offset, those of the last boot apart. */
function WritesDrawing({ disk: { name, written, lastRun }, end }: { disk: DiskDrawing; end: number }) {
  return (
    <svg
      class="writes"
      viewBox={`0 0 ${DRAWING_WIDTH} 14`}
      preserveAspectRatio="none"
      role="img"
      aria-label={`Writes to ${name}: ${written.map(({ by, length }) => `${by} ${bytesText(length)}`).join('; ') || 'none'}`}
    >
      {written
        .filter(({ offset }) => offset < end)
        .map(({ offset, length, by, at, boot }) => (
          <rect
            key={offset}
            class={boot === lastRun?.boot ? 'fresh' : 'old'}
            x={(offset / end) * DRAWING_WIDTH}
            y={0}
            width={Math.max(2, (length / end) * DRAWING_WIDTH)}
            height={14}
          >
            <title>
              {by} wrote {bytesText(length)} at {bytesText(offset)}, {clockText(at)}
            </title>
          </rect>
        ))}
    </svg>
  )
}

function PartitionLegend({ disk: { partitions }, words }: { disk: DiskDrawing; words: readonly string[] }) {
  return (
    <ul class="disk-legend">
      {partitions.map(({ number, changed, filesystem }, index) => (
        <li key={number}>
          <svg viewBox="0 0 10 10" width="10" height="10" aria-hidden="true">
            <rect class={`part-${index % 5}`} width="10" height="10" />
          </svg>{' '}
          {words[index]}
          {filesystem?.label && ` (${filesystem.label})`}
          {changed > 0 && <span class="tag">{bytesText(changed)} changed</span>}
        </li>
      ))}
    </ul>
  )
}

/** The system on a disk, and its next boot. */
function BootFacts({ boot }: { boot: NonNullable<DiskDrawing['boot']> }) {
  return (
    <dl class="terms">
      <dt>System</dt>
      <dd>{boot.title ?? 'unknown'}</dd>
      <dt>Kernel</dt>
      <dd class="mono">{boot.kernelArguments.join(' ')}</dd>
      <dt>Next boot</dt>
      <dd>
        {boot.firstBoot ? 'a first boot: Ignition will run' : 'Ignition does not run again'}
        {boot.firstBoot && boot.ignition && `, with a config of ${bytesText(boot.ignition.size)}`}
      </dd>
    </dl>
  )
}

/** Programs that wrote, when, how much and where. */
function WritesTable({ disk }: { disk: DiskDrawing }) {
  return (
    <div class="scrolled" tabIndex={0} role="region" aria-label={`Who wrote to ${disk.name}`}>
      <table>
        <thead>
          <tr>
            <th scope="col">Last write</th>
            <th scope="col">By</th>
            <th scope="col">Bytes</th>
            <th scope="col">In</th>
          </tr>
        </thead>
        <tbody>
          {writesOf(disk).map(({ by, boot, at, bytes, ranges, partitions }) => (
            <tr key={`${boot}/${by}`}>
              <td class="mono">{clockText(at)}</td>
              <td>
                {by}
                {boot === disk.lastRun?.boot && <span class="tag">last boot</span>}
              </td>
              <td>
                {bytesText(bytes)} <span class="quiet">in {ranges === 1 ? '1 range' : `${ranges} ranges`}</span>
              </td>
              <td>{partitions.join(', ') || 'no partition'}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}
