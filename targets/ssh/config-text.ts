import { readdir } from 'node:fs/promises'
import { dirname, isAbsolute, join } from 'node:path'
import { withClockHeld, UserError, wildcardPattern, type Clock, readNamedText } from '../../base/runtime/index.js'

const MAX_INCLUDE_DEPTH = 16

/**
 * Reads an ssh_config file and inserts the files that it includes; empty when the file is missing.
 *
 * @param folder base of relative names: `~/.ssh` for a user's file, `/etc/ssh` for the system's
 * @throws UserError when an existing file cannot be read
 */
export async function configText(file: string, folder: string, home: string, clock: Clock): Promise<string> {
  return expand(file, folder, home, clock, 0)
}

async function expand(file: string, folder: string, home: string, clock: Clock, depth: number): Promise<string> {
  let text: string
  try {
    text = await withClockHeld(clock, 'reading an SSH configuration', () => readNamedText(file))
  } catch (cause) {
    if (['ENOENT', 'ENOTDIR'].includes((cause as NodeJS.ErrnoException).code ?? '')) return ''
    throw new UserError('ssh-config', `${file} cannot be read`, { cause, remedy: 'correct its permissions' })
  }
  const lines: string[] = []
  for (const line of text.split(/\r?\n/)) {
    // Canonical names are not supported: they would need name servers.
    if (/^\s*canonical/i.test(line)) continue
    const [, patterns] = /^\s*include[\s=]+(.*)$/i.exec(line) ?? []
    if (patterns === undefined) {
      lines.push(line)
      continue
    }
    if (depth === MAX_INCLUDE_DEPTH)
      throw new UserError('ssh-config', `${file} includes files more than ${MAX_INCLUDE_DEPTH} deep`, {
        remedy: 'look for one that includes itself',
      })
    for (const pattern of splitConfigWords(patterns))
      for (const included of await matchConfigFiles(pattern, folder, home, clock))
        lines.push(await expand(included, folder, home, clock, depth + 1))
  }
  return lines.join('\n')
}

const splitConfigWords = (text: string): string[] =>
  [...text.matchAll(/"([^"]*)"|(\S+)/g)].map(([, quoted, plain]) => quoted ?? plain!)

/** Files that match a pattern; wildcards work in the last part of a path only (`config.d/*.conf`). */
async function matchConfigFiles(pattern: string, folder: string, home: string, clock: Clock): Promise<string[]> {
  const named = pattern.replace(/^~(?=\/)/, home)
  const path = isAbsolute(named) ? named : join(folder, named)
  const last = path.slice(path.lastIndexOf('/') + 1)
  if (!/[*?]/.test(last)) return [path]
  const matching = wildcardPattern(last)
  const names = await withClockHeld(clock, 'listing a folder', () => readdir(dirname(path))).catch(() => [])
  return names
    .filter((name) => matching.test(name) && (!name.startsWith('.') || last.startsWith('.')))
    .sort()
    .map((name) => join(dirname(path), name))
}
