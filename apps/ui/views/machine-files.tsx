import { useEffect, useState } from 'preact/hooks'
import type { DiskDrawing, MachineReport, ShownFile } from '../../../lab/index.js'
import { makeLabClient, sentenceOf } from '../state/page-connection.js'
import { bytesText } from '../state/disk-layout.js'

type ShownFilesystem = 'boot' | 'root'

/** Files that are listed at once. */
const MAX_PAGE_FILES = 200

/** Files of the boot and the root filesystem. */
export function MachineFiles({ machine, disks }: { machine: MachineReport; disks: readonly DiskDrawing[] }) {
  const [filesystem, setFilesystem] = useState<ShownFilesystem>('root')
  const [files, setFiles] = useState<readonly ShownFile[] | null>(null)
  const [problem, setProblem] = useState<string | null>(null)
  const [text, setText] = useState('')
  const [shown, setShown] = useState<ShownFile | null>(null)
  const bootDisk = disks.find(({ boot }) => boot)?.name
  const version = disks.map(({ lastRun }) => lastRun?.at ?? 0).join()
  const query = { filesystem, ...(filesystem === 'boot' && bootDisk !== undefined ? { disk: bootDisk } : {}) }
  const isThere = filesystem === 'boot' ? bootDisk !== undefined : machine.os !== null
  useEffect(() => {
    if (!isThere) {
      setFiles(null)
      setProblem(filesystem === 'boot' ? 'No disk has a boot filesystem.' : 'No system was booted from its disk.')
      return undefined
    }
    const controller = new AbortController()
    makeLabClient(controller.signal)
      .filesOfMachine(machine.id, query)
      .then(
        (found) => (setFiles(found.files), setProblem(null)),
        (error: unknown) => {
          if (controller.signal.aborted) return
          setFiles(null)
          setProblem(sentenceOf(error))
        },
      )
    return () => controller.abort()
  }, [machine.id, filesystem, version, isThere])
  const open = (path: string) => () =>
    void makeLabClient()
      .filesOfMachine(machine.id, { ...query, path })
      .then(
        (found) => setShown(found.files[0] ?? null),
        (error: unknown) => setProblem(sentenceOf(error)),
      )
  const fitting = (files ?? []).filter(({ path, kind }) => kind !== 'directory' && path.includes(text))
  return (
    <section class="panel" aria-label="Files">
      <div class="tools">
        <h2>Files</h2>
        <div class="choice" role="group" aria-label="Filesystem">
          {(['root', 'boot'] as const).map((one) => (
            <button key={one} aria-pressed={filesystem === one} onClick={() => (setFilesystem(one), setShown(null))}>
              {one}
            </button>
          ))}
        </div>
        <label>
          Path <input type="search" value={text} onInput={({ currentTarget }) => setText(currentTarget.value)} />
        </label>
        <span class="quiet" role="status">
          {files ? `${fitting.length} files` : ''}
        </span>
      </div>
      {problem !== null && <p class="quiet">{problem}</p>}
      {fitting.length > 0 && (
        <div class="file-box" tabIndex={0} role="region" aria-label={`Files of the ${filesystem} filesystem`}>
          <ul>
            {fitting.slice(0, MAX_PAGE_FILES).map(({ path, mode, size, kind, target }) => (
              <li key={path}>
                <span class="mono quiet">{mode}</span>{' '}
                {kind === 'file' ? (
                  <button class="plain mono" aria-pressed={shown?.path === path} onClick={open(path)}>
                    {path}
                  </button>
                ) : (
                  <span class="mono">
                    {path} → {target}
                  </span>
                )}{' '}
                {size !== undefined && <span class="quiet">{bytesText(size)}</span>}
              </li>
            ))}
          </ul>
          {fitting.length > MAX_PAGE_FILES && (
            <p class="quiet">The first {MAX_PAGE_FILES}. A part of a path shows others.</p>
          )}
        </div>
      )}
      {shown && (
        <div class="file-shown">
          <h3 class="mono">{shown.path}</h3>
          {shown.text ? (
            <pre class="json" tabIndex={0} aria-label={`Contents of ${shown.path}`}>
              {shown.text}
            </pre>
          ) : (
            <p class="quiet">
              {shown.isSecret
                ? 'Only its owner may read it: its contents are not shown.'
                : shown.text === ''
                  ? 'It is empty.'
                  : 'It is no text, or too large to be shown.'}
            </p>
          )}
        </div>
      )}
    </section>
  )
}
