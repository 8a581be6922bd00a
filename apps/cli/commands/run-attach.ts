import { readdir } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { defined } from '../../../base/runtime/index.js'
import { RunFolder } from '../../hardware-lab/index.js'
import type { Environment } from '../environment.js'
import type { RUN_ATTACH_OPTIONS } from '../options/option-lists.js'
import type { CommandOptionValues } from '../options/resolve-options.js'
import { run } from './run-hosts-command.js'
import { usageError } from '../usage-error.js'

/** `ironstage run attach`: goes on with a run by its id. */
export async function runAttach(
  options: CommandOptionValues<(typeof RUN_ATTACH_OPTIONS)[number]>,
  environment: Environment,
  id: string,
): Promise<number> {
  const { 'state-dir': named, ...more } = options
  const folders = named === undefined ? await stateFolders() : [named, join(named, 'rehearsal')]
  const known: string[] = []
  for (const path of folders) {
    const record = await (await existing(path))?.run()
    if (!record) continue
    if (record.id !== id) {
      known.push(record.id)
      continue
    }
    // A rehearsal is below the folder that its user names.
    const folder = record.rehearsed ? dirname(path) : path
    const same = { ...more, resume: true, only: record.hosts, 'state-dir': folder }
    const through = record.throughIronic === undefined ? {} : { 'through-ironic': record.throughIronic }
    return run(
      { ...same, ...through, ...defined({ rehearse: record.rehearsed ? true : undefined }) },
      environment,
      record.file,
    )
  }
  throw usageError(
    `there is no run ${id} in ${folders.join(', ') || 'this folder'}`,
    known.length === 0 ? 'name its state folder with --state-dir' : `there are ${known.join(', ')}`,
    'run-options',
  )
}

/** The state folders beside the files of hosts in this folder. */
async function stateFolders(): Promise<string[]> {
  const names = (await readdir('.')).filter((name) => name.endsWith('.state')).sort()
  return names.flatMap((name) => [name, join(name, 'rehearsal')])
}

/** Opens a folder that is there; none is made. */
async function existing(path: string): Promise<RunFolder | undefined> {
  const names: string[] = await readdir(path).catch(() => [])
  return names.includes('run.json') ? RunFolder.open(path) : undefined
}
