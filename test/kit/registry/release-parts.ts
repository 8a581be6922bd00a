import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { documentText } from '../../../coreos/index.js'
import { temporaryFolder } from '../../../base/runtime/index.js'
import { buildMeta } from '../builds.js'
import { command } from '../commands/command.js'
import { rhelStream } from '../streams.js'

export const RHCOS = { name: 'rhcos', version: '10.2.20260715-0', stream: 'rhel-10.2' }
export const DIGEST = `sha256:${'d'.repeat(64)}`

/** A folder with the parts of a release, 4.22.0, and commands that run with it as their home. */
export interface ReleaseParts extends AsyncDisposable {
  path: string
  at: (name: string) => string
  ran: (...argv: string[]) => Promise<{ code: number; stdout: string; stderr: string }>
  /** Output of a command that succeeds. */
  json: (...argv: string[]) => Promise<unknown>
  /** `release write` with the version 4.22.0, unless there is another. */
  write: (dest: string, ...argv: string[]) => Promise<{ code: number; stdout: string; stderr: string }>
  stream: string[]
  builds: string[]
}

export async function releaseParts(): Promise<ReleaseParts> {
  const folder = await temporaryFolder()
  const at = (name: string): string => join(folder.path, name)
  for (const [name, value] of Object.entries({
    'stream.json': rhelStream({ name: 'rhel-10' }),
    'older.json': rhelStream({ name: 'rhel-9', version: '9.6.20260112-0' }),
    'x86_64.json': buildMeta('x86_64', RHCOS),
    'aarch64.json': buildMeta('aarch64', RHCOS),
  }))
    await writeFile(at(name), documentText(value))
  const ran: ReleaseParts['ran'] = async (...argv) => {
    const run = command(argv, { variables: { HOME: folder.path, XDG_CACHE_HOME: at('cache') } })
    const code = await run.ended
    return { code, stdout: run.stdout, stderr: run.stderr }
  }
  return {
    path: folder.path,
    at,
    ran,
    json: async (...argv) => {
      const { code, stdout, stderr } = await ran(...argv)
      if (code !== 0) throw new Error(stderr)
      return JSON.parse(stdout) as unknown
    },
    write: (dest, ...argv) =>
      ran('release', 'write', dest, ...(argv.includes('--version') ? [] : ['--version', '4.22.0']), ...argv),
    stream: ['--stream', at('stream.json')],
    builds: ['--build', at('x86_64.json'), '--build', at('aarch64.json')],
    [Symbol.asyncDispose]: () => folder[Symbol.asyncDispose](),
  }
}
