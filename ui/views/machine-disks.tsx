import type { DiskDrawing } from '../../lab/index.js'
import { clockText } from '../parts/clock.js'
import { bytesText, diskBoxes } from '../state/disk-layout.js'

const WIDTH = 1000

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
      <svg
        class="partitions"
        viewBox={`0 0 ${WIDTH} 40`}
        preserveAspectRatio="none"
        role="img"
        aria-label={`Partitions of ${name}: ${words.join('; ') || 'none'}`}
      >
        {diskBoxes(size, partitions, WIDTH, 24).map(({ index, left, width }) => (
          <rect key={index} class={`part-${index % 5}`} x={left} y={0} width={width} height={40}>
            <title>{words[index]}</title>
          </rect>
        ))}
      </svg>
      <svg
        class="writes"
        viewBox={`0 0 ${WIDTH} 14`}
        preserveAspectRatio="none"
        role="img"
        aria-label={`Writes to ${name}: ${written.map(({ by, length }) => `${by} ${bytesText(length)}`).join('; ') || 'none'}`}
      >
        {written.map(({ offset, length, by, at, boot: inBoot }) => (
          <rect
            key={offset}
            class={inBoot === lastRun?.boot ? 'fresh' : 'old'}
            x={(offset / size) * WIDTH}
            y={0}
            width={Math.max(2, (length / size) * WIDTH)}
            height={14}
          >
            <title>
              {by} wrote {bytesText(length)} at {bytesText(offset)}, {clockText(at)}
            </title>
          </rect>
        ))}
      </svg>
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
      {lastRun && (
        <p class="quiet">
          The last boot that wrote changed {bytesText(lastRun.bytes)}, until {clockText(lastRun.at)}:{' '}
          {[...new Set(written.filter((range) => range.boot === lastRun.boot).map(({ by }) => by))].join(', ')}.
        </p>
      )}
      {boot && (
        <dl class="terms">
          <dt>System</dt>
          <dd>{boot.title ?? 'unknown'}</dd>
          <dt>Kernel</dt>
          <dd class="mono">{boot.kernelArguments.join(' ')}</dd>
          <dt>Next boot</dt>
          <dd>{boot.firstBoot ? 'a first boot: Ignition will run' : 'Ignition does not run again'}</dd>
        </dl>
      )}
    </div>
  )
}
