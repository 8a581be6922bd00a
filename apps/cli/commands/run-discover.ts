import { existsSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { discoverSystems, foundHostsYaml } from '../../hardware-lab/index.js'
import { defined, systemClock, UserError } from '../../../base/runtime/index.js'
import type { Environment } from '../environment.js'
import type { RUN_DISCOVER_OPTIONS } from '../options/option-lists.js'
import type { CommandOptionValues } from '../options/resolve-options.js'

/** `ironstage run discover`: exit code 1 where no BMC was found. */
export async function runDiscover(
  options: CommandOptionValues<(typeof RUN_DISCOVER_OPTIONS)[number]>,
  { stdout, stopped }: Environment,
  ranges: readonly string[],
): Promise<number> {
  const { 'bmc-user': username = 'admin', 'bmc-password': password, out, force = false, json = false } = options
  // A scan takes long: whether its result may be written is known before.
  if (out !== undefined && !force && existsSync(out)) throw unwritable(out)
  const found = await discoverSystems({ ranges, username, password, clock: systemClock(), signal: stopped })
  const yaml = foundHostsYaml(found, username)
  if (json) stdout.json({ event: 'found', systems: found })
  if (out === undefined) {
    if (!json) stdout.contents(yaml)
  } else {
    await writeFile(out, yaml, { flag: force ? 'w' : 'wx' }).catch((cause: unknown) => {
      throw unwritable(out, cause)
    })
    if (!json) stdout.line(`wrote ${found.length} systems to ${out}`)
  }
  return found.length === 0 ? 1 : 0
}

const unwritable = (path: string, cause?: unknown): UserError =>
  new UserError('hosts-file', cause === undefined ? `${path} already exists` : `${path} cannot be written`, {
    kind: 'usage',
    ...defined({ cause }),
    remedy: 'name another file, or replace it with --force',
  })
