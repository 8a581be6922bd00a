import { gzipSync } from 'node:zlib'
import { errorChain, type Clock } from '../base/runtime/index.js'
import { runToEnd } from '../steps/index.js'
import type { TargetCommand, Target } from '../targets/index.js'
import { makeTar, type ArchiveEntry } from '../base/bytes/index.js'

/** Commands whose output is collected, with the file names of IPA's archives (recording agent-api-direct). */
const SOURCES: readonly { name: string; argv: TargetCommand['argv'] }[] = [
  { name: 'journal', argv: ['journalctl', '--no-pager'] },
  { name: 'df', argv: ['df', '-a'] },
  { name: 'efibootmgr', argv: ['efibootmgr', '-v'] },
  { name: 'ip_addr', argv: ['ip', 'addr'] },
  { name: 'lsblk', argv: ['lsblk'] },
  { name: 'lsblk-full', argv: ['lsblk', '-bia', '--json', '-oKNAME,MODEL,SIZE,ROTA,TYPE,UUID,PARTUUID,SERIAL'] },
  { name: 'mount', argv: ['mount'] },
]

/** Exit code of the shell for a missing program. */
const NOT_FOUND = 127

/**
 * Collects logs and state of a target as a tar.gz in base64. Missing programs are left out; another failure is written
 * to the file of its program, since logs are needed most when something is broken.
 */
export async function systemLogs(options: {
  target: Target
  clock: Clock
  signal: AbortSignal
  ownLog: readonly string[]
}): Promise<string> {
  const { target, clock, signal, ownLog } = options
  const entries: ArchiveEntry[] = []
  for (const { name, argv } of SOURCES) {
    const text = await outputOf(target, argv, signal)
    if (text !== undefined) entries.push({ name, content: Buffer.from(text) })
  }
  entries.push({ name: 'agent.log', content: Buffer.from(ownLog.map((line) => `${line}\n`).join('')) })
  return gzipSync(makeTar(entries, clock.now() / 1000)).toString('base64')
}

async function outputOf(target: Target, argv: TargetCommand['argv'], signal: AbortSignal): Promise<string | undefined> {
  try {
    const { exit, stdout, stderr } = await runToEnd(target.executor, argv, { effect: 'reads', signal })
    return exit.kind === 'exited' && exit.code === NOT_FOUND ? undefined : stdout + stderr
  } catch (error) {
    if (signal.aborted) throw error
    return `${argv.join(' ')}: ${errorChain(error).join(': ')}\n`
  }
}
