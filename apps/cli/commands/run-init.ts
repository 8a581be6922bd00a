import { writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { HOSTS_SCHEMA, HOSTS_TEMPLATE } from '../../hardware-lab/index.js'
import { UserError, defined, writeResult } from '../../../base/runtime/index.js'
import type { Environment } from '../environment.js'
import type { RUN_INIT_OPTIONS } from '../options/option-lists.js'
import type { CommandOptionValues } from '../options/resolve-options.js'

/** `ironstage run init`. */
export async function runInit(
  { force = false }: CommandOptionValues<(typeof RUN_INIT_OPTIONS)[number]>,
  { stdout }: Environment,
  file = 'hosts.yaml',
): Promise<number> {
  const schema = join(dirname(file), 'hosts.schema.json')
  await writeNewFile(file, HOSTS_TEMPLATE, force)
  // Editors read it beside the file; it is the same for all of them.
  await writeNewFile(schema, `${JSON.stringify(HOSTS_SCHEMA, null, 2)}\n`, true)
  stdout.line(`wrote ${file} and ${schema}`)
  stdout.line(`next: put your hosts into it, then ironstage run ${file} --plan`)
  return 0
}

async function writeNewFile(path: string, text: string, force: boolean): Promise<void> {
  try {
    await (force ? writeResult(path, text) : writeFile(path, text, { flag: 'wx' }))
  } catch (cause) {
    const exists = (cause as NodeJS.ErrnoException).code === 'EEXIST'
    throw new UserError('hosts-file', `${path} ${exists ? 'already exists' : 'cannot be written'}`, {
      kind: 'usage',
      ...defined({ cause: exists ? undefined : cause }),
      remedy: exists ? 'name another file, or replace it with --force' : 'name a file that you may write',
    })
  }
}
