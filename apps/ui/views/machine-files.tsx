import { useEffect, useState } from 'preact/hooks'
import { countText } from '../parts/count-text.js'
import type { DiskDrawing, MachineReport, ShownFile } from '../../../control/index.js'
import { makeLabClient, sentenceOf } from '../state/page-connection.js'
import { bytesText } from '../state/disk-layout.js'

type ShownFilesystem = 'boot' | 'root'

/** Files that are listed at once. */
const MAX_PAGE_FILES = 200

/** Files of the boot and the root filesystem. */
export function MachineFiles({ machine, disks }: { machine: MachineReport; disks: readonly DiskDrawing[] }) {
  const [filesystem, setFilesystem] = useState<ShownFilesystem>('root')
  const { files, problem, read } = useMachineFiles(machine, disks, filesystem)
  const [text, setText] = useState('')
  const [shown, setShown] = useState<ShownFile | null>(null)
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
          {files ? countText(fitting.length, 'file') : ''}
        </span>
      </div>
      {problem !== null && <p class="quiet">{problem}</p>}
      {fitting.length > 0 && (
        <div class="file-box" tabIndex={0} role="region" aria-label={`Files of the ${filesystem} filesystem`}>
          <ul>
            {fitting.slice(0, MAX_PAGE_FILES).map((file) => (
              <FileLine
                key={file.path}
                file={file}
                isShown={shown?.path === file.path}
                open={() => void read(file.path).then((found) => found !== undefined && setShown(found))}
              />
            ))}
          </ul>
          {fitting.length > MAX_PAGE_FILES && (
            <p class="quiet">The first {MAX_PAGE_FILES}. A part of a path shows others.</p>
          )}
        </div>
      )}
      {shown && <FileContents file={shown} />}
    </section>
  )
}

/** The files of a filesystem, read again when a disk was written. */
function useMachineFiles(machine: MachineReport, disks: readonly DiskDrawing[], filesystem: ShownFilesystem) {
  const [files, setFiles] = useState<readonly ShownFile[] | null>(null)
  const [problem, setProblem] = useState<string | null>(null)
  const bootDisk = disks.find(({ boot }) => boot)?.name
  const version = disks.map(({ lastRun }) => lastRun?.at ?? 0).join()
  const query = { filesystem, ...(filesystem === 'boot' && bootDisk !== undefined ? { disk: bootDisk } : {}) }
  const isThere = filesystem === 'boot' ? bootDisk !== undefined : machine.os !== null
  useEffect(() => {
    if (!isThere) {
      setFiles(null)
      setProblem(filesystem === 'boot' ? 'No disk has a boot filesystem.' : 'No system has booted from its disk.')
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
  /** One file with its contents; undefined where it cannot be read, which is then the problem. */
  const read = (path: string): Promise<ShownFile | null | undefined> =>
    makeLabClient()
      .filesOfMachine(machine.id, { ...query, path })
      .then(
        (found) => found.files[0] ?? null,
        (error: unknown) => void setProblem(sentenceOf(error)),
      )
  return { files, problem, read }
}

function FileLine({ file, isShown, open }: { file: ShownFile; isShown: boolean; open: () => void }) {
  const { path, mode, size, kind, target } = file
  return (
    <li>
      <span class="mono quiet">{mode}</span>{' '}
      {kind === 'file' ? (
        <button class="plain mono" aria-pressed={isShown} onClick={open}>
          {path}
        </button>
      ) : (
        <span class="mono">
          {path} → {target}
        </span>
      )}{' '}
      {size !== undefined && <span class="quiet">{bytesText(size)}</span>}
    </li>
  )
}

function FileContents({ file: { path, text, isSecret } }: { file: ShownFile }) {
  return (
    <div class="file-shown">
      <h3 class="mono">{path}</h3>
      {text ? (
        <pre class="json" tabIndex={0} aria-label={`Contents of ${path}`}>
          {text}
        </pre>
      ) : (
        <p class="quiet">
          {isSecret
            ? 'Only its owner may read it; its contents are hidden.'
            : text === ''
              ? 'It is empty.'
              : 'It is not text, or too large to show.'}
        </p>
      )}
    </div>
  )
}
